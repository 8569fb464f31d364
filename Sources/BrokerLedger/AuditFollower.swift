import BrokerAccessStore
import BrokerBounds
import BrokerVarlink

/// A call on the administrator's socket that follows the audit. It lives on the event loop.
///
/// The audit file is the queue, and the broker buffers nothing for a slow caller. The caller gets the next
/// records once it has taken the previous ones. The matching records after ``position`` are still to be sent.
final class AuditFollower {
    let call: Call
    private let filter: AuditFilter
    private let extent: AuditExtent
    private unowned let feed: AuditFeed
    private var position: Int64 = 0
    /// Whether a read is running or scheduled, or the caller has not taken the last records. Commits in the
    /// meantime are noticed afterwards.
    private var isBusy = true

    init(_ call: Call, _ filter: AuditFilter, _ extent: AuditExtent, feed: AuditFeed) {
        self.call = call
        self.extent = extent
        self.filter = filter
        self.feed = feed
    }

    /// Sends the latest records, at most `limit`, and then all later ones.
    func begin(latest limit: Int) {
        let head = feed.head
        feed.latestRecords(for: call, matching: filter, limit: limit) { [self] in send($0, head: head) }
    }

    /// Sends the next records after ``position``.
    ///
    /// - Parameter always: whether to send a reply even if there are no records.
    package func read(always: Bool) {
        isBusy = true
        let limit = feed.surroundings.limits.auditRecordsPerBatch
        // Records that are committed during this read belong to the next read.
        let head = feed.head
        feed.records(for: call, matching: filter, after: position, limit: limit) { [self] records, _ in
            if records.isEmpty, !always {
                position = max(position, head)
                followWhenWritable()
            } else {
                send(records, head: records.count < limit ? head : 0)
            }
        }
    }

    /// - Parameter head: the last sequence number that the search covered; 0 if the search ended at its
    ///   limit.
    private func send(_ records: [AuditEntry], head: Int64) {
        guard !call.isOver else { return }
        position = max(position, head, records.last?.sequence ?? 0)
        call.reply(extent.reply(records), continues: true)
        call.whenWritable { [self] in followWhenWritable() }
    }

    private func followWhenWritable() {
        isBusy = false
        if feed.head > position { wake() }
    }

    /// Schedules a read after a commit.
    func wake() {
        guard !isBusy else { return }
        isBusy = true
        feed.surroundings.loop.later(after: feed.surroundings.limits.followInterval) { [self] in
            if !call.isOver { read(always: false) }
        }
    }
}
