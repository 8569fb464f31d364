/// Time spans in words.
public enum TimeSpan {
    /// The number of the largest whole unit: `7 days`, `36 hours`, `90 minutes`.
    public static func words(seconds: Int64) -> String {
        for (unit, factor) in [("day", Int64(86_400)), ("hour", 3_600), ("minute", 60)] where seconds % factor == 0 {
            let number = seconds / factor
            return "\(number) \(unit)\(number == 1 ? "" : "s")"
        }
        return "\(seconds) seconds"
    }
}
