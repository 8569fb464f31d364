import AccessControl
import AccessStore
import ContactsInterface
import ContactsModel
import Dispatch
import JSON
import Policy
import Varlink

/// The audit, as administrators read it.
extension Broker {
    private static let auditQueue = DispatchQueue(label: "audit reader")
    /// Records that a caller without `more` gets if it names no limit.
    private static let recordsWithoutMore = 1_000

    func queryAudit(_ parameters: AdminParameters, _ call: Call, _ session: CallerSession) throws(VarlinkError) {
        guard !parameters.follow || call.more else { throw .expectedMore }
        var filter = AuditFilter(app: parameters.app, contact: parameters.contact)
        filter.uid = parameters.allUsers ? nil : parameters.uid ?? session.caller.uid
        filter.since = try time(parameters.since, "since")
        filter.until = try time(parameters.until, "until")
        if let event = parameters.event {
            guard let event = AuditEvent(rawValue: event) else {
                throw AdminError.invalidValue(
                    "event", reason: "one of " + AuditEvent.allCases.map(\.rawValue).joined(separator: ", "))
            }
            filter.event = event
        }
        let extent = extent(parameters, session)
        guard extent == .whole || filter.contact == nil else {
            throw AdminError.invalidValue("contact", reason: "the names of contacts are for administrators")
        }
        if parameters.follow {
            try follow(call, filter, extent, latest: parameters.limit)
        } else if call.more, parameters.limit == nil {
            sendAudit(call, filter, extent, after: nil)
        } else {
            sendLatest(call, filter, extent, limit: parameters.limit ?? Self.recordsWithoutMore)
        }
    }

    /// How much of a record is told.
    enum AuditExtent {
        case whole
        /// Without what ties it to the records of others, or to contacts.
        case own
    }

    /// Who reads their own records with their own password is no administrator.
    private func extent(_ parameters: AdminParameters, _ session: CallerSession) -> AuditExtent {
        let caller = session.caller
        if !surroundings.wantsPasswords || caller.uid == 0 || parameters.allUsers { return .whole }
        return parameters.uid ?? caller.uid == caller.uid ? .own : .whole
    }

    private func time(_ text: String?, _ name: String) throws(VarlinkError) -> Int64? {
        guard let text else { return nil }
        guard let seconds = Timestamp.seconds(text) else {
            throw AdminError.invalidValue(name, reason: "a time such as 2026-01-31T12:00:00Z, or a date")
        }
        return seconds * 1_000_000
    }

    /// All records, oldest first, batch by batch as the reader takes them.
    private func sendAudit(_ call: Call, _ filter: AuditFilter, _ extent: AuditExtent, after: Int64?) {
        let limit = limits.auditRecordsPerBatch
        readAudit(
            { (reader) throws(AccessStoreError) in try reader.records(matching: filter, after: after, limit: limit) },
            call
        ) { [weak self] records in
            let continues = records.count == limit
            call.reply(Self.reply(records, extent), continues: continues)
            guard continues else { return }
            call.whenWritable { self?.sendAudit(call, filter, extent, after: records.last?.sequence) }
        }
    }

    /// The latest records, oldest first.
    private func sendLatest(_ call: Call, _ filter: AuditFilter, _ extent: AuditExtent, limit: Int) {
        readAudit(
            { (reader) throws(AccessStoreError) in
                try reader.records(matching: filter, after: nil, limit: limit, newestFirst: true)
            }, call
        ) { call.reply(Self.reply($0.reversed(), extent)) }
    }

    func verifyAudit(_ call: Call) {
        let folder = surroundings.stateFolder
        // Until the walk meets its end: what is appended meanwhile is walked too.
        readAudit(
            {
                (reader) throws(AccessStoreError) -> (
                    checked: Int, last: AuditVerification, books: [ContradictedAnchor]
                ) in
                var checked = 0
                var from: Int64?
                while true {
                    let step = try reader.verify(from: from, budget: 10_000)
                    checked += step.checked
                    guard step.brokenAt == nil, let next = step.next else {
                        return (checked, step, try reader.contradictions(in: folder))
                    }
                    from = next
                }
            }, call
        ) { result in
            let (checked, step, books) = result
            call.reply {
                $0.member("records", checked)
                $0.member("head", step.head)
                $0.member("brokenAt", step.brokenAt)
                guard !books.isEmpty else { return }
                $0.name("contradictions")
                $0.array(books) { writer, book in
                    writer.object {
                        $0.member("uid", book.uid)
                        $0.member("sequence", book.sequence)
                    }
                }
            }
        }
    }

    /// Reads the audit off the loop, since it may be long, and hands over on the loop what was read.
    func readAudit<Result: Sendable>(
        _ read: @escaping @Sendable (AuditReader) throws(AccessStoreError) -> Result, failed: @escaping () -> Void,
        _ done: @escaping (Result) -> Void
    ) {
        let reader = access.auditReader
        let loop = surroundings.loop
        let bound = LoopBound((failed, done, surroundings.log), loop: loop)
        Self.auditQueue.async {
            var result: Result?
            var failure: AccessStoreError?
            do throws(AccessStoreError) {
                result = try read(reader)
            } catch {
                failure = error
            }
            let outcome = (result, failure)
            loop.execute {
                let (failed, done, log) = bound.value
                if let result = outcome.0 { return done(result) }
                log("the audit cannot be read: \(outcome.1.map { "\($0)" } ?? "")")
                failed()
            }
        }
    }

    /// The same for a call, which fails where the audit cannot be read.
    func readAudit<Result: Sendable>(
        _ read: @escaping @Sendable (AuditReader) throws(AccessStoreError) -> Result, _ call: Call,
        _ done: @escaping (Result) -> Void
    ) {
        readAudit(
            read,
            failed: {
                call.fail(
                    AdminError.invalidValue("state", reason: "the audit cannot be read; see the broker's journal"))
            }, done)
    }

    static func reply(_ records: [AuditEntry], _ extent: AuditExtent) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 256 * records.count + 32)
        writer.object {
            $0.name("records")
            $0.array(records) { writer, record in writer.object { write(record, extent, &$0) } }
        }
        return writer.bytes
    }

    private static func write(_ record: AuditEntry, _ extent: AuditExtent, _ writer: inout JSONWriter) {
        if extent == .whole { writer.member("sequence", record.sequence) }
        writer.member("time", Timestamp.text(seconds: record.time / 1_000_000))
        writer.member("uid", record.uid)
        writer.member("app", record.app)
        writer.member("strength", record.strength?.rawValue ?? "")
        writer.member("event", record.event.rawValue)
        writer.member("status", record.status?.rawValue ?? "")
        writer.member("keys", record.keys?.grantNames)
        writer.member("contacts", record.count)
        if extent == .whole { writer.member("contactIdentifiers", record.contacts) }
        writer.member("revision", record.revision)
        writer.member("repeats", record.repeats)
        writer.member("detail", record.detail)
        guard extent == .whole else { return }
        writer.member("previous", record.previous)
        writer.member("hash", record.hash)
    }

    /// How the broker is doing. The system's tells administrators of all users together, and anybody else of themselves alone.
    func getStatus(_ parameters: AdminParameters, _ call: Call, _ session: CallerSession) {
        let isWhole = extent(parameters, session) == .whole
        let uid: UInt32? = isWhole ? (surroundings.mode == .session ? surroundings.ownUID : nil) : session.caller.uid
        let connections = isWhole ? sessions.count : sessions.values.count { $0.caller.uid == session.caller.uid }
        let problem = lastProblem.flatMap { isWhole || $0.uid == session.caller.uid ? $0 : nil }
        call.reply {
            $0.name("status")
            $0.object {
                $0.member("version", Release.version)
                $0.member("mode", surroundings.mode.rawValue)
                $0.member("startedAt", Timestamp.text(seconds: startedAt / 1_000_000))
                $0.member("stateFolder", surroundings.stateFolder)
                $0.member("connections", connections)
                $0.member("agents", prompts.agentCount(uid))
                $0.member("promptsOpen", prompts.openCount(uid))
                $0.member("grants", access.principals.count { uid == nil || $0.uid == uid })
                if isWhole { $0.member("auditRecords", access.auditCount) }
                if let problem {
                    $0.member("lastProblem", problem.words)
                    $0.member("lastProblemAt", Timestamp.text(seconds: problem.time))
                }
                if !surroundings.policyFolder.isEmpty { $0.member("policyFolder", surroundings.policyFolder) }
                $0.member("policyRules", policy.policy.rules.count)
                $0.member("policyLoadedAt", Timestamp.text(seconds: policy.loadedAt))
                if let problem = policy.policy.problem { describe(problem, isWhole: isWhole, &$0) }
                for (name, value) in surroundings.facts { $0.member(name, value) }
            }
        }
    }

    /// - Parameter isWhole: whoever asks may know where the files are.
    private func describe(_ problem: Policy.Problem, isWhole: Bool, _ writer: inout JSONWriter) {
        let name =
            switch problem {
            case .policy: "policyProblem"
            case .settings: "settingsProblem"
            }
        let refused = "every app is refused"
        writer.member(
            name, isWhole ? "\(refused): \(problem.error); \(problem.advice(in: surroundings.mode))" : refused)
    }
}
