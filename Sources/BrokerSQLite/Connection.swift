import CBrokerSQLite

/// A store's error type, which can be created from an SQLite error.
public protocol SQLiteFailure: Error {
    /// - Parameters:
    ///   - code: SQLite's extended result code.
    ///   - message: SQLite's message. It may name tables but never contains stored values.
    init(code: Int32, message: String)

    static func unavailable(reason: String) -> Self
}

/// One connection to a database file. Its owner ensures that only one thread at a time uses it.
///
/// It calls SQLite's C interface directly. A wrapper library would load Foundation, which would take a
/// quarter of the daemon's memory and start-up time.
public final class Connection<Failure: SQLiteFailure> {
    /// SQLite's handle, for calls that this type does not wrap.
    public let handle: OpaquePointer
    private var isClosed = false
    private var kept: [String: Statement<Failure>] = [:]
    /// An object that the connection keeps alive.
    public var context: AnyObject?

    public enum Mode: Sendable {
        /// A missing file is an error; none is created.
        case readOnly, readWrite
        /// For a file that has no write-ahead log and that no process changes while it is open. SQLite
        /// creates no further files for it.
        case immutable
    }

    /// Opens an existing file.
    ///
    /// - Parameters:
    ///   - patience: how long to wait, in milliseconds, for another connection that holds a lock.
    ///   - settings: PRAGMA statements for this connection.
    public init(path: String, _ mode: Mode, patience: Int32, settings: String = "") throws(Failure) {
        var opened: OpaquePointer?
        // NOMUTEX: one thread at a time uses the connection, so SQLite needs no mutex.
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

    /// Closes the connection. SQLite closes the file when the last statement is released. The connection must
    /// not be used afterwards.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        kept = [:]
        sqlite3_close_v2(handle)
    }

    /// Makes an error from SQLite's result code and its last message.
    public func error(_ code: Int32) -> Failure {
        Failure(code: code, message: sqlite3_errmsg(handle).map { String(cString: $0) } ?? "no message")
    }

    public func check(_ code: Int32) throws(Failure) {
        guard code == SQLITE_OK else { throw error(code) }
    }

    /// Runs statements without parameters and discards any rows.
    public func execute(_ sql: String) throws(Failure) { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

    /// Returns a statement from the cache, or prepares it and adds it to the cache.
    public func statement(_ sql: String) throws(Failure) -> Statement<Failure> {
        if let statement = kept[sql] { return statement }
        // A program has few SQL texts, but some vary with the number of words or digits in a query. A full
        // cache is emptied.
        if kept.count >= 128 { kept.removeAll() }
        let statement = try Statement(sql, on: self, isKept: true)
        kept[sql] = statement
        return statement
    }

    /// Returns the first value of the first row; `nil` if it is NULL or there is no row.
    public func integer(_ sql: String) throws(Failure) -> Int64? {
        try Statement(sql, on: self).first { $0.integerOrNil(0) }
    }

    /// Like ``integer(_:)``, for a text.
    public func text(_ sql: String) throws(Failure) -> String? {
        try Statement(sql, on: self).first { $0.textOrNil(0) }
    }

    /// The number of rows that the last completed INSERT, UPDATE or DELETE statement changed.
    public var changesCount: Int { Int(sqlite3_changes(handle)) }

    /// The number of rows that all statements have changed since the file was opened.
    public var totalChangesCount: Int { Int(sqlite3_total_changes(handle)) }

    /// Whether a transaction is open. Some of SQLite's errors end a transaction; others leave it open.
    public var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Runs `body` in one transaction, which is rolled back if `body` throws. Other writers must wait
    /// meanwhile.
    public func write<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try execute("BEGIN IMMEDIATE")
        do {
            let result = try body(self)
            try execute("COMMIT")
            return result
        } catch {
            // After some errors SQLite has already rolled back the transaction. The first error is reported,
            // even if ROLLBACK fails too.
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// Releases cached pages that are not in use.
    public func releaseMemory() { sqlite3_db_release_memory(handle) }
}

/// Returns the path as a URI for SQLite (sqlite.org, Uniform Resource Identifiers).
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
