import BrokerAccessStore
import BrokerVarlink

/// An administrator who reads the audit as it grows. It lives on the loop.
///
/// The file is the queue: nothing is kept for a reader who is slow, who is sent the next records when those before were
/// taken. What the follower has not seen yet is everything after ``position``.
final class AuditFollower {
    let call: Call
    private let filter: AuditFilter
    private let extent: AuditExtent
    private unowned let feed: AuditFeed
    private var position: Int64 = 0
    /// Records are being read, or wait for the reader; whether more were committed meanwhile shows then.
    private var isBusy = true

    init(_ call: Call, _ filter: AuditFilter, _ extent: AuditExtent, feed: AuditFeed) {
        self.call = call
        self.extent = extent
        self.filter = filter
        self.feed = feed
    }

    /// Sends the latest records first, fewer than a batch or not, and then all that come after.
    func begin(latest limit: Int) {
        let head = feed.head
        feed.latestRecords(for: call, matching: filter, limit: limit) { [self] in send($0, head: head) }
    }

    /// Sends the next records after ``position``, if there are any, and none otherwise where `always` says so.
    func read(always: Bool) {
        isBusy = true
        let limit = feed.surroundings.limits.auditRecordsPerBatch
        // What is committed while the file is read is read the next time.
        let head = feed.head
        feed.records(for: call, matching: filter, after: position, limit: limit) { [self] records in
            if records.isEmpty, !always {
                position = max(position, head)
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
        isBusy = false
        if feed.head > position { wake() }
    }

    /// Something was committed.
    func wake() {
        guard !isBusy else { return }
        isBusy = true
        feed.surroundings.loop.later(after: feed.surroundings.limits.followInterval) { [self] in
            if !call.isOver { read(always: false) }
        }
    }
}
