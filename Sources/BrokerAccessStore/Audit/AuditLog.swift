import BrokerAccessControl
import BrokerBounds
import BrokerDisclosure
import BrokerModel

/// The audit of an open store. It takes records, counts repeats, and writes the records of a commit to the chain.
///
/// Only the event loop uses it, like the store.
public final class AuditLog {
    let file: AccessFile
    /// The keys of the contacts' pseudonyms.
    public let pseudonyms: PseudonymKeys
    /// The audit allowance and the open deduplication windows of each app.
    private(set) var ledger = AuditLedger()
    private let summary = AuditSummary()
    /// The records that the next commit writes.
    private(set) var records: [AuditRecord] = []
    /// The last committed record.
    public private(set) var last: AuditPosition
    /// The end of the chain: the last record, or during a commit the one that was written last.
    private(set) var end: AuditPosition
    /// What retention removed last; `nil` if nothing. The records may still be in the file; see ``deleteRemoved(_:)``.
    public private(set) var removal: AuditRemoval?
    /// The removal that the next commit announces. Its last record is the announcement.
    var announced: AuditRemoval?
    /// The sequence number of the last audit record that a second place took, or after which it began; `nil` if there
    /// never was a second place. A crash may set it back by a few records, never forward.
    public var forwarded: Int64?
    /// How many events there were since the store was opened, whether each has a record or is counted in one.
    public private(set) var eventCounts: [CountedEvent: Int] = [:]

    /// The maximum number of revocation and count records that are kept while commits fail.
    private static let mostKeptRecords = 1_024

    init(file: AccessFile, pseudonyms: PseudonymKeys, end: AuditPosition, removal: AuditRemoval?, forwarded: Int64?) {
        self.file = file
        self.pseudonyms = pseudonyms
        self.end = end
        self.removal = removal
        self.forwarded = forwarded
        last = end
    }

    /// Adds a record to the batch. Its position in the chain is fixed when ``AccessStore/commit()`` returns.
    ///
    /// A refusal, a disclosure, a password request or a prompt that was not shown, if it equals a recent one, is counted
    /// instead of added.
    /// The earlier record is in the audit or in this batch. The count is added when the deduplication window
    /// closes; see ``closeWindows(at:)``.
    public func append(_ record: AuditRecord) {
        eventCounts[CountedEvent(event: record.event, status: record.status), default: 0] += 1
        ledger.enter(record, into: &records)
    }

    /// When the first deduplication window closes, in microseconds since 1970; `nil` if none is open. See
    /// ``closeWindows(at:)``.
    public var nextWindowEnd: Int64? { ledger.nextEnd }

    /// Closes the deduplication windows that have ended and adds their counts.
    ///
    /// - Parameter now: microseconds since 1970; `nil` closes all of them.
    public func closeWindows(at now: Int64?) { ledger.close(at: now, into: &records) }

    /// Returns how long an app must wait before it may cause another record, if it, its user or all strangers have used
    /// up their audit allowance; otherwise `nil`. The store records everything regardless; the broker delays the app's
    /// calls.
    ///
    /// - Parameter now: microseconds since 1970.
    public func wait(uid: UInt32, strength: IdentityStrength, app: String, now: Int64) -> Duration? {
        ledger.wait(AuditLedger.Owner(uid: uid, strength: strength, app: app), now: now)
    }

    /// Whether some app may have used up its audit allowance. If not, ``wait(uid:strength:app:now:)`` returns
    /// `nil` for every app.
    public var hasExhaustedApps: Bool { ledger.hasExhausted }

    /// The audit's bounds: for each app, for each user, and for all apps together. Set them before the first
    /// call is answered.
    public var bounds: AuditBounds {
        get { ledger.bounds }
        set { ledger.bounds = newValue }
    }

    /// Whether a UID belongs to a user of this machine. All others are strangers. It must not block. Set it before the first
    /// call is answered.
    public var isUser: (_ uid: UInt32) -> Bool {
        get { ledger.isUser }
        set { ledger.isUser = newValue }
    }

    /// Returns a new reader, for use on a worker.
    public var reader: AuditReader {
        AuditReader(
            database: file.folder.database, known: last, summary: summary, after: removal?.last.sequence ?? 0)
    }

    // MARK: Commits

    var hasUncommitted: Bool { !records.isEmpty || pseudonyms.hasUncommitted }

    /// Returns the rows of the batch. May make pseudonym keys, so call it before the transaction, which then writes them.
    func rows() throws(AccessStoreError) -> [AuditRow<String>] {
        var sequence = last.sequence
        var rows: [AuditRow<String>] = []
        rows.reserveCapacity(records.count)
        for record in records {
            sequence += 1
            let contacts = record.contacts.map { pseudonyms.pseudonyms(of: $0, uid: record.uid) }
            if let failure = pseudonyms.failure { throw failure }
            rows.append(AuditRow(record, sequence: sequence, contacts: contacts ?? nil))
        }
        return rows
    }

    /// Writes the rows of the batch within its transaction.
    func write(_ rows: [AuditRow<String>], _ writer: AccessWriter) throws(AccessStoreError) {
        for row in rows {
            let hash = try AuditChain.hash(row, after: end.hash, &writer.canonical)
            try writer.write(row, hash: hash)
            end = AuditPosition(sequence: row.sequence, hash: hash)
        }
        try writeRemoval(writer.connection)
    }

    func committed() {
        removal = announced ?? removal
        announced = nil
        last = end
        ledger.committed()
        pseudonyms.committed()
        // Keeps the array's buffer if it is small, because most batches contain only a few records.
        records.removeAll(keepingCapacity: records.capacity <= 256)
    }

    func rolledBack() {
        end = last
        announced = nil
        // Removes the windows opened since the last commit. Their first records were not written, so a repeat
        // count would refer to a missing record.
        ledger.rolledBack()
        pseudonyms.rolledBack()
        let kept = records.filter { $0.event == .revocation } + records.filter { $0.repeats != nil }
        records = Array(kept.prefix(Self.mostKeptRecords))
    }
}

/// A kind of events that the audit counts: the event, and the app's level after it.
public struct CountedEvent: Hashable, Sendable {
    public let event: AuditEvent
    public let status: AuthorizationStatus?
}

extension AuditRow<String> {
    init(_ record: AuditRecord, sequence: Int64, contacts: [UInt8]?) {
        self.init(
            sequence: sequence, time: record.time, uid: Int64(record.uid), app: record.app,
            strength: record.strength?.rawValue, event: record.event.rawValue,
            status: record.status?.rawValue,
            keys: record.keys.map { Int64(bitPattern: $0.rawValue) }, count: record.count.map(Int64.init),
            contacts: contacts, revision: record.revision, repeats: record.repeats.map(Int64.init),
            detail: record.detail)
    }
}
