import BrokerAccessStore
import BrokerBounds
import BrokerVarlink

/// Stores audit records in a second place, such as a central log server.
///
/// The broker calls one method at a time. It calls ``take(_:_:)`` only after the previous call is done.
public protocol AuditKeeper: Sendable {
    /// Takes records, in the order of the audit chain. After a restart, it may get the last ones again.
    ///
    /// - Parameter done: must be called with `true` if all records were taken, and otherwise with `false`.
    ///   After `false`, the broker sends the same records again later.
    func take(_ records: [AuditEntry], _ done: @escaping @Sendable (_ taken: Bool) -> Void)
}

/// Hands records to a keeper: in order, without gaps, and each at least once. It lives on the event loop.
///
/// Only synced records are handed over. Otherwise, a power cut could leave the keeper with a record that the
/// broker's audit lost and later replaced with a different one.
///
/// The audit file is the queue, as for ``AuditFollower``: a slow or unreachable keeper delays no caller and
/// loses no record. Replies wait only for the broker's own audit, not for the keeper. The position is in the access
/// database, whose first keeper ever begins with the next record.
final class AuditForwarder {
    private let keeper: any AuditKeeper
    private let access: AccessStore
    private weak var feed: AuditFeed?
    /// The sequence number of the last record that the keeper took.
    private(set) var position: Int64 {
        get { access.audit.forwarded ?? 0 }
        set { access.audit.forwarded = newValue }
    }
    /// The sequence number of the last record known to be synced.
    private var synced: Int64 = 0
    /// Whether the keeper is taking records, or a read of the audit is running or scheduled.
    private var isBusy = false

    init(_ keeper: any AuditKeeper, feed: AuditFeed, access: AccessStore) {
        self.keeper = keeper
        self.feed = feed
        self.access = access
        // If the keeper is ahead of the audit, the audit was replaced by an older one.
        position = min(access.audit.forwarded ?? feed.head, feed.head)
    }

    func onDisk(upTo count: Int64) {
        synced = max(synced, count)
        if !isBusy { next() }
    }

    private func next() {
        isBusy = synced > position
        if isBusy { read() }
    }

    private func tryAgain() {
        guard let feed else { return }
        feed.surroundings.loop.later(after: feed.surroundings.limits.keeperRetry) { [self] in read() }
    }

    private func read() {
        guard let feed else { return }
        let (position, head) = (position, synced)
        let limit = min(feed.surroundings.limits.auditRecordsPerBatch, Int(head - position))
        feed.read(
            { (reader) throws(AccessStoreError) in
                try reader.records(matching: AuditFilter(), after: position, limit: limit)
            }, failed: { [weak self] in self?.tryAgain() }
        ) { [weak self] records in self?.hand(over: records, head: head) }
    }

    private func hand(over records: [AuditEntry], head: Int64) {
        guard let last = records.last?.sequence else {
            // Records are missing from the audit, although their sequence numbers were used. Verification
            // reports them; the forwarder skips them.
            position = head
            return next()
        }
        guard let surroundings = feed?.surroundings else { return }
        let (loop, limits) = (surroundings.loop, surroundings.limits)
        let bound = LoopBound(self, loop: loop)
        // A full batch is part of a long queue. The pause leaves time for the keeper's other senders.
        let pause = records.count < limits.auditRecordsPerBatch ? nil : limits.keeperPause
        keeper.take(records) { taken in
            loop.execute {
                let forwarder = bound.value
                guard taken else { return forwarder.tryAgain() }
                forwarder.position = last
                guard let pause else { return forwarder.next() }
                loop.later(after: pause) { bound.value.next() }
            }
        }
    }
}
