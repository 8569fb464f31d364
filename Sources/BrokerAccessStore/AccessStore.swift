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
    let file: AccessFile
    /// Set if records that an earlier run synced are missing from the file, or if it is unknown whether any
    /// are. Every grant was then denied at startup.
    public let loss: AuditLoss?

    /// The audit. The records of a batch are committed with its other changes.
    public let audit: AuditLog
    /// The users for whom something is stored.
    public let owners: Owners
    /// Apps whose prompts are silenced.
    public let silences: Silences
    /// Contacts disclosed to apps without the person's password.
    /// Those that apps got.
    public let unconfirmed: UnconfirmedContacts
    /// Those that apps changed or deleted.
    public let changed: UnconfirmedContacts
    /// The folders that the person declared.
    public let declarations: FolderDeclarations
    /// The connections of programs that speak CardDAV.
    public let connections: CardDAVConnections

    var held = HeldGrants()
    var identifierKeys: [Principal: IdentifierKey] = [:]
    var intents: [Int64: SaveIntent] = [:]
    var usages: Usages
    var outboxMarks: OutboxMarks
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
    var anchor: Anchor

    var batch = Batch()
    var unwritten = Unwritten()

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
        let file = try AccessFile(folder: folder, writer: writer, position: position)
        let store = AccessStore(file: file, contents: contents, loss: loss)
        for record in contents.findings { store.audit.append(record) }
        if let loss {
            store.audit.append(AuditRecord(time: now, uid: geteuid(), event: .gap, detail: loss.description))
            store.denyAll(now: now)
        } else if let last = contents.lastEvent, last != AuditEvent.stop.rawValue {
            store.audit.append(AuditRecord(time: now, uid: geteuid(), event: .gap))
        }
        store.audit.append(AuditRecord(time: now, uid: geteuid(), event: .start))
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
        for folder in declarations.all {
            declarations.end(folder)
            audit.append(
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
            audit.append(
                AuditRecord(
                    time: now, uid: principal.uid, app: principal.app, strength: principal.strength,
                    event: .revocation, status: .denied, detail: "records were lost"))
        }
    }

    private init(file: AccessFile, contents: AccessContents, loss: AuditLoss?) {
        self.file = file
        self.loss = loss
        owners = Owners(contents.owners)
        audit = AuditLog(
            file: file, pseudonyms: PseudonymKeys(contents.pseudonyms, owners: owners), end: contents.end,
            removal: contents.removal, forwarded: contents.forwarded)
        silences = Silences(contents.silenced, owners: owners)
        unconfirmed = UnconfirmedContacts(
            "unconfirmed", contents.unconfirmed["unconfirmed"] ?? [:], owners: owners)
        changed = UnconfirmedContacts(
            "changedContact", contents.unconfirmed["changedContact"] ?? [:], owners: owners)
        declarations = FolderDeclarations(contents.declared, owners: owners)
        connections = CardDAVConnections(contents.connections, owners: owners)
        held = HeldGrants(contents.held)
        identifierKeys = contents.identifierKeys
        intents = contents.intents
        usages = Usages(contents.usages)
        outboxMarks = OutboxMarks(contents.outboxMarks)
        counters = contents.counters
        writtenCounters = contents.counters
        anchor = Anchor(
            counters: contents.counters, end: contents.end.sequence, forwarded: contents.forwarded, time: 0)
    }

    /// Releases memory that commits used.
    public func releaseMemory() { file.writer?.connection.releaseMemory() }

    /// Records the stop, writes the remaining changes, and releases the folder. The store cannot be used afterwards.
    ///
    /// - Parameter now: microseconds since 1970.
    /// - Returns: the last record, if it is synced; `nil` if it is not, or if the store was closed already.
    @discardableResult
    public func close(now: Int64) -> AuditPosition? {
        guard file.writer != nil else { return nil }
        // The windows close before the stop is recorded. This commit adds their counts to the uses, and the
        // next commit writes the uses.
        audit.closeWindows(at: nil)
        try? commit()
        audit.append(AuditRecord(time: now, uid: geteuid(), event: .stop))
        // If this commit fails, the next start finds no stop record and records a gap.
        var last: AuditPosition?
        if (try? commit(withAllUses: true)) != nil, (try? sync()) != nil {
            last = audit.last
            _ = try? file.writer?.connection.integer("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        file.close()
        return last
    }

    /// The number of pages in the WAL after the last commit; see ``Checkpointer``.
    public var walPages: Int { file.writer?.walPages ?? 0 }

    /// Syncs what was committed; for use on a worker.
    public var walSync: WALSync { file.walSync }

    public var checkpointer: Checkpointer { Checkpointer(database: file.folder.database) }
}
