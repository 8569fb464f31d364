import BrokerAccessStore
import BrokerVarlink

/// Keeps the audit's records in a second place, such as a log store of many machines.
///
/// Calls may come on any queue, one at a time.
public protocol AuditKeeper: Sendable {
    /// The sequence number of the last record that was taken before; `nil` where none was, and what comes from now on is
    /// wanted.
    var position: Int64? { get }

    /// Records come from behind this one on, where that is not what ``position`` says. Kept, it is the position after a restart, also
    /// where nothing was taken in between. Called on the loop.
    func begin(after sequence: Int64)

    /// Takes records in the order of the chain.
    ///
    /// - Parameter done: whether all of them were taken. If not, the same come again later.
    func take(_ records: [AuditEntry], _ done: @escaping @Sendable (_ taken: Bool) -> Void)
}

/// Hands every record to a keeper: in order, without gaps, and each at least once. It lives on the loop.
///
/// Only what is on the disk is handed over: a power cut must not leave the keeper with a record that another one replaces here.
///
/// The audit's file is the queue, as for ``AuditFollower``: a keeper that is slow or away holds up nobody and loses nothing. The broker
/// does not wait for it either; what is on record is on record here.
final class AuditForwarder {
    private let keeper: any AuditKeeper
    private weak var feed: AuditFeed?
    private var position: Int64
    /// The last record that is known to be on the disk.
    private var synced: Int64 = 0
    /// Records are with the keeper, or a look at the file is on its way or planned.
    private var isBusy = false

    init(_ keeper: any AuditKeeper, feed: AuditFeed) {
        self.keeper = keeper
        self.feed = feed
        let head = feed.head
        // A keeper that knows later records than there are has seen an audit that was replaced by an older one.
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
            // What was counted is not there: verification is what says so, and not the keeper.
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
