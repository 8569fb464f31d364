import BrokerModel
import Glibc

/// Times relative to now, in words: `2 hours ago`, `1 week left`. One unit is enough for a list.
public enum RelativeTime {
    /// - Parameter time: a timestamp of the interface, such as `2026-03-01T12:00:00Z`. Other text is returned unchanged.
    public static func since(_ time: String, now: Int64 = Int64(Glibc.time(nil))) -> String {
        guard let seconds = Timestamp.seconds(time) else { return time }
        return now - seconds < 60 ? "just now" : "\(span(now - seconds)) ago"
    }

    public static func left(until time: String, now: Int64 = Int64(Glibc.time(nil))) -> String {
        guard let seconds = Timestamp.seconds(time) else { return time }
        return seconds - now < 60 ? "less than a minute left" : "\(span(seconds - now)) left"
    }

    /// The largest unit that fits into the span, rounded down.
    private static func span(_ seconds: Int64) -> String {
        let units: [(Int64, String)] = [
            (365 * 86_400, "year"), (30 * 86_400, "month"), (7 * 86_400, "week"), (86_400, "day"), (3_600, "hour"),
            (60, "minute"),
        ]
        let (size, name) = units.first { seconds >= $0.0 } ?? (60, "minute")
        return Count.words(seconds / size, name)
    }
}
