import GRDBSQLite

/// One connection to a book's file. One caller at a time uses it, as its owner promises.
///
/// SQLite's own interface and no library over it: the daemon would carry all of Foundation for a hundred lines, which is a
/// quarter of its memory and of its start.
final class Database {
    private let handle: OpaquePointer
    private var isClosed = false
    private var bound: ReadBound?

    /// Opens a file that is there.
    ///
    /// - Parameters:
    ///   - patience: milliseconds to wait for another connection that holds a lock.
    ///   - settings: the connection's own, as PRAGMA statements.
    init(path: String, isReadOnly: Bool = false, patience: Int32, settings: String = "") throws(StoreError) {
        var opened: OpaquePointer?
        // NOMUTEX: see above.
        let mode = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
        let code = sqlite3_open_v2(path, &opened, mode | SQLITE_OPEN_NOMUTEX, nil)
        guard let opened else { throw .unavailable(reason: "no memory for SQLite") }
        handle = opened
        guard code == SQLITE_OK else { throw error(code) }
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, patience)
        try execute(sql: settings)
    }

    deinit { close() }

    /// Closes the file, once the last statement is gone. The connection is not to be used any more.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        sqlite3_close_v2(handle)
    }

    func error(_ code: Int32) -> StoreError {
        StoreError(code: code, message: sqlite3_errmsg(handle).map { String(cString: $0) })
    }

    /// Runs statements that take nothing and give nothing.
    func execute(sql: String) throws(StoreError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }

    /// SQLite's own form of a statement; whoever asks for it finalizes it.
    func prepare(_ sql: String) throws(StoreError) -> OpaquePointer {
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK else { throw error(code) }
        guard let prepared else { throw .unavailable(reason: "an empty statement") }
        return prepared
    }

    /// The only value of the only row; `nil` where it is NULL or there is no row.
    func integer(_ sql: String) throws(StoreError) -> Int64? {
        let statement = try PreparedStatement(self, sql)
        return try statement.step() && !statement.isNull(0) ? statement.integer(0) : nil
    }

    /// As ``integer(_:)``.
    func text(_ sql: String) throws(StoreError) -> String? {
        let statement = try PreparedStatement(self, sql)
        return try statement.step() && !statement.isNull(0) ? statement.text(0) : nil
    }

    /// Rows that the last statement changed.
    var changesCount: Int { Int(sqlite3_changes(handle)) }

    /// Rows that statements have changed since the file was opened.
    var totalChangesCount: Int { Int(sqlite3_total_changes(handle)) }

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Makes all changes of `body`, or none where it throws. Nobody else writes meanwhile.
    func write<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try execute(sql: "BEGIN IMMEDIATE")
        do {
            let result = try body(self)
            try execute(sql: "COMMIT")
            return result
        } catch {
            // After some errors SQLite has ended it by itself. The first error counts.
            if isInTransaction { try? execute(sql: "ROLLBACK") }
            throw error
        }
    }

    /// Has every statement of this connection ask from time to time whether it is to go on. To be called once.
    func obey(_ bound: ReadBound) {
        self.bound = bound
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
        let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }

    /// Gives back pages that are only kept to be quick.
    func releaseMemory() { sqlite3_db_release_memory(handle) }

    /// Bytes of pages that are held.
    var cacheSize: Int {
        var (current, highest): (CInt, CInt) = (0, 0)
        sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_USED, &current, &highest, 0)
        return Int(current)
    }
}
