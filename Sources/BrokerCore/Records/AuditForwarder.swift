import BrokerAccessStore
import BrokerVarlink

/// Stores audit records in a second place, such as a central log server.
///
/// Methods may be called on any queue, one at a time.
public protocol AuditKeeper: Sendable {
    /// The sequence number of the last record taken; `nil` if none was taken yet, and forwarding starts with the next
    /// record.
    var position: Int64? { get }

    /// Sets the sequence number after which records follow, if ``position`` says another. The keeper stores it as its
    /// position, which then survives a restart even if no record was taken. Called on the event loop.
    func begin(after sequence: Int64)

    /// Takes records in the order of the chain.
    ///
    /// - Parameter done: whether all of them were taken. If not, the same records are sent again later.
    func take(_ records: [AuditEntry], _ done: @escaping @Sendable (_ taken: Bool) -> Void)
}

/// Hands every record to a keeper: in order, without gaps, and each at least once. It lives on the event loop.
///
/// Only synced records are handed over: otherwise a power cut could leave the keeper with a record that another one
/// replaces in the broker's audit.
///
/// The audit file is the queue, as for ``AuditFollower``: a slow or unreachable keeper delays nobody and loses
/// nothing. Replies do not wait for the keeper either; the broker's own audit is what counts.
final class AuditForwarder {
    private let keeper: any AuditKeeper
    private weak var feed: AuditFeed?
    private var position: Int64
    /// The sequence number of the last record known to be synced.
    private var synced: Int64 = 0
    /// The keeper has records, or a read of the file is running or scheduled.
    private var isBusy = false

    init(_ keeper: any AuditKeeper, feed: AuditFeed) {
        self.keeper = keeper
        self.feed = feed
        let head = feed.head
        // A keeper that is ahead of the audit has seen one that was replaced by an older audit.
        position = min(keeper.position ?? head, head)
        if keeper.position != position { keeper.begin(after: position) }
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
            // The file lacks records that the count includes. Verification reports that; the forwarder skips them.
            position = head
            return next()
        }
        guard let loop = feed?.surroundings.loop else { return }
        let bound = LoopBound(self, loop: loop)
        keeper.take(records) { taken in
            loop.execute {
                let forwarder = bound.value
                guard taken else { return forwarder.tryAgain() }
                forwarder.position = last
                forwarder.next()
            }
        }
    }
}
