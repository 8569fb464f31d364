import AccessControl
import ContactsModel
import GRDBSQLite

/// The connection that writes, with the statements of every commit at hand.
final class AccessWriter {
    let connection: SQLiteConnection
    private let begin: SQLiteStatement
    private let end: SQLiteStatement
    private let insertAudit: SQLiteStatement
    private let updateState: SQLiteStatement
    private let pages: UnsafeMutablePointer<Int32>
    private var canonical: [UInt8] = []

    init(database: String) throws(AccessStoreError) {
        connection = try SQLiteConnection(path: database, .readWrite)
        // Small pages, because a commit writes and checksums whole ones. For a new file only.
        try connection.execute("PRAGMA page_size = 1024")
        guard try connection.text("PRAGMA journal_mode = WAL") == "wal" else {
            throw .unavailable(reason: "the folder's file system has no write-ahead log for SQLite")
        }
        // NORMAL: a commit leaves syncing to `WALSync`. SQLite itself syncs only when the WAL starts over after
        // a checkpoint, once in a thousand pages: without that, old frames could come back after a power cut.
        try connection.execute(
            """
            PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA foreign_keys = ON;
            PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY
            """)
        try Schema.migrate(connection)
        begin = try SQLiteStatement("BEGIN IMMEDIATE", on: connection)
        end = try SQLiteStatement("COMMIT", on: connection)
        insertAudit = try SQLiteStatement(
            "INSERT INTO audit VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)", on: connection)
        updateState = try SQLiteStatement(
            """
            UPDATE state SET auditSequence = ?1, auditHead = ?2, revision = ?3, recordNumber = ?4, intent = ?5
            WHERE id = 1
            """, on: connection)
        pages = .allocate(capacity: 1)
        pages.initialize(to: 0)
        // The hook also takes the place of SQLite's own checkpointing.
        sqlite3_wal_hook(
            connection.handle,
            { @Sendable context, _, _, pages in
                context?.assumingMemoryBound(to: Int32.self).pointee = pages
                return SQLITE_OK
            }, pages)
    }

    deinit {
        sqlite3_wal_hook(connection.handle, nil, nil)
        pages.deallocate()
    }

    /// Pages in the WAL after the last commit.
    var walPages: Int { Int(pages.pointee) }

    /// Runs `body` as one transaction: all of it, or nothing.
    func transaction(_ body: () throws(AccessStoreError) -> Void) throws(AccessStoreError) {
        try begin.run()
        do throws(AccessStoreError) {
            try body()
            try end.run()
        } catch {
            // SQLite has taken it back by itself after some errors, such as a full disk.
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
    }

    func write(_ counters: Counters) throws(AccessStoreError) {
        try updateState.bind(1, counters.auditSequence).bind(2, counters.auditHead).bind(3, counters.revision)
            .bind(4, counters.recordNumber).bind(5, counters.intent).run()
    }

    func write(_ row: AuditRow, hash: [UInt8]) throws(AccessStoreError) {
        try insertAudit.bind(1, row.sequence).bind(2, row.time).bind(3, row.uid).bind(4, utf8: row.app)
            .bind(5, utf8: row.strength).bind(6, utf8: row.event).bind(7, utf8: row.status).bind(8, row.keys)
            .bind(9, row.count).bind(10, row.contacts).bind(11, row.revision).bind(12, row.repeats)
            .bind(13, utf8: row.detail).bind(14, hash).run()
    }

    func hash(_ row: AuditRow, after previous: [UInt8]) throws(AccessStoreError) -> [UInt8] {
        AuditChain.canonical(row, after: previous, into: &canonical)
        guard let hash = AuditChain.hash(canonical) else { throw .unavailable(reason: "libcrypto could not hash") }
        return hash
    }
}

/// Where the store's counters stand.
struct Counters: Equatable {
    var auditSequence: Int64 = 0
    var auditHead = AuditChain.beginning
    /// These never go back, not even with a commit that failed: what they counted may have been seen.
    var revision: Int64 = 0
    var recordNumber: Int64 = 0
    var intent: Int64 = 0
}
