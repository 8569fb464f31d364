import BrokerSQLite
import CBrokerSQLite

typealias Database = Connection<StoreError>

extension Connection<StoreError> {
    /// Makes every statement of this connection check the bound periodically. Call this once.
    func obey(_ bound: ReadBound) {
        context = bound
        // The connection keeps the object alive.
        let context = Unmanaged.passUnretained(bound).toOpaque()
        sqlite3_progress_handler(
            handle, ReadBound.steps,
            { context in
                guard let context else { return 0 }
                return Unmanaged<ReadBound>.fromOpaque(context).takeUnretainedValue().isSpent() ? 1 : 0
            }, context)
    }

    /// Checkpoints and truncates the write-ahead log. Throws if a reader blocks it.
    func checkpoint() throws(StoreError) {
        try check(sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil))
    }

    /// Returns the number of the book's last change; 0 if there is none. Every change to a contact increases
    /// the number.
    func lastChange() throws(StoreError) -> Int64 {
        try statement("SELECT lastChange FROM book").first { $0.integer(0) } ?? 0
    }

    /// Inserts all rows in order, except those that exist already. Many rows share one statement, because
    /// starting and ending a statement takes as long as writing a row or two.
    ///
    /// - Parameters:
    ///   - target: the table and its columns, as SQL.
    ///   - columns: the number of columns.
    ///   - bind: binds the values of a row, starting at the given parameter.
    func insert<Row>(
        _ rows: [Row], into target: String, columns: Int, _ bind: (PreparedStatement, Int32, Row) -> Void
    ) throws(StoreError) {
        let row = "(" + Array(repeating: "?", count: columns).joined(separator: ", ") + ")"
        let sql = {
            "INSERT OR IGNORE INTO \(target) VALUES " + Array(repeating: row, count: $0).joined(separator: ", ")
        }
        let most = 32
        var rest = rows[...]
        if rest.count >= most {
            // This statement is not cached, because it takes memory and small saves do not use it.
            let many = try PreparedStatement(sql(most), on: self)
            while rest.count >= most {
                for (place, row) in rest.prefix(most).enumerated() { bind(many, Int32(1 + place * columns), row) }
                try many.run()
                rest = rest.dropFirst(most)
            }
        }
        let one = try statement(sql(1))
        for row in rest {
            bind(one, 1, row)
            try one.run()
        }
    }
}
