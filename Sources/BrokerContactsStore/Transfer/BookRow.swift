import BrokerModel
import BrokerSQLite

/// A row of one of a book's small tables, as a backup contains it.
public struct BookRow: Hashable, Sendable {
    /// The tables in the order in which a backup contains them. The cards come after ``container`` and before
    /// ``group``, because rows refer to earlier rows.
    public enum Table: String, CaseIterable, Sendable {
        case settings, container, group, member, subgroup, link, handLink, unlike
    }

    public enum Value: Hashable, Sendable {
        case none
        case integer(Int64)
        case text(String)
        case bytes([UInt8])
    }

    /// The type of a column. A column that ends in `OrNone` may be NULL. A flag is 0 or 1.
    enum Column { case integer, integerOrNone, flag, text, textOrNone, bytes }

    public let table: Table
    public let values: [Value]

    /// Returns `nil` if the table does not have columns for these values.
    public init?(_ table: Table, _ values: [Value]) {
        // A backup of an earlier version does not say who named a group. There, each name counts.
        var values = values
        if table == .group, values.count == 4 { values.append(.integer(1)) }
        // Nor does it have a language.
        if table == .settings, values.count == 3 { values.append(.none) }
        guard values.count == table.columns.count, zip(values, table.columns).allSatisfy({ $1.type.holds($0) }) else {
            return nil
        }
        self.table = table
        self.values = values
    }

    /// The number of the group that the row defines; `nil` for rows of other tables.
    public var group: RecordNumber? {
        guard table == .group, case .integer(let number) = values[0] else { return nil }
        return RecordNumber(number)
    }

    /// Reads the current row of a statement that selects ``Table/select``.
    init(_ table: Table, of row: PreparedStatement) {
        self.table = table
        values = table.columns.enumerated().map { index, column in
            let index = Int32(index)
            if row.isNull(index) { return .none }
            switch column.type {
            case .integer, .integerOrNone, .flag: return .integer(row.integer(index))
            case .text, .textOrNone: return .text(row.text(index))
            case .bytes: return .bytes(row.bytes(index))
            }
        }
    }

    /// Adds the row. Throws if it refers to a record that does not exist.
    func write(_ db: Database) throws(StoreError) {
        let names = table.columns.map(\.name).joined(separator: ", ")
        let places = table.columns.map { _ in "?" }.joined(separator: ", ")
        // The book's own row exists already.
        let sql =
            table == .settings
            ? "UPDATE book SET (\(names)) = (\(places))"
            : "INSERT INTO \(table.name) (\(names)) VALUES (\(places))"
        let statement = try db.statement(sql)
        for (index, value) in zip(Int32(1)..., values) {
            switch value {
            case .none: statement.bind(index, Int64?.none)
            case .integer(let integer): statement.bind(index, integer)
            case .text(let text): statement.bind(index, text)
            case .bytes(let bytes): statement.bind(index, bytes)
            }
        }
        try statement.run()
    }
}

extension BookRow.Table {
    /// Whether a column contains bytes, which a backup writes as hexadecimal digits.
    public func hasBytes(inColumn index: Int) -> Bool {
        columns.indices.contains(index) && columns[index].type == .bytes
    }

    /// Whether a number in a column is a record number.
    public func hasRecord(inColumn index: Int) -> Bool {
        self != .settings && !(columns.indices.contains(index) && columns[index].type == .flag)
    }
}

extension BookRow.Column {
    fileprivate func holds(_ value: BookRow.Value) -> Bool {
        switch (self, value) {
        case (.integer, .integer), (.integerOrNone, .integer), (.integerOrNone, .none), (.flag, .integer(0...1)),
            (.text, .text), (.textOrNone, .text), (.textOrNone, .none), (.bytes, .bytes):
            true
        case (.flag, _), (.integer, _), (.integerOrNone, _), (.text, _), (.textOrNone, _), (.bytes, _): false
        }
    }
}

extension BookRow.Table {
    /// The table's name in the database.
    var name: String {
        switch self {
        case .settings: "book"
        case .group: "contactGroup"
        case .container, .member, .subgroup, .link, .handLink, .unlike: rawValue
        }
    }

    var columns: [(name: String, type: BookRow.Column)] {
        switch self {
        case .settings:
            [
                ("sortOrder", .integerOrNone), ("displayOrder", .integerOrNone), ("countryCode", .textOrNone),
                ("language", .textOrNone),
            ]
        case .container: [("record", .integer), ("name", .text)]
        case .group:
            [
                ("record", .integer), ("name", .text), ("owner", .bytes), ("container", .integerOrNone),
                ("confirmed", .flag),
            ]
        case .member: [("parent", .integer), ("contact", .integer), ("confirmed", .flag)]
        case .subgroup: [("parent", .integer), ("child", .integer)]
        case .link, .handLink: [("record", .integer), ("first", .integer)]
        case .unlike: [("record", .integer), ("other", .integer)]
        }
    }

    var select: String { "SELECT \(columns.map(\.name).joined(separator: ", ")) FROM \(name)" }
}
