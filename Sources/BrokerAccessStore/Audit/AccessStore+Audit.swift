import BrokerAccessControl
import BrokerDisclosure
import BrokerModel

extension AccessStore {
    /// Adds a record to the batch. It has its place in the chain once ``commit()`` has returned.
    ///
    /// A refusal or a disclosure that is equal to a recent one is counted in place of being added: the first one is on
    /// record, or is committed with this batch. The count follows when its window closes; see ``closeFolds(at:)``.
    public func append(_ record: AuditRecord) { ledger.enter(record, into: &batch.records) }

    /// When the first window closes, in microseconds since 1970; `nil` where none is open. See ``closeFolds(at:)``.
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

    /// Reads the audit off the loop.
    public var auditReader: AuditReader { AuditReader(database: folder.database, known: lastPosition) }

    var lastPosition: AuditPosition {
        AuditPosition(sequence: writtenCounters.auditSequence, hash: writtenCounters.auditHead)
    }
}
