import BrokerAccessControl
import BrokerBounds
import BrokerDisclosure
import BrokerModel

extension AccessStore {
    /// Adds a record to the batch. Its position in the chain is fixed when ``commit()`` returns.
    ///
    /// A refusal, a disclosure, a password request or a prompt that was not shown, if it equals a recent one, is counted
    /// instead of added.
    /// The earlier record is in the audit or in this batch. The count is added when the deduplication window
    /// closes; see ``closeWindows(at:)``.
    public func append(_ record: AuditRecord) {
        eventCounts[CountedEvent(event: record.event, status: record.status), default: 0] += 1
        ledger.enter(record, into: &batch.records)
    }

    /// When the first deduplication window closes, in microseconds since 1970; `nil` if none is open. See
    /// ``closeWindows(at:)``.
    public var nextWindowEnd: Int64? { ledger.nextEnd }

    /// Closes the deduplication windows that have ended and adds their counts.
    ///
    /// - Parameter now: microseconds since 1970; `nil` closes all of them.
    public func closeWindows(at now: Int64?) { ledger.close(at: now, into: &batch.records) }

    /// Returns how long an app must wait before it may cause another record, if it, its user or all strangers have used
    /// up their audit allowance; otherwise `nil`. The store records everything regardless; the broker delays the app's
    /// calls.
    ///
    /// - Parameter now: microseconds since 1970.
    public func auditWait(uid: UInt32, strength: IdentityStrength, app: String, now: Int64) -> Duration? {
        ledger.wait(AuditLedger.Owner(uid: uid, strength: strength, app: app), now: now)
    }

    /// Whether some app may have used up its audit allowance. If not, ``auditWait(uid:strength:app:now:)`` returns
    /// `nil` for every app.
    public var hasExhaustedApps: Bool { ledger.hasExhausted }

    /// The audit's bounds: for each app, for each user, and for all apps together. Set them before the first
    /// call is answered.
    public var auditBounds: AuditBounds {
        get { ledger.bounds }
        set { ledger.bounds = newValue }
    }

    /// Whether a UID belongs to a user of this machine. All others are strangers. It must not block. Set it before the first
    /// call is answered.
    public var isUser: (_ uid: UInt32) -> Bool {
        get { ledger.isUser }
        set { ledger.isUser = newValue }
    }

    /// The sequence number of the last committed record.
    public var auditCount: Int64 { writtenCounters.auditSequence }

    /// Returns a new reader, for use on a worker.
    public var auditReader: AuditReader {
        AuditReader(
            database: folder.database, known: lastPosition, summary: auditSummary,
            after: removal?.last.sequence ?? 0)
    }

    var lastPosition: AuditPosition {
        AuditPosition(sequence: writtenCounters.auditSequence, hash: writtenCounters.auditHead)
    }
}

/// A kind of events that the store counts: the event, and the app's level after it.
public struct CountedEvent: Hashable, Sendable {
    public let event: AuditEvent
    public let status: AuthorizationStatus?
}
