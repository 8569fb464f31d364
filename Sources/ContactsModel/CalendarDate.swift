/// A date without a time, and perhaps without a year, as the interface writes it: `YYYY-MM-DD` or `--MM-DD`
/// (ISO 8601; the yearless form as in RFC 6350 §4.3.1, with the hyphen).
public struct CalendarDate: Hashable, Sendable {
    public let year: Int?
    public let month: Int
    public let day: Int

    /// Reads a day that the Gregorian calendar has. 29 February needs a leap year or no year at all.
    public init?(_ text: String) {
        self.init(text, months: 12) { year, month in
            switch month {
            case 2:
                year.map { $0.isMultiple(of: 4) && (!$0.isMultiple(of: 100) || $0.isMultiple(of: 400)) } ?? true
                    ? 29 : 28
            case 4, 6, 9, 11: 30
            default: 31
            }
        }
    }

    init?(_ text: String, months: Int, days: (Int?, Int) -> Int) {
        let bytes = Array(text.utf8)
        let hyphen = UInt8(ascii: "-")
        guard
            let split = [4, 1].first(where: { bytes.count == $0 + 6 && bytes[$0] == hyphen && bytes[$0 + 3] == hyphen })
        else { return nil }
        if split == 4 {
            guard let year = Self.number(bytes[0..<4]), year > 0 else { return nil }
            self.year = year
        } else {
            guard bytes[0] == hyphen else { return nil }
            year = nil
        }
        guard let month = Self.number(bytes[split + 1..<split + 3]), (1...months).contains(month),
            let day = Self.number(bytes[split + 4..<split + 6]), day >= 1, day <= days(year, month)
        else { return nil }
        self.month = month
        self.day = day
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        var value = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            value = value * 10 + Int(digit - 0x30)
        }
        return value
    }

    /// Whether the text is a day of a calendar other than the Gregorian one: `chinese:--08-15`.
    ///
    /// Calendars count months and days in ways that only their tables know, so a day may be one that a given year
    /// does not have; it is never one that no year has.
    public static func isNonGregorian(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), calendars.contains(String(text[..<colon])) else {
            return false
        }
        return CalendarDate(String(text[text.utf8.index(after: colon)...]), months: 13, days: { _, _ in 32 }) != nil
    }

    /// CLDR, common/bcp47/calendar.xml, key `ca`, without the Gregorian ones.
    private static let calendars: Set<String> = [
        "buddhist", "chinese", "coptic", "dangi", "ethioaa", "ethiopic", "ethiopic-amete-alem", "hebrew", "indian",
        "islamic", "islamic-civil", "islamic-rgsa", "islamic-tbla", "islamic-umalqura", "islamicc", "japanese",
        "persian", "roc",
    ]
}

/// A moment as the interface writes it, in UTC and to the second.
public enum Timestamp {
    /// - Parameter seconds: since 1970-01-01T00:00:00Z; the years 1 to 9999 have a form, others the nearest one.
    public static func text(seconds: Int64) -> String {
        let seconds = min(max(seconds, -62_135_596_800), 253_402_300_799)
        let (days, time) = (floorDivided(seconds, by: 86_400), modulo(seconds, 86_400))
        let (year, month, day) = date(days: days)
        let digits = { (number: Int64, width: Int) in
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
        }
        return digits(year, 4) + "-" + digits(month, 2) + "-" + digits(day, 2) + "T" + digits(time / 3_600, 2) + ":"
            + digits(time / 60 % 60, 2) + ":" + digits(time % 60, 2) + "Z"
    }

    /// Counts in years that begin in March, so that the leap day is a year's last.
    private static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        // 719,468 days lie between 0000-03-01 and 1970-01-01; 146,097 days are 400 years.
        let days = days + 719_468
        let era = floorDivided(days, by: 146_097)
        let dayOfEra = modulo(days, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    private static func floorDivided(_ number: Int64, by divisor: Int64) -> Int64 {
        (number - modulo(number, divisor)) / divisor
    }

    private static func modulo(_ number: Int64, _ divisor: Int64) -> Int64 {
        let rest = number % divisor
        return rest < 0 ? rest + divisor : rest
    }
}
