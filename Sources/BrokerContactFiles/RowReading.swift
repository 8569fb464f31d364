import BrokerModel
import BrokerVCard

/// Converts rows whose columns have the names that one program writes.
protocol ContactTable {
    /// The number of columns that the program knows.
    var count: Int { get }
    func read(_ row: inout RowReading)
}

/// The columns of a file, by their English names in lower case.
struct Columns {
    private var places: [String: Int] = [:]
    /// Unknown columns, with their names in the file's spelling.
    private var others: [(name: String, column: Int)] = []

    /// The number of known columns.
    var count: Int { places.count }

    /// - Parameter keys: for each column, its English name in lower case; `nil` for an unknown column.
    init(header: [String], keys: [String?]) {
        for (index, (field, key)) in zip(header, keys).enumerated() {
            // Of two columns with the same name, the first takes precedence.
            if let key, places[key] == nil {
                places[key] = index
            } else {
                let title = RowReading.cleaned(field)
                others.append((title.isEmpty ? "column \(index + 1) (without a name)" : title, index))
            }
        }
    }

    func contains(_ name: String) -> Bool { places[name] != nil }

    /// Returns the first non-empty text in these columns; empty if there is none.
    func text(_ row: RowReading, _ names: String...) -> String { text(row, names) }

    func text(_ row: RowReading, _ names: [String]) -> String {
        for name in names {
            let text = row.text(places[name])
            if !text.isEmpty { return text }
        }
        return ""
    }

    /// Adds a remark for each unknown column in which the row has a value.
    func leaveOut(of row: inout RowReading) {
        for other in others where !row.text(other.column).isEmpty { row.remarks.append(.leftOut(other.name)) }
    }
}

/// One row that is being converted to a contact.
struct RowReading {
    private let fields: [String]
    var contact = Contact()
    var groups: [String] = []
    var remarks: [RowProblem.Reason] = []

    init(fields: [String]) { self.fields = fields }

    /// Returns the text in a column, after ``cleaned(_:)``; empty if the row has no such column.
    func text(_ column: Int?) -> String {
        guard let column, column < fields.count else { return "" }
        return RowReading.cleaned(fields[column])
    }

    /// Returns what decodes these bytes and parts of them, and a remark if they are not valid UTF-8.
    ///
    /// - Parameters:
    ///   - isUTF8: whether a byte order mark declares UTF-8.
    ///   - other: decodes text that is not damaged UTF-8.
    static func decoder(
        for bytes: [UInt8], isUTF8: Bool, orElse other: @escaping ([UInt8]) -> String
    ) -> (decode: ([UInt8]) -> String, remark: RowProblem.Reason?) {
        if String(validating: bytes, as: UTF8.self) != nil { return ({ String(decoding: $0, as: UTF8.self) }, nil) }
        let damaged = DamagedUTF8(bytes)
        guard isUTF8 || damaged.isCertain else { return (other, .notUTF8) }
        return ({ DamagedUTF8($0).text }, damaged.isWhole ? nil : .damagedUTF8)
    }

    /// Normalises line breaks to LF, removes other control characters except tab, and trims white space.
    static func cleaned(_ field: String) -> String {
        // Fast path: most fields are empty or one line of ASCII.
        let bytes = field.utf8
        guard let first = bytes.first, let last = bytes.last else { return "" }
        if first != 0x20, last != 0x20, bytes.allSatisfy({ (0x20...0x7E).contains($0) }) { return field }
        var text = String.UnicodeScalarView()
        var endedInCR = false
        for scalar in field.unicodeScalars {
            defer { endedInCR = scalar == "\r" }
            if scalar == "\n", endedInCR { continue }
            if scalar == "\r" || scalar == "\n" {
                text.append("\n")
            } else if scalar == "\t" || scalar.properties.generalCategory != .control {
                text.append(scalar)
            }
        }
        return String(String(text).trimmed)
    }

    /// Whether there is no personal name and no nickname.
    var isUnnamed: Bool {
        [contact.givenName, contact.middleName, contact.familyName, contact.nickname].allSatisfy(\.isEmpty)
    }

    /// Appends a line to the note: the text, after the name and a colon if there is a name.
    mutating func addNote(_ name: String, _ text: String) {
        guard !text.isEmpty else { return }
        let line = name.isEmpty ? text : "\(name): \(text)"
        contact.note += contact.note.isEmpty ? line : "\n" + line
    }

    /// Converts a date to the form that contacts store; `nil` if there is no valid date. Adds a remark if the
    /// date is invalid, or if it is ambiguous and was read with the month first.
    mutating func date(_ text: String, _ order: DateOrder = .monthFirst) -> String? {
        // For no date, Outlook writes zeros: 0/0/00, or 0000-00-00.
        guard text.contains(where: { $0 != "0" && !"/.-".contains($0) }) else { return nil }
        guard let reading = ReadDate(text, order) else {
            remarks.append(.badDate)
            return nil
        }
        if reading.isAmbiguous, order == .monthFirst { remarks.append(.ambiguousDate) }
        return reading.text
    }
}

/// A date, parsed from a notation such as `31.12.1990` or `12/31/1990`.
struct ReadDate: Hashable {
    /// `YYYY-MM-DD` or `--MM-DD`.
    let text: String
    /// Whether the other order of day and month gives a different, valid date.
    let isAmbiguous: Bool

    init?(_ text: String, _ order: DateOrder) {
        let isYearless = text.hasPrefix("--")
        // A time can follow the date.
        let day = text.drop { $0 == "-" }.prefix { $0 != " " && $0 != "T" }
        let separator = day.first { !$0.isASCII || !$0.isNumber } ?? "-"
        guard ["-", "/", "."].contains(separator) else { return nil }
        let parts = day.split(separator: separator)
        let numbers = parts.compactMap { Int($0) }
        guard numbers.count == parts.count, parts.allSatisfy({ $0.utf8.count <= 4 }) else { return nil }
        var ambiguous = false
        let (year, month, date): (Int?, Int, Int)
        switch (numbers.count, isYearless) {
        case (2, true): (year, month, date) = (nil, numbers[0], numbers[1])
        case (3, false) where parts[0].utf8.count == 4: (year, month, date) = (numbers[0], numbers[1], numbers[2])
        case (3, false) where parts[2].utf8.count == 4:
            year = numbers[2]
            let isDayFirst = separator != "/" || order == .dayFirst
            // A first number above 12 is the day.
            if isDayFirst && numbers[1] <= 12 || numbers[0] > 12 {
                (month, date) = (numbers[1], numbers[0])
            } else {
                (month, date) = (numbers[0], numbers[1])
            }
            ambiguous = separator == "/" && numbers[0] <= 12 && numbers[1] <= 12 && numbers[0] != numbers[1]
        default: return nil
        }
        let digits = Timestamp.padded
        // Apple's programs write the year 1604 for "no year", and Google writes 0.
        let written = year.flatMap { $0 == 1604 || $0 == 0 ? nil : digits($0, 4) } ?? "-"
        self.text = "\(written)-\(digits(month, 2))-\(digits(date, 2))"
        isAmbiguous = ambiguous
        guard CalendarDate(self.text) != nil else { return nil }
    }
}

extension StringProtocol where SubSequence == Substring {
    /// The text without surrounding Unicode white space.
    var trimmed: Substring {
        let isInk = { (scalar: Unicode.Scalar) in !scalar.properties.isWhitespace }
        let scalars = unicodeScalars
        guard let start = scalars.firstIndex(where: isInk), let end = scalars.lastIndex(where: isInk) else { return "" }
        return self[start..<scalars.index(after: end)]
    }
}
