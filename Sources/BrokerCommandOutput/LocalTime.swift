import Glibc

/// Times as the person's clock shows them.
public enum LocalTime {
    /// A moment of the interfaces (`2026-03-01T12:00:00Z`) as `2026-03-01 13:00`; what is no moment, as it is.
    public static func text(_ moment: String, withSeconds: Bool = false) -> String {
        let numbers = moment.split { !$0.isASCII || !$0.isNumber }.map { Int32($0) ?? -1 }
        guard moment.hasSuffix("Z"), numbers.count == 6, numbers.allSatisfy({ $0 >= 0 }), numbers[0] < 10_000 else {
            return moment
        }
        var parts = tm()
        parts.tm_year = numbers[0] - 1_900
        parts.tm_mon = numbers[1] - 1
        parts.tm_mday = numbers[2]
        parts.tm_hour = numbers[3]
        parts.tm_min = numbers[4]
        parts.tm_sec = numbers[5]
        var seconds = timegm(&parts)
        guard localtime_r(&seconds, &parts) != nil else { return moment }
        let year = String(parts.tm_year + 1_900)
        return "\(year)-\(twoDigits(parts.tm_mon + 1))-\(twoDigits(parts.tm_mday))"
            + " \(twoDigits(parts.tm_hour)):\(twoDigits(parts.tm_min))"
            + (withSeconds ? ":\(twoDigits(parts.tm_sec))" : "")
    }

    private static func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
