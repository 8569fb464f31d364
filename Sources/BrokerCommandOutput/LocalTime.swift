import BrokerModel
import Glibc

/// Times as the person's clock shows them.
public enum LocalTime {
    /// A moment of the interfaces (`2026-03-01T12:00:00Z`) as `2026-03-01 13:00`; what is no moment, as it is.
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
