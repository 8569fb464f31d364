import BrokerAccessControl
import BrokerModel
import BrokerSQLite
import Glibc

/// What the people said and what was told to whom: grants, identifier keys and the audit, in a file of their own.
///
/// Its one owner is the loop: it is not `Sendable`, and all its functions are synchronous and quick. Grants are answered
/// from memory. Changes take effect in memory at once and are collected; ``commit()`` writes them and the audit records
/// of one loop turn as one transaction, without waiting for the disk. What must outlive a power cut before somebody is
/// told waits for ``walSync``, off the loop.
///
/// A standing grant (until revoked, or until a time) is a row too. One that hangs on a session or a process lives in
/// memory and is never written.
public final class AccessStore {
    let folder: StateFolder
    /// `nil` once closed.
    var writer: AccessWriter?
    public let walSync: WALSync
    /// What the last run had on the disk, and this one did not find. Every grant was denied then.
    public let loss: AuditLoss?

    var held: [Principal: HeldGrant] = [:]
    var identifierKeys: [Principal: IdentifierKey] = [:]
    var intents: [Int64: SaveIntent] = [:]
    var pseudonyms: [UInt32: Pseudonyms] = [:]
    /// By standing principal: its sessions and processes count with it.
    var usages: [Principal: Usage] = [:]
    /// Some app has gathered enough uses to write them.
    var hasUnwrittenUses = false
    /// Whose each user number is.
    var owners: [UInt32: Owner] = [:]
    /// What the system calls users, as far as it was asked. Looking a name up can wait, so that this store does not.
    public var userNames: [UInt32: String] = [:]
    /// Apps that nobody is to be asked about again, with the time since when, in seconds since 1970.
    var silenced: [Principal: Int64] = [:]
    /// By user, how far the outbox of their book was taken over.
    var outboxMarks: [UInt32: Int64]
    var writtenMarks: [UInt32: Int64]
    /// Saves that are in a book and not in a commit. Unlike the batch they outlive one that failed.
    var undelivered: [Delivery] = []
    /// Most contacts named in one record of a save.
    public var contactsPerRecord = 250
    var commits = 0
    /// The commit that has the last decision.
    var lastDecision = 0
    var onDisk = Committed()
    var counters: Counters
    var writtenCounters: Counters
    /// What the file's own row of counters says, and the time of the last record then.
    var anchor: (counters: Counters, time: Int64)

    var batch = Batch()
    /// What each app has written of late, and what is only counted.
    var ledger = AuditLedger()
    var unwritten = Unwritten()

    /// Opens the store of a folder, making both where there are none, and records the start.
    ///
    /// Where the last run ended without closing, a ``AuditEvent/gap`` is recorded first. A grant that cannot be read
    /// counts as denied and is recorded; its row stays as it is until somebody decides anew.
    ///
    /// - Parameter now: microseconds since 1970.
    public static func open(folder path: String, now: Int64) throws(AccessStoreError) -> AccessStore {
        let folder = try StateFolder(path: path)
        let version = try folder.prepareDatabase() ? try Schema.inspect(path: folder.database) : 0
        // Before the database says that there is one.
        let position = try SyncedPosition(folder: folder.path, isFirst: version < Schema.keepsPosition)
        try folder.syncNames()
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

    /// Waits until everything that is committed is on the disk, and that it is. Not for the loop while it serves.
    private func sync() throws(AccessStoreError) {
        let committed = committed
        try walSync.sync(committed)
        try walSync.syncPosition()
        noteOnDisk(committed)
    }

    /// Records were lost, and with them perhaps refusals and revocations. So nothing that is granted is believed any more.
    private func denyAll(now: Int64) {
        for (principal, held) in held where held.grant.access != .denied {
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
        held = contents.held
        identifierKeys = contents.identifierKeys
        intents = contents.intents
        pseudonyms = contents.pseudonyms
        owners = contents.owners
        usages = contents.usages
        silenced = contents.silenced
        outboxMarks = contents.outboxMarks
        writtenMarks = contents.outboxMarks
        counters = contents.counters
        writtenCounters = contents.counters
        anchor = (contents.counters, 0)
        walSync = try WALSync(database: folder.database, position: position)
    }

    /// Gives back the memory that commits have taken.
    public func rest() { writer?.connection.releaseMemory() }

    // The connection goes before the folder's lock, so that nobody opens the file in between.
    deinit { writer = nil }

    /// Records the stop, writes what is left, and lets go of the folder. The store is of no further use.
    ///
    /// - Parameter now: microseconds since 1970.
    public func close(now: Int64) {
        guard writer != nil else { return }
        // Before the stop, in a commit of their own: what they count as uses is written with the next.
        closeFolds(at: nil)
        try? commit()
        append(AuditRecord(time: now, uid: geteuid(), event: .stop))
        // What cannot be written now is missed by the next start, which records the gap.
        if (try? commit(withAllUses: true)) != nil, (try? sync()) != nil {
            _ = try? writer?.connection.integer("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        writer = nil
        folder.release()
    }

    /// What works while the store is open.
    func openWriter() throws(AccessStoreError) -> AccessWriter {
        guard let writer else { throw .unavailable(reason: "the access database is closed") }
        return writer
    }

    /// Pages in the WAL after the last commit; see ``Checkpointer``.
    public var walPages: Int { writer?.walPages ?? 0 }

    public var checkpointer: Checkpointer { Checkpointer(database: folder.database) }
}
