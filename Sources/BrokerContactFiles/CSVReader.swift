import BrokerModel
import BrokerVCard
import SwiftCSV

/// Reads a stream of contacts in the CSV formats of Google Contacts and Outlook, row by row and in bounded memory.
///
///     reader.append(chunk)
///     while let item = reader.next() { … }
///
/// The column names determine the format. The text may be UTF-8, UTF-16 or Windows-1252. An unreadable row is
/// reported as an item. The rows after it are still read, unless it is the first row or its end cannot be
/// found.
public struct CSVReader {
    public enum Item: Hashable, Sendable {
        case row(ReadRow)
        case unreadable(CSVProblem)
    }

    /// The maximum size of a row, in bytes after any conversion from UTF-16. A note of 1 MiB fits even if it
    /// consists of quotes, which CSV doubles.
    public static let rowSize = 4 * 1_048_576
    /// The maximum number of columns in a row.
    static let columns = 2_000

    private var decoder = StreamDecoder(.rows)
    private var records: CSVRecords
    private var delimiter = CSVDelimiters.all[0]
    private var table: (any ContactTable)?
    private var isOver = false
    private let dates: DateOrder

    /// - Parameter dates: how to read an ambiguous date such as `1/2/1990` in a file from Outlook.
    public init(dates: DateOrder = .monthFirst) {
        self.dates = dates
        records = CSVRecords(limit: Self.rowSize)
    }

    /// Adds the next bytes of the stream. Chunks may end anywhere.
    public mutating func append(_ bytes: [UInt8]) { records.append(decoder.decode(bytes, isLast: false)) }

    /// Ends the stream. ``next()`` then returns the remaining items.
    public mutating func finish() {
        records.append(decoder.decode([], isLast: true))
        records.finish()
    }

    /// Returns the next item; `nil` if the reader needs more bytes or the stream has ended.
    public mutating func next() -> Item? {
        while !isOver, let item = records.next() {
            switch item {
            case .endless(let line):
                isOver = true
                return .unreadable(CSVProblem(line: line, reason: .endless))
            case .record(let bytes, let line):
                if let item = read(bytes, line) { return item }
            }
        }
        return nil
    }

    private mutating func read(_ bytes: [UInt8], _ line: Int) -> Item? {
        let isHeader = table == nil
        if isHeader { delimiter = CSVDelimiters.of(bytes) }
        let utf8 = String(validating: bytes, as: UTF8.self)
        let text = utf8 ?? Windows1252.decode(bytes)
        guard let fields = Self.fields(of: text, delimiter: delimiter) else {
            isOver = isHeader
            return .unreadable(CSVProblem(line: line, reason: .quotes))
        }
        guard let table else {
            self.table = GoogleTable(header: fields) ?? OutlookTable(header: fields, dates: dates)
            isOver = self.table == nil
            return isOver ? .unreadable(CSVProblem(line: line, reason: .unknownColumns)) : nil
        }
        guard fields.contains(where: { !$0.isEmpty }) else { return nil }
        var row = RowReading(fields: fields)
        table.read(&row)
        guard !row.contact.present.isEmpty else { return .unreadable(CSVProblem(line: line, reason: .empty)) }
        if utf8 == nil { row.remarks.append(.notUTF8) }
        return .row(
            ReadRow(
                contact: row.contact, groups: row.groups, line: line,
                remarks: row.remarks.map { CSVProblem(line: line, reason: $0) }))
    }

    /// Returns the fields of one record; `nil` if the quotes are invalid or there are too many fields.
    static func fields(of record: String, delimiter: UInt8) -> [String]? {
        let separator = CSVDelimiter.character(Character(Unicode.Scalar(delimiter)))
        // The parser reads the first line twice, so a dummy line precedes the record. A record has no line
        // break outside quotes, so more than one parsed row means that the quotes are invalid.
        guard let parsed = try? EnumeratedCSV(string: "-\n" + record, delimiter: separator, loadColumns: false),
            parsed.rows.count <= 1
        else { return nil }
        let fields = parsed.rows.first ?? []
        return fields.count <= columns ? fields : nil
    }
}

/// A contact that was read from a row.
public struct ReadRow: Hashable, Sendable {
    public let contact: Contact
    /// The names of the row's groups.
    public let groups: [String]
    /// The line of the stream on which the row begins, counted from 1.
    public let line: Int
    /// Problems with parts of the row. These parts were left out or may be wrong.
    public let remarks: [CSVProblem]
}

/// A problem with a row, and its line. It never contains the row's values, but it may contain a column's
/// name.
public struct CSVProblem: Hashable, Sendable {
    /// The line of the file, counted from 1.
    public let line: Int
    public let reason: Reason

    public enum Reason: Hashable, Sendable {
        // These problems make a row unreadable. After ``endless``, and after any of them in the first row, no
        // further row is read.

        case endless
        case unknownColumns
        /// Quotes inside an unquoted field, text after a closing quote, or too many fields.
        case quotes
        case empty

        // These problems concern a part of the row. The other parts are read.

        case notUTF8
        /// The birthday or another date is not a calendar day.
        case badDate
        /// Day and month of a date such as `1/2/1990` are ambiguous.
        case ambiguousDate
        /// Contacts have no field for the column with this name.
        case leftOut(String)
    }
}

extension CSVProblem.Reason: CustomStringConvertible {
    /// The text begins in lower case and has no full stop, because it follows the file name and line number.
    public var description: String {
        switch self {
        case .endless: "a quote that is never closed, or a row of more than 4 MiB; the rest of the file was not read"
        case .unknownColumns:
            "the first line names no columns of Google Contacts or Outlook (in English); the file was not read"
        case .quotes: "quotes inside an unquoted field; quote the whole field, and double the quotes in it"
        case .empty: "no value that a contact can hold"
        case .notUTF8: "not UTF-8, read as Windows-1252; some characters may be wrong"
        case .badDate: "a date that does not exist; left out"
        case .ambiguousDate: "a date like 1/2/1990, read with the month first; to read the day first, use --day-first"
        case .leftOut(let column): "contacts have no field for \(column); left out"
        }
    }
}

/// The order of day and month in dates such as `1/2/1990`.
public enum DateOrder: Hashable, Sendable {
    case monthFirst, dayFirst
}
