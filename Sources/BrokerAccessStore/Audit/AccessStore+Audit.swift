import BrokerAccessControl
import BrokerDisclosure
import BrokerModel

extension AccessStore {
    /// Adds a record to the batch. It has its place in the chain once ``commit()`` has returned.
    ///
    /// A refusal or a disclosure that is equal to a recent one is counted in place of being added: the first one is on
    /// record, or is committed with this batch. The count follows when its window closes; see ``closeFolds(at:)``.
    public func append(_ record: AuditRecord) { ledger.enter(record, into: &batch.records) }

    /// Windows within which equal records are counted are open; see ``closeFolds(at:)``.
    public var hasOpenFolds: Bool { ledger.hasOpenWindows }

    /// When the first window closes, in microseconds since 1970.
    public var nextFoldEnd: Int64? { ledger.nextEnd }

    /// Adds the counts of the windows that are over.
    ///
    /// - Parameter now: microseconds since 1970; `nil` closes all of them.
    public func closeFolds(at now: Int64?) { ledger.close(at: now, into: &batch.records) }

    /// How long an app that has used up its share of the audit must wait before it may cause another record; `nil` where
    /// it need not. What is recorded is on record all the same: it is for the caller to hold the app's calls.
    ///
    /// - Parameter now: microseconds since 1970.
    public func auditWait(uid: UInt32, strength: IdentityStrength, app: String, now: Int64) -> Duration? {
        ledger.wait(AuditLedger.Owner(uid: uid, strength: strength, app: app), now: now)
    }

    /// Some app may have used up its share; where none has, ``auditWait(uid:strength:app:now:)`` is `nil` for all.
    public var hasExhaustedApps: Bool { ledger.hasExhausted }

    /// What one app may write; set it before the first call is answered.
    public var auditBounds: AuditBounds {
        get { ledger.bounds }
        set { ledger.bounds = newValue }
    }

    /// Records in the chain.
    public var auditCount: Int64 { writtenCounters.auditSequence }

    /// The last record's hash, in hexadecimal digits.
    public var auditHead: String { Hexadecimal.text(writtenCounters.auditHead) }

    /// Records that match, in the order of the chain.
    ///
    /// Looks at every record beyond `sequence` until it has enough; off the loop use ``auditReader``.
    ///
    /// - Parameters:
    ///   - sequence: only records after this one; with `newestFirst`, only records before it.
    ///   - newestFirst: the order of the chain from its end.
    public func records(
        matching filter: AuditFilter, after sequence: Int64?, limit: Int, newestFirst: Bool = false
    ) throws(AccessStoreError) -> [AuditEntry] {
        let query = AuditQuery(connection: try openWriter().connection)
        return try query.records(matching: filter, after: sequence, limit: limit, newestFirst: newestFirst)
    }

    /// Walks the chain for at most `rows` records, from the first or where the last step ended.
    ///
    /// Finds every record that was changed, taken away, added or moved, and a tail cut off. Who can write the file can
    /// also compute a whole chain anew: only a head that was noted elsewhere shows that.
    public func verify(from: Int64?, budget rows: Int) throws(AccessStoreError) -> AuditVerification {
        try AuditQuery(connection: try openWriter().connection).verify(from: from, budget: rows, known: lastPosition)
    }

    /// Reads the audit off the loop.
    public var auditReader: AuditReader { AuditReader(database: folder.database, known: lastPosition) }

    var lastPosition: AuditPosition {
        AuditPosition(sequence: writtenCounters.auditSequence, hash: writtenCounters.auditHead)
    }
}
