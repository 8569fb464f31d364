import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerBounds
import BrokerCalls
import BrokerDisclosure
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// Answers queries of the audit on the administrator's socket.
struct AuditQueries: UsesServices {
    let services: BrokerServices

    /// The maximum number of records in the reply to a call with neither `more` nor a limit.
    private static let recordsWithoutMore = 1_000

    func query(_ parameters: QueryAuditParameters, _ call: Call, _ session: CallerSession) throws(VarlinkError) {
        guard !parameters.follow || call.more else { throw .expectedMore }
        let filter = try Self.filter(parameters, uid: parameters.users.user(session.caller))
        let extent = extent(parameters.users, session)
        guard extent == .whole || filter.contact == nil else {
            throw AdminError.invalidValue("contact", reason: "only administrators may search by contact")
        }
        if parameters.follow {
            try feed.follow(call, filter, extent, latest: parameters.limit)
        } else if call.more, parameters.limit == nil {
            sendAudit(call, filter, extent, after: nil)
        } else {
            let limit = parameters.limit ?? Self.recordsWithoutMore
            feed.latestRecords(for: call, matching: filter, limit: limit, AuditExtent.progress) {
                call.reply(extent.reply($0, removedUntil: feed.removedDay(filter)))
            }
        }
    }

    static func filter(_ parameters: QueryAuditParameters, uid: UInt32?) throws(VarlinkError) -> AuditFilter {
        var filter = AuditFilter(uid: uid, app: parameters.app, contact: parameters.contact)
        filter.since = try time(parameters.since, "since")
        filter.until = try time(parameters.until, "until")
        filter.withEarlier = parameters.withEarlier
        if let event = parameters.event {
            guard let event = AuditEvent(rawValue: event) else {
                throw AdminError.invalidValue(
                    "event", reason: "must be one of " + AuditEvent.allCases.map(\.rawValue).joined(separator: ", "))
            }
            filter.event = event
        }
        return filter
    }

    /// The parts of each record that the caller may see. A user who reads their own records with their own
    /// password is not an administrator.
    func extent(_ users: UserParameters, _ session: CallerSession) -> AuditExtent {
        let caller = session.caller
        if !surroundings.wantsPasswords || caller.uid == 0 || users.allUsers { return .whole }
        return users.isOwn(session.caller) ? .own : .whole
    }

    /// Parses a time, in microseconds since 1970.
    static func time(_ text: String?, _ name: String) throws(VarlinkError) -> Int64? {
        guard let text else { return nil }
        guard let seconds = Timestamp.seconds(text) else {
            throw AdminError.invalidValue(name, reason: "must be a time such as 2026-01-31T12:00:00Z, or a date")
        }
        return seconds * 1_000_000
    }

    /// Sends all matching records, oldest first, in batches. Each batch waits until the caller has taken the
    /// previous one.
    private func sendAudit(_ call: Call, _ filter: AuditFilter, _ extent: AuditExtent, after: Int64?) {
        let limit = services.limits.auditRecordsPerBatch
        feed.records(for: call, matching: filter, after: after, limit: limit, AuditExtent.progress) {
            records, percent in
            let continues = records.count == limit
            let removedUntil = after == nil ? feed.removedDay(filter) : nil
            let reply = extent.reply(records, removedUntil: removedUntil, progress: continues ? percent : nil)
            call.reply(reply, continues: continues)
            guard continues else { return }
            call.whenWritable { sendAudit(call, filter, extent, after: records.last?.sequence) }
        }
    }

    /// Verifies the chain, and compares it with the books' anchors and with the positions that the caller remembers.
    func verify(_ heads: [AuditPosition], _ call: Call) {
        let folder = surroundings.stateFolder
        feed.read(for: call) {
            $0.member("records", 0)
            $0.member("head", "")
        } _: {
            (reader) throws(AccessStoreError) -> (
                checked: Int, last: AuditVerification, books: [ContradictedAnchor], heads: [ContradictedPosition],
                removal: AuditRemoval?
            ) in
            let (checked, last) = try reader.verifyAll()
            return (
                checked, last, try reader.contradictions(in: folder), try reader.contradicted(heads),
                try reader.removal()
            )
        } _: { result in
            let (checked, step, books, heads, removal) = result
            call.reply {
                $0.member("records", checked)
                $0.member("head", step.head)
                $0.member("brokenAt", step.brokenAt)
                $0.member("missingTo", step.missingTo)
                if let removal {
                    $0.name("removed")
                    $0.object { writer in
                        writer.member("sequence", removal.last.sequence)
                        writer.member("hash", Hexadecimal.text(removal.last.hash))
                        writer.member("until", removal.lastDay)
                        writer.member("time", Timestamp.text(seconds: removal.time / 1_000_000))
                        writer.member("record", removal.record)
                    }
                }
                if !books.isEmpty {
                    $0.name("contradictions")
                    $0.array(books) { writer, book in
                        writer.object {
                            $0.member("uid", book.uid)
                            $0.member("sequence", book.sequence)
                        }
                    }
                }
                guard !heads.isEmpty else { return }
                $0.name("contradictedHeads")
                $0.array(heads) { writer, head in
                    writer.object {
                        $0.member("sequence", head.sequence)
                        $0.member("time", head.time.map { Timestamp.text(seconds: $0 / 1_000_000) })
                    }
                }
            }
        }
    }
}
