import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerVarlink

/// An administrator who reads the audit as it grows. It lives on the loop.
///
/// The file is the queue: nothing is kept for a reader who is slow, who is sent the next records when those before were
/// taken. What the follower has not seen yet is everything after ``position``.
final class AuditFollower {
    private enum State {
        /// Everything was sent.
        case resting
        /// Records are being read, or wait for the reader; whether more were committed meanwhile shows then.
        case busy
    }

    let call: Call
    private let filter: AuditFilter
    private let extent: AuditExtent
    private unowned let feed: AuditFeed
    private var position: Int64
    private var state = State.busy

    init(
        _ call: Call, _ filter: AuditFilter, _ extent: AuditExtent, feed: AuditFeed, after position: Int64
    ) {
        self.call = call
        self.extent = extent
        self.filter = filter
        self.feed = feed
        self.position = position
    }

    /// Sends the latest records first, fewer than a batch or not, and then all that come after.
    func begin(latest limit: Int) {
        let filter = self.filter
        let head = feed.head
        feed.read(
            { (reader) throws(AccessStoreError) in
                try reader.records(matching: filter, after: nil, limit: limit, newestFirst: true)
            }, call
        ) { [self] in send($0.reversed(), head: head) }
    }

    /// Sends the next records after ``position``, if there are any, and none otherwise where `always` says so.
    func read(always: Bool) {
        state = .busy
        let filter = self.filter
        let position = self.position
        let limit = feed.limits.auditRecordsPerBatch
        // What is committed while the file is read is read the next time.
        let head = feed.head
        feed.read(
            { (reader) throws(AccessStoreError) in
                try reader.records(matching: filter, after: position, limit: limit)
            }, call
        ) { [self] records in
            if records.isEmpty, !always {
                self.position = max(self.position, head)
                rest()
            } else {
                send(records, head: records.count < limit ? head : 0)
            }
        }
    }

    /// - Parameter head: up to where the file was searched.
    private func send(_ records: [AuditEntry], head: Int64) {
        guard !call.isOver else { return }
        position = max(position, head, records.last?.sequence ?? 0)
        call.reply(extent.reply(records), continues: true)
        call.whenWritable { [self] in rest() }
    }

    private func rest() {
        state = .resting
        if feed.head > position { wake() }
    }

    /// Something was committed.
    func wake() {
        switch state {
        case .busy: return
        case .resting: break
        }
        state = .busy
        let bound = LoopBound(self, loop: feed.surroundings.loop)
        feed.surroundings.loop.schedule(after: feed.limits.followInterval) {
            let follower = bound.value
            guard !follower.call.isOver else { return }
            follower.read(always: false)
        }
    }
}
