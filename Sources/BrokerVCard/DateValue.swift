import BrokerModel

/// Converts vCard dates to the form that contacts store: `YYYY-MM-DD`, or `--MM-DD` without a year.
enum DateValue {
    /// The placeholder that Apple's programs write for "no year", with or without X-APPLE-OMIT-YEAR.
    static let yearForNone = 1604

    /// Reads the basic and the extended form. If the date has a time, only the date is read, without time
    /// zone conversion (RFC 2426 §3.1.5, RFC 6350 §4.3).
    ///
    /// - Parameter omittedYear: the year that `X-APPLE-OMIT-YEAR` names as a placeholder.
    /// - Returns: `nil` if the value is not a full calendar day, for example `1985-04` or `circa 1800`.
    static func gregorian(_ value: ArraySlice<UInt8>, omittedYear: Int? = nil) -> String? {
        written(value) { $0 == yearForNone || $0 == omittedYear }.flatMap { CalendarDate($0) == nil ? nil : $0 }
    }

    /// Like ``gregorian(_:omittedYear:)``, for a date in another calendar. The result is prefixed with the
    /// calendar's name and a colon.
    static func date(_ value: ArraySlice<UInt8>, in calendar: String, omittedYear: Int? = nil) -> String? {
        let date = written(value) { $0 == omittedYear }.map { "\(ASCII.lowercased(calendar)):\($0)" }
        return date.flatMap { CalendarDate.isNonGregorian($0) ? $0 : nil }
    }

    /// Returns the time part of the value; empty if there is none, or for midnight, which Apple's programs
    /// and Outlook write for "no time".
    static func time(_ line: ContentLine) -> String {
        let text = ASCII.trimmed(line.storage[line.value])
        let time = text.drop { $0 != UInt8(ascii: "T") && $0 != UInt8(ascii: " ") }
        return time.contains { (0x31...0x39).contains($0) } ? String(decoding: time, as: UTF8.self) : ""
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
            guard bytes.count >= 8, let number = number(bytes.prefix(4)) else { return nil }
            year = number
            rest = bytes.dropFirst(4)
            if rest.first == dash { rest.removeFirst() }
        }
        guard rest.count >= 4, let month = number(rest.prefix(2)) else { return nil }
        rest = rest.dropFirst(2)
        if rest.first == dash { rest.removeFirst() }
        guard rest.count == 2, let day = number(rest) else { return nil }
        let monthAndDay = "\(twoDigits(month))-\(twoDigits(day))"
        guard let year, !isNone(year) else { return "--\(monthAndDay)" }
        return String(repeating: "0", count: 4 - String(year).count) + "\(year)-\(monthAndDay)"
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// Returns a date as `YYYYMMDD` or `--MMDD`, the form of vCard 4.0 (RFC 6350 §4.3.1).
    static func basic(_ date: some StringProtocol) -> String {
        (date.hasPrefix("--") ? "--" : "") + String(date.filter { $0 != "-" })
    }
}
