import AccessControl
import AccessStore
import ContactsInterface
import Varlink

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
    private let extent: Broker.AuditExtent
    private unowned let broker: Broker
    private var position: Int64
    private var state = State.busy

    init(
        _ call: Call, _ filter: AuditFilter, _ extent: Broker.AuditExtent, broker: Broker, after position: Int64
    ) {
        self.call = call
        self.extent = extent
        self.filter = filter
        self.broker = broker
        self.position = position
    }

    /// Sends the latest records first, fewer than a batch or not, and then all that come after.
    func begin(latest limit: Int) {
        let filter = self.filter
        let head = broker.access.auditCount
        broker.readAudit(
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
        let limit = broker.limits.auditRecordsPerBatch
        // What is committed while the file is read is read the next time.
        let head = broker.access.auditCount
        broker.readAudit(
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
        call.reply(Broker.reply(records, extent), continues: true)
        call.whenWritable { [self] in rest() }
    }

    private func rest() {
        state = .resting
        if broker.access.auditCount > position { wake() }
    }

    /// Something was committed.
    func wake() {
        switch state {
        case .busy: return
        case .resting: break
        }
        state = .busy
        let bound = LoopBound(self, loop: broker.surroundings.loop)
        broker.surroundings.loop.schedule(after: broker.limits.followInterval) {
            let follower = bound.value
            guard !follower.call.isOver else { return }
            follower.read(always: false)
        }
    }
}

extension Broker {
    /// - Parameter latest: how many records from before are sent first; `nil` for all that match.
    func follow(
        _ call: Call, _ filter: AuditFilter, _ extent: AuditExtent, latest: Int?
    ) throws(VarlinkError) {
        auditFollowers.removeAll { $0.call.isOver }
        guard auditFollowers.count < limits.auditFollowers else {
            throw AdminError.invalidValue("follow", reason: "\(limits.auditFollowers) follow the audit already")
        }
        let follower = AuditFollower(call, filter, extent, broker: self, after: 0)
        auditFollowers.append(follower)
        call.onAbandoned = { [weak self, weak follower] in self?.auditFollowers.removeAll { $0 === follower } }
        if let latest { follower.begin(latest: latest) } else { follower.read(always: true) }
    }

    func tellFollowers() {
        for follower in auditFollowers { follower.wake() }
    }
}
