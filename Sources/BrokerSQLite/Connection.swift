import GRDBSQLite

/// What a store makes of SQLite's errors.
public protocol SQLiteFailure: Error {
    /// - Parameters:
    ///   - code: SQLite's extended result code.
    ///   - message: SQLite's words. They name tables, never what is in them.
    init(code: Int32, message: String)
}

/// One connection to a database file. One caller at a time uses it, as its owner promises.
///
/// SQLite's own interface and no library over it: the daemon would carry all of Foundation for a hundred lines, which is a quarter of its
/// memory and of its start.
public final class Connection<Failure: SQLiteFailure> {
    /// SQLite's own, for what this type has no name for.
    public let handle: OpaquePointer
    private var isClosed = false
    private var kept: [String: Statement<Failure>] = [:]
    /// What else has to live as long as the connection.
    public var context: AnyObject?

    public enum Mode: Sendable {
        /// What is not there is not made.
        case readOnly, readWrite
        /// As it stands: a file without a log that nobody writes meanwhile. Leaves nothing beside it.
        case immutable
    }

    /// Opens a file that is there.
    ///
    /// - Parameters:
    ///   - patience: milliseconds to wait for another connection that holds a lock.
    ///   - settings: the connection's own, as PRAGMA statements.
    public init(path: String, _ mode: Mode, patience: Int32, settings: String = "") throws(Failure) {
        var opened: OpaquePointer?
        // NOMUTEX: see above.
        let flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
        let code =
            switch mode {
            case .readOnly: sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_READONLY, nil)
            case .readWrite: sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_READWRITE, nil)
            case .immutable:
                sqlite3_open_v2(
                    address(of: path) + "?immutable=1", &opened, flags | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nil)
            }
        guard let opened else { throw Failure(code: code, message: "no memory for SQLite") }
        handle = opened
        sqlite3_extended_result_codes(handle, 1)
        guard code == SQLITE_OK else { throw error(code) }
        sqlite3_busy_timeout(handle, patience)
        try execute(settings)
    }

    deinit { close() }

    /// Closes the file, once the last statement is gone. The connection is not to be used any more.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        kept = [:]
        sqlite3_close_v2(handle)
    }

    /// What went wrong last.
    public func error(_ code: Int32) -> Failure {
        Failure(code: code, message: sqlite3_errmsg(handle).map { String(cString: $0) } ?? "no message")
    }

    public func check(_ code: Int32) throws(Failure) {
        guard code == SQLITE_OK else { throw error(code) }
    }

    /// Runs statements that take nothing and give nothing.
    public func execute(_ sql: String) throws(Failure) { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

    /// A statement that is prepared once and kept.
    public func statement(_ sql: String) throws(Failure) -> Statement<Failure> {
        if let statement = kept[sql] { return statement }
        // Texts vary with the number of words and digits only; should they ever be many, start afresh.
        if kept.count >= 128 { kept.removeAll() }
        let statement = try Statement(sql, on: self, isKept: true)
        kept[sql] = statement
        return statement
    }

    /// The only value of the only row; `nil` where it is NULL or there is no row.
    public func integer(_ sql: String) throws(Failure) -> Int64? {
        try Statement(sql, on: self).first { $0.integerOrNil(0) }
    }

    /// As ``integer(_:)``.
    public func text(_ sql: String) throws(Failure) -> String? {
        try Statement(sql, on: self).first { $0.textOrNil(0) }
    }

    /// Rows that the last statement changed.
    public var changesCount: Int { Int(sqlite3_changes(handle)) }

    /// Rows that statements have changed since the file was opened.
    public var totalChangesCount: Int { Int(sqlite3_total_changes(handle)) }

    /// A transaction is open: perhaps a statement failed in a way that did not end it.
    public var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Makes all changes of `body`, or none where it throws. Nobody else writes meanwhile.
    public func write<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try execute("BEGIN IMMEDIATE")
        do {
            let result = try body(self)
            try execute("COMMIT")
            return result
        } catch {
            // After some errors SQLite has ended it by itself. The first error counts.
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// Gives back pages that are only kept to be quick.
    public func releaseMemory() { sqlite3_db_release_memory(handle) }
}

/// The path as SQLite reads it in a URI (sqlite.org, Uniform Resource Identifiers).
private func address(of path: String) -> String {
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
