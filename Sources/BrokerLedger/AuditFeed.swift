import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Dispatch

/// Serves the readers of the audit: queries, followers, and the forwarder to a second place. It lives on the
/// event loop.
package final class AuditFeed {
    let surroundings: Surroundings
    private let access: AccessStore
    private(set) var followers: [AuditFollower] = []
    private var forwarder: AuditForwarder?
    /// Whether the stores are closed. Reads that still run then have no further effect.
    private var isClosed = false
    private static let queue = DispatchQueue(label: "audit reader")

    package init(surroundings: Surroundings, access: AccessStore) {
        self.surroundings = surroundings
        self.access = access
        forwarder = surroundings.auditKeeper.map { AuditForwarder($0, feed: self, access: access) }
    }

    /// The sequence number of the last record.
    var head: Int64 { access.audit.last.sequence }

    /// The day in UTC up to which retention removed records, if the period since this time, in microseconds since 1970,
    /// begins on that day or before; `nil` if it does not, or if nothing was removed. `since` is `nil` for all records.
    package func removedDay(since: Int64?) -> String? {
        guard let removal = access.audit.removal, since.map({ $0 <= removal.ends }) ?? true else { return nil }
        return removal.lastDay
    }

    /// Like ``removedDay(since:)``, for the records that match this filter.
    package func removedDay(_ filter: AuditFilter) -> String? {
        removedDay(since: filter.withEarlier ? nil : filter.since)
    }

    /// Whether records are forwarded to a second place.
    package var isForwarded: Bool { forwarder != nil }

    /// The sequence number of the last record that the second place has; `nil` if there is no second place.
    var forwardedPosition: Int64? { forwarder?.position }

    package func close() { isClosed = true }

    /// Wakes the followers after a commit.
    func committed() {
        for follower in followers { follower.wake() }
    }

    /// Tells the forwarder that the records up to this one are synced.
    func onDisk(upTo sequence: Int64) { forwarder?.onDisk(upTo: sequence) }

    /// - Parameter latest: the number of existing records to send first; `nil` for all that match.
    package func follow(
        _ call: Call, _ filter: AuditFilter, _ extent: AuditExtent, latest: Int?
    ) throws(VarlinkError) {
        followers.removeAll { $0.call.isOver }
        guard followers.count < surroundings.limits.auditFollowers else {
            throw AdminError.invalidValue(
                "follow", reason: "\(surroundings.limits.auditFollowers) callers already follow the audit")
        }
        let follower = AuditFollower(call, filter, extent, feed: self)
        followers.append(follower)
        call.onAbandoned = { [weak self, weak follower] in self?.followers.removeAll { $0 === follower } }
        if let latest { follower.begin(latest: latest) } else { follower.read(always: true) }
    }

    /// Reads the audit off the event loop, because a read may take long. Then runs `done` or `failed` on the
    /// event loop.
    package func read<Found: Sendable>(
        _ read: @escaping @Sendable (AuditReader) throws(AccessStoreError) -> Found, failed: @escaping () -> Void,
        _ done: @escaping (Found) -> Void
    ) {
        self.read(with: access.audit.reader, read, failed: failed, done)
    }

    /// - Parameter reader: if its progress is over before the read begins, nothing is read, and neither `done` nor `failed`
    ///   runs.
    private func read<Found: Sendable>(
        with reader: AuditReader, _ read: @escaping @Sendable (AuditReader) throws(AccessStoreError) -> Found,
        failed: @escaping () -> Void, _ done: @escaping (Found) -> Void
    ) {
        surroundings.loop.run(on: Self.queue) { () throws(AccessStoreError) -> Found? in
            reader.progress.isOver ? nil : try read(reader)
        } then: { [self] result in
            guard !isClosed else { return }
            switch result {
            case .success(let found): found.map(done)
            case .failure(let error):
                surroundings.log("the audit cannot be read: \(error)")
                failed()
            }
        }
    }

    /// Reads the audit for a call. If the audit cannot be read, the call fails. If the caller closes the connection, the
    /// read ends, so that the next one begins.
    ///
    /// - Parameter progress: writes the members that a reply of the method must have. While a call with `more` waits, it gets
    ///   such a reply every second, with how much was read. `nil` sends none.
    package func read<Found: Sendable>(
        for call: Call, _ progress: ((inout JSONWriter) -> Void)?,
        _ read: @escaping @Sendable (AuditReader) throws(AccessStoreError) -> Found, _ done: @escaping (Found) -> Void
    ) {
        guard !call.isOver else { return }
        let reader = access.audit.reader
        var timer: (any Scheduled)?
        if let progress, call.more {
            func report() {
                timer = surroundings.loop.later(after: surroundings.limits.progressInterval) {
                    call.reply(continues: true) {
                        progress(&$0)
                        $0.member("progress", reader.progress.percent)
                    }
                    report()
                }
            }
            report()
        }
        let abandoned = call.onAbandoned
        let end = {
            reader.progress.end()
            timer?.cancel()
            call.onAbandoned = abandoned
        }
        call.onAbandoned = {
            end()
            abandoned?()
        }
        self.read(
            with: reader, read,
            failed: {
                end()
                call.fail(
                    AdminError.invalidValue("state", reason: "the audit cannot be read; see the broker's journal"))
            }
        ) {
            end()
            done($0)
        }
    }

    /// Reads the first matching records after a sequence number, for a call.
    package func records(
        for call: Call, matching filter: AuditFilter, after position: Int64?, limit: Int,
        _ progress: ((inout JSONWriter) -> Void)? = nil,
        _ done: @escaping (_ records: [AuditEntry], _ percent: Int) -> Void
    ) {
        read(
            for: call, progress,
            { (reader) throws(AccessStoreError) in
                (try reader.records(matching: filter, after: position, limit: limit), reader.progress.percent)
            }, { done($0.0, $0.1) })
    }

    /// Reads the last matching records, oldest first, for a call.
    package func latestRecords(
        for call: Call, matching filter: AuditFilter, limit: Int, _ progress: ((inout JSONWriter) -> Void)? = nil,
        _ done: @escaping ([AuditEntry]) -> Void
    ) {
        read(
            for: call, progress,
            { (reader) throws(AccessStoreError) in
                try reader.records(matching: filter, after: nil, limit: limit, newestFirst: true).reversed()
            }, done)
    }
}

/// The fields of each record that a reply contains.
package enum AuditExtent {
    case whole
    /// Leaves out the fields that name contacts or reveal something about other users' records.
    case own

    /// The parameters of a reply with these records.
    ///
    /// - Parameters:
    ///   - removedUntil: as ``AuditFeed/removedDay(since:)``.
    ///   - progress: how much of the audit was read, in percent; `nil` in the last reply.
    package func reply(_ records: [AuditEntry], removedUntil: String? = nil, progress: Int? = nil) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 256 * records.count + 32)
        writer.object {
            $0.name("records")
            $0.array(records) { writer, record in writer.object { write(record, &$0) } }
            $0.member("removedUntil", removedUntil)
            $0.member("progress", progress)
        }
        return writer.bytes
    }

    /// Writes what a reply must have, for ``AuditFeed/read(for:_:_:_:)``.
    package static func progress(_ writer: inout JSONWriter) {
        writer.name("records")
        writer.array([AuditEntry]()) { _, _ in }
    }

    private func write(_ record: AuditEntry, _ writer: inout JSONWriter) {
        if self == .whole { writer.member("sequence", record.sequence) }
        writer.member("time", Timestamp.text(seconds: record.time / 1_000_000))
        writer.member("uid", record.uid)
        writer.member("app", record.app)
        writer.member("strength", record.strength?.rawValue ?? "")
        writer.member("event", record.event.rawValue)
        writer.member("status", record.status?.rawValue ?? "")
        writer.member("keys", record.keys?.grantNames)
        writer.member("contacts", record.count)
        if self == .whole { writer.member("contactIdentifiers", record.contacts) }
        writer.member("revision", record.revision)
        writer.member("repeats", record.repeats)
        writer.member("detail", record.detail)
        guard self == .whole else { return }
        writer.member("previous", record.previous)
        writer.member("hash", record.hash)
    }
}
