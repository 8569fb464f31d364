import BrokerModel
import BrokerVCard
import SwiftCSV

/// Reads a stream of contacts as Google Contacts and Outlook export them to CSV, row by row and in bounded memory.
///
///     reader.append(chunk)
///     while let item = reader.next() { … }
///
/// Which of the two it is, and in which of their forms, the names of the columns tell. UTF-8, UTF-16 and Windows-1252 are
/// read. A row that cannot be read is an item of its own and does not hinder those after it.
public struct CSVReader {
    public enum Item: Hashable, Sendable {
        case row(ReadRow)
        case unreadable(CSVProblem)
    }

    /// Longest row that is held, in bytes of UTF-8: a note of 1 MiB, all of it quotes, fits.
    public static let rowSize = 4 * 1_048_576
    /// Columns that are looked at.
    static let columns = 2_000

    private var decoder = StreamDecoder(.rows)
    private var records: CSVRecords
    private var delimiter = CSVDelimiters.all[0]
    private var table: (any ContactTable)?
    private var isOver = false
    private let dates: DateOrder

    /// - Parameter dates: how `1/2/1990` is meant; it is asked only where the date itself does not tell.
    public init(dates: DateOrder = .monthFirst) {
        self.dates = dates
        records = CSVRecords(limit: Self.rowSize)
    }

    /// Takes the next bytes of the stream, cut wherever they were cut.
    public mutating func append(_ bytes: [UInt8]) { records.append(decoder.decode(bytes, isLast: false)) }

    /// There are no more bytes. What comes out of ``next()`` now is the last of it.
    public mutating func finish() {
        records.append(decoder.decode([], isLast: true))
        records.finish()
    }

    /// The next row that is complete, or `nil` until more bytes have come.
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

    /// The fields of one record; `nil` where quotes stand in it that make no sense.
    static func fields(of record: String, delimiter: UInt8) -> [String]? {
        let separator = CSVDelimiter.character(Character(Unicode.Scalar(delimiter)))
        // A line before it, since the parser reads the first one twice. A record has no line break outside of quotes.
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
    /// The groups that the row says it is in, by name.
    public let groups: [String]
    /// Where it begins in the stream, from 1.
    public let line: Int
    /// What could not be taken over, or only perhaps rightly.
    public let remarks: [CSVProblem]
}

/// What is wrong with a row, and where. It never repeats what the row says.
public struct CSVProblem: Hashable, Sendable {
    /// Line of the file, counted from 1.
    public let line: Int
    public let reason: Reason

    public enum Reason: Hashable, Sendable {
        // The row is lost, with ``endless`` and ``unknownColumns`` all that follow.

        case endless
        case unknownColumns
        /// Quotes within a field, or text after the closing one.
        case quotes
        case empty

        // The row is read without what is named here.

        case notUTF8
        /// The birthday, or another date, is no day of the calendar.
        case badDate
        /// `1/2/1990`: which is the day is a guess.
        case ambiguousDate
        /// Columns that contacts have no place for, by their names.
        case leftOut(String)
    }
}

extension CSVProblem.Reason: CustomStringConvertible {
    /// In lower case and without a full stop, to stand after file and line.
    public var description: String {
        switch self {
        case .endless: "a quote that is never closed, or a row of more than 4 MiB; the rest of the file is not read"
        case .unknownColumns:
            "the first line names no columns as Google Contacts and Outlook do (English names); nothing of the file is read"
        case .quotes: "quotes in the middle of a field; quote all of it, and double those within"
        case .empty: "nothing in it"
        case .notUTF8: "not UTF-8, read as Windows-1252; some characters may be wrong"
        case .badDate: "a date that does not exist; left out"
        case .ambiguousDate: "a date like 1/2/1990, read with the month first; with the day first: --day-first"
        case .leftOut(let column): "\(column) has no place in a contact; left out"
        }
    }
}

/// Which comes first in dates such as `1/2/1990`.
public enum DateOrder: Hashable, Sendable {
    case monthFirst, dayFirst
}
