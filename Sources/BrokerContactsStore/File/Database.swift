import BrokerModel
import BrokerSQLite
import GRDBSQLite

typealias Database = Connection<StoreError>

extension Connection<StoreError> {
    /// Has every statement of this connection ask from time to time whether it is to go on. To be called once.
    func obey(_ bound: ReadBound) {
        context = bound
        // The object lives as long as the connection, which holds it.
        let context = Unmanaged.passUnretained(bound).toOpaque()
        sqlite3_progress_handler(
            handle, ReadBound.steps,
            { context in
                guard let context else { return 0 }
                return Unmanaged<ReadBound>.fromOpaque(context).takeUnretainedValue().isSpent() ? 1 : 0
            }, context)
    }

    /// Empties the write-ahead log into the file. A reader in the way is an error, and the log stays as it is.
    func checkpoint() throws(StoreError) {
        try check(sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil))
    }

    func hasContact(_ record: RecordNumber) throws(StoreError) -> Bool {
        try statement(ReadSQL.exists).bind(1, record.rawValue).hasRow()
    }

    /// The number of the book's last change; 0 where there was none. It rises with every change of a contact.
    func lastChange() throws(StoreError) -> Int64 {
        try statement("SELECT lastChange FROM book").first { $0.integer(0) } ?? 0
    }

    /// Inserts all rows in their order, but those that are there already. Many go with one statement: to begin and end a statement
    /// takes as long as to write a row or two.
    ///
    /// - Parameters:
    ///   - target: table and columns, as SQL names them.
    ///   - columns: how many.
    ///   - bind: binds the values of a row, from a place on.
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
            // Not kept: it takes memory, and a small save has no use for it.
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
