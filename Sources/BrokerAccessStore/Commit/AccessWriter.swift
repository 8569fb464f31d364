import BrokerAccessControl
import BrokerModel
import BrokerSQLite
import CBrokerSQLite

/// The connection that writes the access database.
final class AccessWriter {
    let connection: Database
    // Statements that every commit runs.
    private let begin: PreparedStatement
    private let end: PreparedStatement
    private let insertRecord: PreparedStatement
    private let pages: UnsafeMutablePointer<Int32>
    /// A reusable buffer for ``AuditChain/hash(_:after:_:)``.
    var canonical: [UInt8] = []
    private var callers: [AuditCaller: Int64] = [:]
    private static let mostCallers = 4_096

    init(database: String) throws(AccessStoreError) {
        connection = try Database.open(database, .readWrite)
        try connection.useLog()
        // NORMAL: a commit leaves syncing to `WALSync`. SQLite itself syncs only when the WAL starts over
        // after a checkpoint, about once in a thousand pages. Without that sync, old frames could come back
        // after a power cut.
        try connection.execute(
            """
            PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA foreign_keys = ON;
            PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY
            """)
        try Schema.migrate(connection)
        begin = try PreparedStatement("BEGIN IMMEDIATE", on: connection)
        end = try PreparedStatement("COMMIT", on: connection)
        insertRecord = try PreparedStatement(
            "INSERT INTO audit VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)", on: connection)
        pages = .allocate(capacity: 1)
        pages.initialize(to: 0)
        // The hook also replaces SQLite's automatic checkpoints.
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

    /// The number of pages in the WAL after the last commit.
    var walPages: Int { Int(pages.pointee) }

    /// Runs `body` as one transaction, which is rolled back if `body` throws.
    func transaction(_ body: () throws(AccessStoreError) -> Void) throws(AccessStoreError) {
        try begin.run()
        do throws(AccessStoreError) {
            try body()
            try end.run()
        } catch {
            // Callers that this transaction inserted are not in the file.
            callers.removeAll()
            // After some errors, such as a full disk, SQLite has already rolled back.
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
    }

    /// - Parameter end: the end of the chain.
    func write(_ counters: Counters, _ end: AuditPosition, forwarded: Int64?) throws(AccessStoreError) {
        try connection.statement(
            """
            UPDATE state
            SET auditSequence = ?1, auditHead = ?2, revision = ?3, recordNumber = ?4, intent = ?5, forwarded = ?6
            WHERE id = 1
            """
        )
        .bind(1, end.sequence).bind(2, end.hash).bind(3, counters.revision)
        .bind(4, counters.recordNumber).bind(5, counters.intent).bind(6, forwarded).run()
    }

    func write(_ row: AuditRow<String>, hash: [UInt8]) throws(AccessStoreError) {
        let caller = try number(of: AuditCaller(uid: row.uid, strength: row.strength, app: row.app))
        try insertRecord.bind(1, row.sequence).bind(2, row.time).bind(3, caller).bind(4, text: row.event)
            .bind(5, text: row.status).bind(6, row.keys).bind(7, row.count).bind(8, row.contacts).bind(9, row.revision)
            .bind(10, row.repeats).bind(11, text: row.detail).bind(12, hash).run()
    }

    private func number(of caller: AuditCaller) throws(AccessStoreError) -> Int64 {
        if let known = callers[caller] { return known }
        let find =
            "SELECT id FROM auditCaller WHERE app = ?3 AND uid = ?1 AND coalesce(strength, '') = coalesce(?2, '')"
        let insert = "INSERT INTO auditCaller (uid, strength, app) VALUES (?1, ?2, ?3) RETURNING id"
        var found = try number(find, caller)
        if found == nil { found = try number(insert, caller) }
        guard let found else { throw .unavailable(reason: "the caller of an audit record could not be written") }
        if callers.count >= Self.mostCallers { callers.removeAll() }
        callers[caller] = found
        return found
    }

    private func number(_ sql: String, _ caller: AuditCaller) throws(AccessStoreError) -> Int64? {
        try connection.statement(sql).bind(1, caller.uid).bind(2, text: caller.strength).bind(3, text: caller.app)
            .all { $0.integer(0) }.last
    }
}

/// The app that an audit record is about, as a row of the table `auditCaller`.
private struct AuditCaller: Hashable {
    let uid: Int64
    let strength: String?
    let app: String
}

/// The counters in the only row of the table `state`. They never decrease, not even when a commit fails: their values may
/// already be in use.
struct Counters: Equatable {
    var revision: Int64 = 0
    var recordNumber: Int64 = 0
    var intent: Int64 = 0
}
