import BrokerAccessControl
import BrokerModel
import BrokerSQLite
import GRDBSQLite

/// The connection that writes, with the statements of every commit at hand.
final class AccessWriter {
    let connection: Database
    private let begin: PreparedStatement
    private let end: PreparedStatement
    private let insertAudit: PreparedStatement
    private let updateState: PreparedStatement
    private let pages: UnsafeMutablePointer<Int32>
    private var canonical: [UInt8] = []
    private let insertCaller: PreparedStatement
    private let findCaller: PreparedStatement
    private var callers: [AuditCaller: Int64] = [:]
    /// Who wrote last is most often who writes next.
    private var latest: (caller: AuditCaller, id: Int64)?
    private static let mostCallers = 4_096

    init(database: String) throws(AccessStoreError) {
        connection = try Database.open(database, .readWrite)
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
        begin = try PreparedStatement("BEGIN IMMEDIATE", on: connection)
        end = try PreparedStatement("COMMIT", on: connection)
        insertAudit = try PreparedStatement(
            "INSERT INTO audit VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)", on: connection)
        insertCaller = try PreparedStatement(
            "INSERT INTO auditCaller (uid, strength, app) VALUES (?1, ?2, ?3) RETURNING id", on: connection)
        findCaller = try PreparedStatement(
            "SELECT id FROM auditCaller WHERE app = ?3 AND uid = ?1 AND coalesce(strength, '') = coalesce(?2, '')",
            on: connection)
        updateState = try PreparedStatement(
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
            // Who was new is not in the file.
            callers.removeAll()
            latest = nil
            // SQLite has taken it back by itself after some errors, such as a full disk.
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
    }

    func write(_ counters: Counters) throws(AccessStoreError) {
        try updateState.bind(1, counters.auditSequence).bind(2, counters.auditHead).bind(3, counters.revision)
            .bind(4, counters.recordNumber).bind(5, counters.intent).run()
    }

    func write(_ row: AuditRow<String>, hash: [UInt8]) throws(AccessStoreError) {
        let caller = try number(of: AuditCaller(uid: row.uid, strength: row.strength, app: row.app))
        try insertAudit.bind(1, row.sequence).bind(2, row.time).bind(3, caller).bind(4, text: row.event)
            .bind(5, text: row.status).bind(6, row.keys).bind(7, row.count).bind(8, row.contacts).bind(9, row.revision)
            .bind(10, row.repeats).bind(11, text: row.detail).bind(12, hash).run()
    }

    private func number(of caller: AuditCaller) throws(AccessStoreError) -> Int64 {
        if let latest, latest.caller == caller { return latest.id }
        let id: Int64
        if let known = callers[caller] { id = known } else { id = try find(caller) }
        if callers.count >= Self.mostCallers { callers.removeAll() }
        callers[caller] = id
        latest = (caller, id)
        return id
    }

    private func find(_ caller: AuditCaller) throws(AccessStoreError) -> Int64 {
        if let known = try number(findCaller, caller) { return known }
        guard let new = try number(insertCaller, caller) else {
            throw .unavailable(reason: "who an audit record is about could not be written")
        }
        return new
    }

    private func number(_ statement: PreparedStatement, _ caller: AuditCaller) throws(AccessStoreError) -> Int64? {
        statement.bind(1, caller.uid).bind(2, text: caller.strength).bind(3, text: caller.app)
        var id: Int64?
        while try statement.step() { id = statement.integerOrNil(0) }
        return id
    }

    func hash(_ row: AuditRow<some AuditText>, after previous: [UInt8]) throws(AccessStoreError) -> [UInt8] {
        AuditChain.canonical(row, after: previous, into: &canonical)
        guard let hash = AuditChain.hash(canonical) else { throw .unavailable(reason: "libcrypto could not hash") }
        return hash
    }
}

/// Who an audit record is about, as its row names it.
private struct AuditCaller: Hashable {
    let uid: Int64
    let strength: String?
    let app: String
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
