import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerBounds
import BrokerCalls
import BrokerContactsStore
import BrokerDisclosure
import BrokerGrants
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// Lists and puts back the saves of an app whose access the person reviews.
struct AgentChanges: UsesServices {
    let services: BrokerServices

    /// Looks up the app of a review that the agent shows.
    private func reviewed(
        _ token: String, _ cookie: String, _ session: CallerSession
    ) throws(VarlinkError) -> (review: Prompt, source: AnswerSource) {
        let (agent, prompt) = try shown(token, cookie, session)
        guard prompt.kind == .manage else { throw .invalidParameter("cookie") }
        return (prompt, AnswerSource(agent, nil))
    }

    func list(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try PromptParameters(call.parameters)
        let (review, source) = try reviewed(parameters.agent, parameters.cookie, session)
        var query = Self.query(of: review.caller)
        query.limit = ParameterLimits.rows
        let changes = ListedChanges(services: services)
        changes.recordNames(of: session.caller.uid, Self.lookUp(source))
        changes.list(query, names: true, of: session.caller.uid, call, session)
    }

    private static func lookUp(_ source: AnswerSource) -> String { "contacts in the bin, \(source.words)" }

    private static func query(of app: Caller) -> BinQuery {
        var query = BinQuery()
        query.app = app.app
        query.strength = app.strength.rawValue
        return query
    }

    func putBack(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        try putBack(try AgentPutBackParameters(call.parameters), call, session, hasPassword: false)
    }

    private func putBack(
        _ parameters: AgentPutBackParameters, _ call: Call, _ session: CallerSession, hasPassword: Bool
    ) throws(VarlinkError) {
        let (review, source) = try reviewed(parameters.agent, parameters.cookie, session)
        guard parameters.contact == nil || !parameters.later else { throw .invalidParameter("later") }
        let contact = try parameters.contact.map { (row) throws(VarlinkError) in try review.record(ofRow: row) }
        let uid = session.caller.uid
        if parameters.dryRun { ListedChanges(services: services).recordNames(of: uid, Self.lookUp(source)) }
        books.with(uid) { result in
            switch result {
            case .failure(let error): problems.unavailable(call, error)
            case .success(nil):
                PuttingBack(services: services).reply(PutBackResult(), made: nil, names: [:], call, session)
            case .success(let book?):
                plan(contact, of: review, parameters, book, call, session, hasPassword: hasPassword)
            }
        }
    }

    private func plan(
        _ contact: RecordNumber?, of review: Prompt, _ parameters: AgentPutBackParameters, _ book: ContactsStore,
        _ call: Call, _ session: CallerSession, hasPassword: Bool
    ) {
        let uid = session.caller.uid
        let query = Self.query(of: review.caller)
        surroundings.loop.run(on: books.queue(of: uid)) { () throws(StoreError) in
            try Self.plan(contact, parameters, query, book)
        } then: { result in
            guard !call.isOver else { return }
            switch result {
            case .failure(let error): problems.unavailable(call, error)
            case .success(let plan?) where !parameters.dryRun && !plan.result.items.isEmpty:
                save(plan, parameters, book, call, session, hasPassword: hasPassword)
            case .success(let plan):
                PuttingBack(services: services).reply(
                    plan?.result ?? PutBackResult(), made: nil, names: plan?.named ?? [:], sides: plan?.sides, call,
                    session
                ) {
                    review.rows.identifier(of: $0, as: .agentRow)
                }
            }
        }
    }

    /// - Returns: `nil` if the app made no such save.
    private static func plan(
        _ contact: RecordNumber?, _ parameters: AgentPutBackParameters, _ query: BinQuery, _ book: ContactsStore
    ) throws(StoreError) -> PuttingBack.Plan? {
        guard parameters.save > 0, parameters.save < .max else { return nil }
        var query = query
        query.before = parameters.save + 1
        query.limit = 1
        guard let app = query.app, let save = try book.savesInBin(query).first, save.number == parameters.save,
            save.kind == .save
        else { return nil }
        var request = PutBackRequest.save(save.number)
        if let contact { request = .contact(contact, save: save.number) }
        if parameters.later { request = .app(app, strength: query.strength, since: save.time) }
        return try PuttingBack.Plan(request, isForced: parameters.force, names: parameters.dryRun, book)
    }

    private func save(
        _ plan: PuttingBack.Plan, _ parameters: AgentPutBackParameters, _ book: ContactsStore, _ call: Call,
        _ session: CallerSession, hasPassword: Bool
    ) {
        let uid = session.caller.uid
        guard hasPassword || services.putBackBound.count(plan.records.count, of: uid, by: uid) else {
            passwords.want(.putBack, of: session, mayInteract: true, for: call) { verdict in
                do throws(VarlinkError) {
                    // Also where the administrator allows answers without a password, as at the administrator's socket.
                    if verdict == .absent {
                        throw AgentError.authenticationFailed(.noAuthority, Verdict.withoutAuthority)
                    }
                    try grants.policy.accept(verdict)
                    // The review may have ended meanwhile, and the bin may have changed.
                    try putBack(parameters, call, session, hasPassword: true)
                } catch {
                    call.fail(error)
                }
            }
            return
        }
        let detail = "put back, \(AnswerSource.words(hasPassword: hasPassword))"
        PuttingBack(services: services).save(
            plan, isForced: parameters.force, uid, book, call, session, detail: detail
        ) {
            AgentError.invalidAnswer($0 == .bookFull ? .bookFull : .contactGone, $1)
        }
    }
}
