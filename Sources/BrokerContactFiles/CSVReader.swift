import BrokerModel
import BrokerVCard
import SwiftCSV

/// Reads the CSV formats of Google Contacts, Outlook and Thunderbird, row by row and in bounded memory.
///
/// The column names determine the program and its language. The text may be UTF-8, UTF-16, Windows-1252 or, if the
/// column names are Japanese, Shift JIS.
public struct CSVReader: RowReader {
    /// The maximum size of a row, in bytes after any conversion from UTF-16. A note of 1 MiB fits even if it
    /// consists of quotes, which CSV doubles.
    public static let rowSize = 4 * 1_048_576
    /// The maximum number of columns in a row.
    static let columns = 2_000

    private var decoder = StreamDecoder(.rows)
    private var records: CSVRecords
    private var delimiter = CSVDelimiters.all[0]
    private var table: (any ContactTable)?
    /// The character set of rows that are not UTF-8.
    private var charset = Charset.windows1252
    /// Whether the column names show that rows which are not UTF-8 are in ``charset``.
    private var isCharsetCertain = false
    private var isOver = false
    private let dates: DateOrder

    /// - Parameter dates: how to read an ambiguous date such as `1/2/1990`.
    public init(dates: DateOrder = .monthFirst) {
        self.dates = dates
        records = CSVRecords(limit: Self.rowSize)
    }

    public mutating func append(_ bytes: [UInt8]) { records.append(decoder.decode(bytes, isLast: false)) }

    public mutating func finish() {
        records.append(decoder.decode([], isLast: true))
        records.finish()
    }

    public mutating func next() -> RowItem? {
        while !isOver, let item = records.next() {
            switch item {
            case .endless(let line):
                isOver = true
                return .unreadable(RowProblem(line: line, reason: .endless))
            case .record(let bytes, let line):
                guard let table else {
                    if let reason = readHeader(bytes) {
                        isOver = true
                        return .unreadable(RowProblem(line: line, reason: reason))
                    }
                    continue
                }
                if let item = read(bytes, line, table) { return item }
            }
        }
        return nil
    }

    /// A character set of files that are not UTF-8. None has a delimiter, a quote or a line break within a character.
    private enum Charset: CaseIterable {
        case windows1252, shiftJIS

        func decode(_ bytes: [UInt8]) -> String {
            switch self {
            case .windows1252: Windows1252.decode(bytes)
            case .shiftJIS: ShiftJIS.decode(bytes) ?? Windows1252.decode(bytes)
            }
        }
    }

    /// Finds the program whose columns the header has most of.
    ///
    /// - Returns: why the file cannot be read; `nil` if it can.
    private mutating func readHeader(_ bytes: [UInt8]) -> RowProblem.Reason? {
        delimiter = CSVDelimiters.of(bytes)
        let utf8 = String(validating: bytes, as: UTF8.self)
        var problem = RowProblem.Reason.quotes
        // In UTF-8, the first character set stands for all.
        for charset in utf8 == nil ? Charset.allCases : [.windows1252] {
            guard let fields = Self.fields(of: utf8 ?? charset.decode(bytes), delimiter: delimiter) else { continue }
            problem = .unknownColumns
            let tables: [(any ContactTable)?] = [
                GoogleTable(header: fields, dates: dates), OutlookTable(header: fields, dates: dates),
                ThunderbirdTable(header: fields),
            ]
            for case let table? in tables where table.count > self.table?.count ?? 0 {
                self.table = table
                self.charset = charset
                isCharsetCertain = utf8 == nil
            }
        }
        return table == nil ? problem : nil
    }

    private func read(_ bytes: [UInt8], _ line: Int, _ table: any ContactTable) -> RowItem? {
        let utf8 = String(validating: bytes, as: UTF8.self)
        let text = utf8 ?? charset.decode(bytes)
        guard let fields = Self.fields(of: text, delimiter: delimiter) else {
            return .unreadable(RowProblem(line: line, reason: .quotes))
        }
        guard fields.contains(where: { !$0.isEmpty }) else { return nil }
        var row = RowReading(fields: fields)
        table.read(&row)
        if utf8 == nil, !isCharsetCertain { row.remarks.append(.notUTF8) }
        guard !row.contact.present.isEmpty else { return .unreadable(RowProblem(line: line, reason: .empty)) }
        return .row(
            ReadRow(
                contact: row.contact, groups: row.groups, line: line,
                remarks: row.remarks.map { RowProblem(line: line, reason: $0) }))
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

/// The order of day and month in dates such as `1/2/1990`.
public enum DateOrder: Hashable, Sendable {
    case monthFirst, dayFirst
}
