import GRDBSQLite

/// One connection to the access database.
///
/// SQLite's own interface and not GRDB's queue: a reply waits for the commit of its audit record, and GRDB's dispatch,
/// transaction bookkeeping and value boxing cost more than SQLite itself does for one row. The connection has one
/// owner and one thread, so there is nothing for a queue to protect.
final class SQLiteConnection {
    let handle: OpaquePointer
    private var statements: [String: SQLiteStatement] = [:]

    enum Mode {
        /// What is not there is not made.
        case readOnly, readWrite
        /// As it stands: a file without a log that nobody writes meanwhile. Leaves nothing beside it.
        case immutable
    }

    init(path: String, _ mode: Mode) throws(AccessStoreError) {
        var opened: OpaquePointer?
        // NOMUTEX: one thread at a time uses it, as its owner promises.
        let flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
        let code =
            switch mode {
            case .readOnly: sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_READONLY, nil)
            case .readWrite: sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_READWRITE, nil)
            case .immutable:
                sqlite3_open_v2(
                    Self.address(of: path) + "?immutable=1", &opened, flags | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
                    nil)
            }
        guard let opened else { throw .unavailable(reason: "no memory for SQLite") }
        guard code == SQLITE_OK else {
            let error = AccessStoreError(code: code, connection: opened)
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
        sqlite3_extended_result_codes(handle, 1)
        // Only a checkpoint or another reader's recovery can make us wait; neither takes long.
        sqlite3_busy_timeout(handle, 5_000)
    }

    deinit {
        statements.removeAll()
        // The variant that waits for statements which their holders have not let go of yet.
        sqlite3_close_v2(handle)
    }

    /// The path as SQLite reads it in a URI (sqlite.org, Uniform Resource Identifiers).
    private static func address(of path: String) -> String {
        let digits = Array("0123456789ABCDEF")
        return path.utf8.reduce(into: "file:") { address, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                address.unicodeScalars.append(Unicode.Scalar(byte))
            default: address += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
    }

    /// Runs statements that take nothing and give nothing.
    func execute(_ sql: String) throws(AccessStoreError) {
        try check(sqlite3_exec(handle, sql, nil, nil, nil))
    }

    /// A statement that is prepared once and kept.
    func statement(_ sql: String) throws(AccessStoreError) -> SQLiteStatement {
        if let statement = statements[sql] { return statement }
        let statement = try SQLiteStatement(sql, on: self, isKept: true)
        statements[sql] = statement
        return statement
    }

    /// The only value of the only row; `nil` where it is NULL or there is no row.
    func integer(_ sql: String) throws(AccessStoreError) -> Int64? {
        let statement = try SQLiteStatement(sql, on: self)
        return try statement.next() ? statement.integer(0) : nil
    }

    func text(_ sql: String) throws(AccessStoreError) -> String? {
        let statement = try SQLiteStatement(sql, on: self)
        return try statement.next() ? statement.text(0) : nil
    }

    func check(_ code: Int32) throws(AccessStoreError) {
        guard code == SQLITE_OK else { throw AccessStoreError(code: code, connection: handle) }
    }

    /// A transaction is open: a statement failed in a way that did not end it.
    /// Gives back pages that are only kept to be quick.
    func releaseMemory() { sqlite3_db_release_memory(handle) }

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }
}

extension AccessStoreError {
    /// What SQLite says, in our words.
    init(code: Int32, connection: OpaquePointer?) {
        let reason = sqlite3_errmsg(connection).map { String(cString: $0) } ?? "SQLite error \(code)"
        switch code & 0xff {
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .damaged(reason: reason)
        // Of these there are dozens, and the words for them are the same.
        case SQLITE_IOERR: self = .unavailable(reason: "\(reason), SQLite's code \(code)")
        default: self = .unavailable(reason: reason)
        }
    }
}
