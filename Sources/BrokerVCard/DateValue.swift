import BrokerModel

/// Converts vCard dates to the form that contacts store: `YYYY-MM-DD`, or `--MM-DD` without a year.
package enum DateValue {
    /// The placeholder that Apple's programs write for "no year", with or without X-APPLE-OMIT-YEAR.
    static let yearForNone = 1604

    /// Reads the basic and the extended form. If the date has a time, only the date is read, without time
    /// zone conversion (RFC 2426 §3.1.5, RFC 6350 §4.3).
    ///
    /// - Parameter omittedYear: the year that `X-APPLE-OMIT-YEAR` names as a placeholder.
    /// - Returns: `nil` if the value is not a full calendar day, for example `1985-04` or `circa 1800`.
    package static func gregorian(_ value: ArraySlice<UInt8>, omittedYear: Int? = nil) -> String? {
        written(value) { $0 == yearForNone || $0 == omittedYear }.flatMap { CalendarDate($0) == nil ? nil : $0 }
    }

    /// Like ``gregorian(_:omittedYear:)``, for a date in another calendar. The result is prefixed with the
    /// calendar's name and a colon, and with the era if there is one.
    package static func date(
        _ value: ArraySlice<UInt8>, in calendar: String, era: String?, omittedYear: Int? = nil
    ) -> String? {
        // Only the L of a leap month stands between the month and the day.
        let leap = value.firstIndex(of: UInt8(ascii: "L"))
        let prefix = ASCII.lowercased(calendar) + ":" + (era.map { "e\($0)-" } ?? "")
        guard let date = written(leap.map { value[..<$0] + value[($0 + 1)...] } ?? value, isNone: { $0 == omittedYear })
        else { return nil }
        let text = prefix + (leap == nil ? date : date.dropLast(3) + "L" + date.suffix(3))
        return NonGregorianDate(text) == nil ? nil : text
    }

    /// Returns the time part of the value; empty if there is none, or for midnight, which Apple's programs
    /// and Outlook write for "no time".
    package static func time(_ line: ContentLine) -> String {
        let text = ASCII.trimmed(line.storage[line.value])
        let time = text.drop { $0 != UInt8(ascii: "T") && $0 != UInt8(ascii: " ") }
        return time.contains { (0x31...0x39).contains($0) } ? String(decoding: time, as: UTF8.self) : ""
    }

    /// Whether the value is one of the dates of RFC 6350 §4.3.1 that are not full: `1985`, `1985-04`, `--04`, `---12`; or
    /// a time alone.
    static func isPart(_ value: ArraySlice<UInt8>) -> Bool {
        let text = ASCII.trimmed(value)
        let bytes = text.prefix { $0 != UInt8(ascii: "T") }
        let dashes = bytes.prefix { $0 == UInt8(ascii: "-") }.count
        let parts = bytes.dropFirst(dashes).split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let numbers = parts.compactMap { $0.isEmpty ? nil : $0.decimalNumber }
        guard numbers.count == parts.count else { return bytes.isEmpty && text.count > 2 }
        switch (dashes, parts.map(\.count)) {
        case (0, [4]): return numbers[0] > 0
        case (0, [4, 2]): return numbers[0] > 0 && (1...12).contains(numbers[1])
        case (2, [2]): return (1...12).contains(numbers[0])
        case (3, [2]): return (1...31).contains(numbers[0])
        default: return false
        }
    }

    private static func written(_ value: ArraySlice<UInt8>, isNone: (Int) -> Bool) -> String? {
        let text = ASCII.trimmed(value)
        let bytes = text.prefix { $0 != UInt8(ascii: "T") && $0 != UInt8(ascii: " ") }
        let dash = UInt8(ascii: "-")
        let year: Int?
        var rest: ArraySlice<UInt8>
        if bytes.starts(with: [dash, dash]) {
            year = nil
            rest = bytes.dropFirst(2)
        } else {
            guard bytes.count >= 8, let number = bytes.prefix(4).decimalNumber else { return nil }
            year = number
            rest = bytes.dropFirst(4)
        }
        guard let (month, day) = monthAndDay(rest, hasYear: year != nil) else { return nil }
        let ending = "\(Timestamp.padded(month, 2))-\(Timestamp.padded(day, 2))"
        guard let year, !isNone(year) else { return "--\(ending)" }
        return "\(Timestamp.padded(year, 4))-\(ending)"
    }

    /// Reads `MMDD`, `MM-DD`, `-MM-DD`, `-MMDD` and, because some writers leave out zeros, `-M-D`. After a year, the
    /// separator can also be a slash or a full stop.
    private static func monthAndDay(_ text: ArraySlice<UInt8>, hasYear: Bool) -> (Int, Int)? {
        let separators = hasYear ? "-/.".utf8 : "-".utf8
        var rest = text
        if hasYear, let first = rest.first, separators.contains(first) { rest.removeFirst() }
        let parts = rest.split(omittingEmptySubsequences: false) { separators.contains($0) }
        let fields = parts.count == 1 && rest.count == 4 ? [rest.prefix(2), rest.suffix(2)] : parts
        guard fields.count == 2, fields.allSatisfy({ (1...2).contains($0.count) }), let month = fields[0].decimalNumber,
            let day = fields[1].decimalNumber
        else { return nil }
        return (month, day)
    }

    /// Returns a date as `YYYYMMDD` or `--MMDD`, the form of vCard 4.0 (RFC 6350 §4.3.1).
    static func basic(_ date: some StringProtocol) -> String {
        (date.hasPrefix("--") ? "--" : "") + String(date.filter { $0 != "-" })
    }
}
