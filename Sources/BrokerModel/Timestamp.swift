/// Times on the wire: ISO 8601 in UTC, truncated to the second.
public enum Timestamp {
    /// - Parameter seconds: seconds since 1970, clamped to the years 1 to 9999.
    public static func text(seconds: Int64) -> String {
        let seconds = Int(min(max(seconds, -62_135_596_800), 253_402_300_799))
        let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let rest = seconds - days * 86_400
        let (year, month, day) = date(days: days)
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T"
            + "\(padded(rest / 3_600, 2)):\(padded(rest / 60 % 60, 2)):\(padded(rest % 60, 2))Z"
    }

    /// Parses a UTC time in the form of ``text(seconds:)``, or a date, which stands for its first second.
    /// Returns seconds since 1970; `nil` if the text is neither.
    public static func seconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 10 || bytes.count == 20, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            let year = bytes[0..<4].decimalNumber, let month = bytes[5..<7].decimalNumber,
            let day = bytes[8..<10].decimalNumber,
            (1...12).contains(month), day >= 1
        else { return nil }
        let days = self.days(year: year, month: month, day: day)
        // If the month does not have the day, `date(days:)` returns a different date.
        guard date(days: days) == (year, month, day) else { return nil }
        guard bytes.count == 20 else { return Int64(days * 86_400) }
        guard bytes[10] == UInt8(ascii: "T"), bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
            bytes[19] == UInt8(ascii: "Z"), let hour = bytes[11..<13].decimalNumber,
            let minute = bytes[14..<16].decimalNumber,
            let second = bytes[17..<19].decimalNumber, hour < 24, minute < 60, second < 60
        else { return nil }
        return Int64(days * 86_400 + hour * 3_600 + minute * 60 + second)
    }

    package static func padded(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }

    // Civil calendar arithmetic: years begin in March, so that the leap day is the last day of a year. Every
    // 400 years have 146,097 days.

    package static func days(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func date(days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}
