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
            case 2: year.map(Self.isLeap) ?? true ? 29 : 28
            case 4, 6, 9, 11: 30
            default: 31
            }
        }
    }

    package static func isLeap(_ year: Int) -> Bool {
        year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
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
}

/// A date in a calendar other than the Gregorian one, as on the wire: `chinese:--08-15`, or with all parts
/// `chinese:e78-0042-06L-26`. The era has the number that ICU gives it. `L` marks a leap month, as in RFC 7529 §4.2.
///
/// The lengths of months and years depend on tables of each calendar, which are not used here. Therefore months 1 to 13
/// and days 1 to 32 are valid.
public struct NonGregorianDate: Hashable, Sendable {
    /// The BCP 47 name of the calendar.
    public let calendar: String
    /// 0 to 999; `nil` if the date names no era.
    public let era: Int?
    public let isLeapMonth: Bool
    public let date: CalendarDate

    /// Returns `nil` if the text is no such date, or if the calendar is not known.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, Self.calendars.contains(String(parts[0])) else { return nil }
        calendar = String(parts[0])
        var rest = parts[1]
        if rest.first == "e" {
            let digits = Array(rest.dropFirst().prefix { $0 != "-" }.utf8)
            guard (1...3).contains(digits.count), let number = digits[...].decimalNumber else { return nil }
            era = number
            rest = rest.dropFirst(digits.count + 2)
        } else {
            era = nil
        }
        let leap = rest.firstIndex(of: "L").map { rest.distance(from: $0, to: rest.endIndex) }
        isLeapMonth = leap == 4
        if isLeapMonth { rest.replace("L", with: "", maxReplacements: 1) }
        guard leap == nil || isLeapMonth,
            let date = CalendarDate(String(rest), months: 13, days: { _, _ in 32 })
        else { return nil }
        self.date = date
    }

    /// The calendar names of CLDR (common/bcp47/calendar.xml, key `ca`) and of Foundation, without the Gregorian ones.
    private static let calendars: Set<String> = [
        "bangla", "buddhist", "chinese", "coptic", "dangi", "ethioaa", "ethiopic", "ethiopic-amete-alem", "gujarati",
        "hebrew", "indian", "islamic", "islamic-civil", "islamic-rgsa", "islamic-tbla", "islamic-umalqura", "islamicc",
        "japanese", "kannada", "malayalam", "marathi", "odia", "persian", "roc", "tamil", "telugu", "vietnamese",
        "vikram",
    ]
}

extension ArraySlice<UInt8> {
    /// The number that the ASCII digits form; `nil` if there is any other byte.
    package var decimalNumber: Int? {
        var value = 0
        for digit in self {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return value
    }
}
