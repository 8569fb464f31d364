import BrokerModel
import BrokerVCard

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
            case .record(let fields, let line):
                guard let table else {
                    if let reason = readHeader(fields) {
                        isOver = true
                        return .unreadable(RowProblem(line: line, reason: reason))
                    }
                    continue
                }
                if let item = read(fields, line, table) { return item }
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
    private mutating func readHeader(_ fields: CSVFields) -> RowProblem.Reason? {
        guard !fields.isInvalid else { return .quotes }
        let isUTF8 = String(validating: fields.bytes, as: UTF8.self) != nil
        // In UTF-8, the first character set stands for all.
        for charset in isUTF8 ? [.windows1252] : Charset.allCases {
            let header = fields.texts { isUTF8 ? String(decoding: $0, as: UTF8.self) : charset.decode($0) }
            let tables: [(any ContactTable)?] = [
                GoogleTable(header: header, dates: dates), OutlookTable(header: header, dates: dates),
                ThunderbirdTable(header: header),
            ]
            for case let table? in tables where table.count > self.table?.count ?? 0 {
                self.table = table
                self.charset = charset
                isCharsetCertain = !isUTF8
            }
        }
        return table == nil ? .unknownColumns : nil
    }

    private func read(_ record: CSVFields, _ line: Int, _ table: any ContactTable) -> RowItem? {
        guard !record.isInvalid else { return .unreadable(RowProblem(line: line, reason: .quotes)) }
        // Column names that are in the character set show it for all rows.
        let isOther = isCharsetCertain && String(validating: record.bytes, as: UTF8.self) == nil
        let (decode, remark) =
            isOther
            ? (charset.decode, nil)
            : RowReading.decoder(for: record.bytes, isUTF8: decoder.isUTF8, orElse: charset.decode)
        let fields = record.texts(decode)
        guard fields.contains(where: { !$0.isEmpty }) else { return nil }
        var row = RowReading(fields: fields)
        table.read(&row)
        if let remark { row.remarks.append(remark) }
        guard !row.contact.present.isEmpty else { return .unreadable(RowProblem(line: line, reason: .empty)) }
        return .row(
            ReadRow(
                contact: row.contact, groups: row.groups, line: line,
                remarks: row.remarks.map { RowProblem(line: line, reason: $0) }))
    }
}

/// The order of day and month in dates such as `1/2/1990`.
public enum DateOrder: Hashable, Sendable {
    case monthFirst, dayFirst
}
