/// A date without a time and with an optional year, as on the wire: `YYYY-MM-DD` or `--MM-DD` (ISO 8601). The
/// form without a year follows RFC 6350 §4.3.1, but has a hyphen between month and day.
public struct CalendarDate: Hashable, Sendable {
    public let year: Int?
    public let month: Int
    public let day: Int

    /// Reads a day of the Gregorian calendar. 29 February needs a leap year or no year.
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
            guard let year = bytes[0..<4].decimalNumber, year > 0 else { return nil }
            self.year = year
        } else {
            guard bytes[0] == hyphen else { return nil }
            year = nil
        }
        guard let month = bytes[split + 1..<split + 3].decimalNumber, (1...months).contains(month),
            let day = bytes[split + 4..<split + 6].decimalNumber, day >= 1, day <= days(year, month)
        else { return nil }
        self.month = month
        self.day = day
    }

    /// Whether the text is a date in a calendar other than the Gregorian one: `chinese:--08-15`.
    ///
    /// The lengths of months and years depend on tables of each calendar, which are not used here. The check
    /// therefore allows months 1 to 13 and days 1 to 32.
    public static func isNonGregorian(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), calendars.contains(String(text[..<colon])) else {
            return false
        }
        return CalendarDate(String(text[text.utf8.index(after: colon)...]), months: 13, days: { _, _ in 32 }) != nil
    }

    /// The calendar names of CLDR (common/bcp47/calendar.xml, key `ca`), without the Gregorian ones.
    private static let calendars: Set<String> = [
        "buddhist", "chinese", "coptic", "dangi", "ethioaa", "ethiopic", "ethiopic-amete-alem", "hebrew", "indian",
        "islamic", "islamic-civil", "islamic-rgsa", "islamic-tbla", "islamic-umalqura", "islamicc", "japanese",
        "persian", "roc",
    ]
}

extension ArraySlice<UInt8> {
    /// The number that the ASCII digits form; `nil` if there is any other byte.
    var decimalNumber: Int? {
        var value = 0
        for digit in self {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return value
    }
}
