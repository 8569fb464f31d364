import BrokerSQLite

/// Inserts rows into one table, many with one statement: to begin and end a statement takes as long as to write a row or two.
final class RowInsertion {
    private let db: Database
    private let target: String
    private let columns: Int
    private let one: PreparedStatement
    private var many: PreparedStatement?

    /// Rows that the longer statement takes.
    private static let most = 32

    /// - Parameters:
    ///   - target: table and columns, as SQL names them.
    ///   - columns: how many.
    init(_ db: Database, into target: String, columns: Int) throws(StoreError) {
        (self.db, self.target, self.columns) = (db, target, columns)
        one = try PreparedStatement(Self.sql(target, columns, rows: 1), on: db)
    }

    private static func sql(_ target: String, _ columns: Int, rows: Int) -> String {
        let row = "(" + Array(repeating: "?", count: columns).joined(separator: ", ") + ")"
        return "INSERT OR IGNORE INTO \(target) VALUES " + Array(repeating: row, count: rows).joined(separator: ", ")
    }

    /// Inserts all rows in their order, but those that are there already.
    ///
    /// - Parameter bind: binds the values of a row, from a place on.
    func insert<Row>(
        _ rows: [Row], _ bind: (PreparedStatement, Int32, Row) -> Void
    ) throws(StoreError) {
        var left = rows.count
        var bound = 0
        for row in rows {
            guard left >= Self.most else {
                bind(one, 1, row)
                try one.run()
                continue
            }
            let statement = try longer()
            bind(statement, Int32(1 + bound * columns), row)
            bound += 1
            if bound == Self.most {
                try statement.run()
                bound = 0
                left -= Self.most
            }
        }
    }

    private func longer() throws(StoreError) -> PreparedStatement {
        if let many { return many }
        let made = try PreparedStatement(Self.sql(target, columns, rows: Self.most), on: db)
        many = made
        return made
    }

    /// Gives back what only many rows need.
    func rest() { many = nil }
}
