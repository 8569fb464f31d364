import BrokerModel
import Glibc

/// Formats times in the local time zone.
public enum LocalTime {
    /// Formats an interface timestamp (`2026-03-01T12:00:00Z`) as `2026-03-01 13:00`. Other text is returned unchanged.
    public static func text(_ moment: String, withSeconds: Bool = false) -> String {
        guard moment.hasSuffix("Z"), let seconds = Timestamp.seconds(moment) else { return moment }
        var time = time_t(seconds)
        var parts = tm()
        guard localtime_r(&time, &parts) != nil else { return moment }
        let year = String(parts.tm_year + 1_900)
        return "\(year)-\(twoDigits(parts.tm_mon + 1))-\(twoDigits(parts.tm_mday))"
            + " \(twoDigits(parts.tm_hour)):\(twoDigits(parts.tm_min))"
            + (withSeconds ? ":\(twoDigits(parts.tm_sec))" : "")
    }

    private static func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
