import BrokerAccessControl
import BrokerModel
import BrokerSQLite
import Glibc

/// The access database: grants, identifier keys and the audit, in a file of their own.
///
/// Only the event loop uses it: it is not `Sendable`. All functions are synchronous. Only `open` and `close`
/// wait for the disk. Grants are read from memory, and changes apply in memory at once. ``commit()`` writes
/// the changes and the audit records of one event loop iteration as one transaction, without waiting for the
/// disk. Before the broker announces a result that must survive a power cut, a worker runs ``walSync``.
///
/// A grant with a persistent binding (until revoked, or until a time) also has a row in the file. A grant
/// that is bound to a session or a process exists in memory only.
public final class AccessStore {
    let folder: StateFolder
    /// `nil` after the store is closed.
    var writer: AccessWriter?
    public let walSync: WALSync
    /// Set if records that an earlier run synced are missing from the file, or if it is unknown whether any
    /// are. Every grant was then denied at startup.
    public let loss: AuditLoss?

    var held = HeldGrants()
    var identifierKeys: [Principal: IdentifierKey] = [:]
    var intents: [Int64: SaveIntent] = [:]
    var pseudonyms: [UInt32: Pseudonyms] = [:]
    /// Keyed by persistent principal. Uses by its sessions and processes count toward it.
    var usages: [Principal: Usage] = [:]
    /// Whether some app has so many unwritten uses that the next commit writes them.
    var hasUnwrittenUses = false
    /// Keyed by UID.
    var owners: [UInt32: Owner] = [:]
    /// The known user names, by UID. The broker looks them up and sets them, because a look-up can block.
    public var userNames: [UInt32: String] = [:]
    /// Apps whose prompts are silenced, with the time of that decision in seconds since 1970.
    var silenced: [Principal: Int64] = [:]
    /// Contacts disclosed to apps without the person's password, keyed by UID. Each contact maps to the time
    /// of the disclosure, in seconds since 1970.
    var unconfirmed: [UInt32: [RecordNumber: Int64]] = [:]
    /// The folders that the person declared, keyed by UID and path.
    var declared: [UInt32: [String: DeclaredFolder]] = [:]
    var outboxMarks: [UInt32: OutboxMark]
    var writtenMarks: [UInt32: OutboxMark]
    /// Saves that are committed in a book but not in this store. Unlike the batch, they survive a failed
    /// commit.
    var undelivered: [Delivery] = []
    /// The maximum number of contacts named in one audit record of a save.
    public var contactsPerRecord = 250
    var commits = 0
    /// The number of the commit that contains the last decision.
    var lastDecision = 0
    var onDisk = Committed()
    var counters: Counters
    var writtenCounters: Counters
    /// The counters and ``forwarded`` as last written to the table `state`, and the time of the last audit record in that
    /// commit.
    var anchor: (counters: Counters, forwarded: Int64?, time: Int64)
    /// The sequence number of the last audit record that a second place took, or after which it began; `nil` if there
    /// never was a second place. A crash may set it back by a few records, never forward.
    public var forwarded: Int64?

    /// What retention removed last; `nil` if nothing. The records may still be in the file; see ``deleteRemoved(_:)``.
    public internal(set) var removal: AuditRemoval?

    var batch = Batch()
    /// The audit allowance and the open deduplication windows of each app.
    var ledger = AuditLedger()
    var unwritten = Unwritten()
    let auditSummary = AuditSummary()
    /// How many events there were since the store was opened, whether each has a record or is counted in one.
    public internal(set) var eventCounts: [CountedEvent: Int] = [:]

    /// Opens the store in a folder and records the start. Creates the folder and the database if they are missing.
    ///
    /// If the last run did not close the store, or if synced records are missing, an ``AuditEvent/gap`` is
    /// recorded before the start. A grant that cannot be read is denied and recorded; its row stays unchanged
    /// until the next decision.
    ///
    /// - Parameter now: microseconds since 1970.
    public static func open(folder path: String, now: Int64) throws(AccessStoreError) -> AccessStore {
        let folder = try StateFolder(path: path)
        let exists = try folder.prepareDatabase()
        let version = exists ? try Schema.inspect(path: folder.database) : 0
        // Read before the migration: afterwards the schema version says that a position file must exist.
        let position = try SyncedPosition(folder: folder.path, isFirst: version < Schema.keepsPosition)
        try folder.syncNames()
        // After the position: a database of this version without one counts as a loss.
        if !exists { try Schema.create(folder.database) }
        let writer = try AccessWriter(database: folder.database)
        var contents = try AccessContents(writer.connection, now: now)
        let loss = try contents.compare(with: position.found, writer.connection)
        let store = try AccessStore(folder: folder, writer: writer, contents: contents, position: position, loss: loss)
        for record in contents.findings { store.append(record) }
        if let loss {
            store.append(AuditRecord(time: now, uid: geteuid(), event: .gap, detail: loss.description))
            store.denyAll(now: now)
        } else if let last = contents.lastEvent, last != AuditEvent.stop.rawValue {
            store.append(AuditRecord(time: now, uid: geteuid(), event: .gap))
        }
        store.append(AuditRecord(time: now, uid: geteuid(), event: .start))
        try store.commit()
        try store.sync()
        try folder.syncNames()
        return store
    }

    /// Blocks until everything committed is synced, including the position file. Must not run on the event
    /// loop while the broker serves.
    private func sync() throws(AccessStoreError) {
        let committed = committed
        try walSync.sync(committed)
        try walSync.syncPosition()
        noteOnDisk(committed)
    }

    /// Denies every grant, and ends every declaration of a folder. The lost records may include denials, revocations and
    /// the ends of declarations, so none of them can be trusted.
    private func denyAll(now: Int64) {
        for folder in declared.values.flatMap(\.values) {
            endDeclaration(of: folder)
            append(
                AuditRecord(
                    time: now, uid: folder.uid, app: folder.path, strength: .declared, event: .declaration,
                    detail: "records were lost"))
        }
        for (principal, held) in held.grants(of: nil) where held.grant.access != .denied {
            let grant = Grant(
                access: .denied, keys: [], revision: nextRevision(), decidedBy: .administrator,
                decidedAt: now / 1_000_000)
            setGrant(
                grant, for: principal, displayName: held.displayName, at: SetMoment(change: 0, time: now / 1_000_000))
            append(
                AuditRecord(
                    time: now, uid: principal.uid, app: principal.app, strength: principal.strength,
                    event: .revocation, status: .denied, detail: "records were lost"))
        }
    }

    private init(
        folder: StateFolder, writer: AccessWriter, contents: AccessContents, position: SyncedPosition,
        loss: AuditLoss?
    ) throws(AccessStoreError) {
        self.folder = folder
        self.writer = writer
        self.loss = loss
        held = HeldGrants(contents.held)
        identifierKeys = contents.identifierKeys
        intents = contents.intents
        pseudonyms = contents.pseudonyms
        owners = contents.owners
        usages = contents.usages
        silenced = contents.silenced
        unconfirmed = contents.unconfirmed
        declared = contents.declared
        outboxMarks = contents.outboxMarks
        writtenMarks = contents.outboxMarks
        counters = contents.counters
        writtenCounters = contents.counters
        forwarded = contents.forwarded
        anchor = (contents.counters, contents.forwarded, 0)
        removal = contents.removal
        walSync = try WALSync(database: folder.database, position: position)
    }

    /// Releases memory that commits used.
    public func releaseMemory() { writer?.connection.releaseMemory() }

    // The connection closes before the folder's lock is released, so that no other broker opens the file in between.
    deinit { writer = nil }

    /// Records the stop, writes the remaining changes, and releases the folder. The store cannot be used afterwards.
    ///
    /// - Parameter now: microseconds since 1970.
    /// - Returns: the last record, if it is synced; `nil` if it is not, or if the store was closed already.
    @discardableResult
    public func close(now: Int64) -> AuditPosition? {
        guard writer != nil else { return nil }
        // The windows close before the stop is recorded. This commit adds their counts to the uses, and the
        // next commit writes the uses.
        closeWindows(at: nil)
        try? commit()
        append(AuditRecord(time: now, uid: geteuid(), event: .stop))
        // If this commit fails, the next start finds no stop record and records a gap.
        var last: AuditPosition?
        if (try? commit(withAllUses: true)) != nil, (try? sync()) != nil {
            last = lastPosition
            _ = try? writer?.connection.integer("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        writer = nil
        folder.release()
        return last
    }

    /// Returns the writer; throws if the store is closed.
    func openWriter() throws(AccessStoreError) -> AccessWriter {
        guard let writer else { throw .unavailable(reason: "the access database is closed") }
        return writer
    }

    /// The number of pages in the WAL after the last commit; see ``Checkpointer``.
    public var walPages: Int { writer?.walPages ?? 0 }

    public var checkpointer: Checkpointer { Checkpointer(database: folder.database) }
}
