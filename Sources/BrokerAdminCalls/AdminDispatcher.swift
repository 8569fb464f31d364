import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerCalls
import BrokerGrants
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// Dispatches the calls on the administrator's socket.
package struct AdminDispatcher: UsesServices {
    package let services: BrokerServices
    package let reloads: PolicyReloads
    package let purges: Purges
    package let restores: Restores
    package let metrics: Metrics
    private let lookUps: ContactLookUps
    private let status: StatusReport

    package init(services: BrokerServices) {
        self.services = services
        reloads = PolicyReloads(services: services)
        purges = Purges(services: services)
        restores = Restores(services: services)
        metrics = Metrics(services: services)
        lookUps = ContactLookUps(services: services)
        status = StatusReport(services: services)
    }

    package func answer(_ call: Call, _ session: CallerSession) {
        guard call.interface == ContactsInterface.admin.name, let method = AdminMethod(rawValue: String(call.name))
        else {
            return call.fail(.methodNotFound(call.method))
        }
        do throws(VarlinkError) {
            // A caller without any right gets this error even if its parameters are invalid.
            guard adminRight(AdminRequest(method: method, isOwn: true), session) != .never else {
                throw AdminError.notAuthorized()
            }
            let parameters = try AdminParameters(method, call.parameters)
            WaitingCall.run(AdminCall(call: call, session: session, method: method, parameters: parameters), self)
        } catch {
            call.fail(error)
        }
    }

    // MARK: Authorization

    fileprivate func adminRight(_ request: AdminRequest, _ session: CallerSession) -> AdminRight {
        surroundings.wantsPasswords
            ? right(for: request, by: session.caller) : rightInSession(by: session.caller, ownUID: surroundings.ownUID)
    }

    fileprivate func run(
        _ parameters: AdminParameters, _ call: Call, _ session: CallerSession
    ) throws(VarlinkError) {
        switch parameters.ofMethod {
        case .listGrants(let users): listGrants(users, call, session)
        case .setGrant(let parameters): try GrantChanges(services: services).set(parameters, call, session)
        case .resetGrant(let apps): try resetGrant(apps, call, session)
        case .endSessionGrants(let apps): try endSessionGrants(apps, call, session)
        case .queryAudit(let parameters):
            if let named = parameters.named { return try lookUps.history(of: named, parameters, call, session) }
            try AuditQueries(services: services).query(parameters, call, session)
        case .findContactAccess(let parameters): try lookUps.find(parameters, call, session)
        case .changeGrantedContacts(let parameters):
            try GrantedContactChanges(services: services, lookUps: lookUps).change(parameters, call, session)
        case .verifyAudit(let heads): AuditQueries(services: services).verify(heads, call)
        case .getStatus(let users):
            let isWhole = AuditQueries(services: services).extent(users, session) == .whole
            status.answer(call, session, isWhole: isWhole)
        case .listPending(let users): Explanations(services: services).listPending(users, call, session)
        case .explainDecision(let apps, let app):
            try Explanations(services: services).explain(apps, app: app, call, session)
        case .reloadPolicy: reloadPolicy(call)
        case .explainPolicy: PolicyEffects(services: services).explain(call)
        case .tryPolicy(let files): PolicyEffects(services: services).try(files, call)
        case .purgeUser(let uid): try purges.purge(uid, for: call)
        case .getMetrics: call.reply { $0.member("text", metrics.text()) }
        case .listUsers:
            call.reply {
                $0.name("users"); $0.array(access.owners.users) { $0.value($1) }
            }
        case .backUp(let users): try BackUps(services: services).backUp(users, call, session)
        case .beginRestore(let parameters): try restores.begin(parameters, call, session)
        case .restoreLines(let parameters): try restores.read(parameters, call, session)
        case .finishRestore(let users, let replaces): try restores.finish(users, replaces: replaces, call, session)
        case .listChanges(let parameters):
            try ListedChanges(services: services).list(parameters, call, session)
        case .putBack(let parameters): try PutBacks(services: services).putBack(parameters, call, session)
        case .getBin(let users): BinChanges(services: services).get(users, call, session)
        case .setBinDays(let parameters): BinChanges(services: services).set(parameters, call, session)
        case .emptyBin(let parameters): try BinChanges(services: services).empty(parameters, call, session)
        case .connect(let parameters): try Connections(services: services).connect(parameters, call, session)
        case .disconnect(let parameters): try Connections(services: services).disconnect(parameters, call, session)
        case .listConnections(let users): Connections(services: services).list(users, call, session)
        }
    }

    private func listGrants(_ users: UserParameters, _ call: Call, _ session: CallerSession) {
        let all = described.listed(uid: users.user(session.caller))
        grants.openPolicyGroups(of: all.map(\.principal)) {
            call.reply { described.write(all, forAdministrator: true, &$0) }
        }
    }

    private func resetGrant(_ apps: AppParameters, _ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let found = described.matching(apps, session)
        let user = apps.users.user(session.caller)
        let silenced = access.silences.principals.filter {
            $0.uid == user ?? $0.uid && apps.isAbout($0.strength, $0.app)
        }
        let waited = dropWaits(apps, user, decided: found.map(\.principal) + silenced)
        if found.isEmpty, silenced.isEmpty, waited.isEmpty, let app = apps.app {
            throw AdminError.unknownApp(app)
        }
        let count = Set(silenced).union(found.map(\.principal)).union(waited).count
        let source = AdministratorSource(session)
        let ending = silenced.map { (principal: $0, isSilence: true) } + found.map { ($0.principal, false) }
        inBatches(ending, call, count: count) { principal, isSilence in
            if isSilence {
                access.silences.end(of: principal)
                groupCommit.record(.revocation, of: principal, detail: source.detail("asked again", for: principal.uid))
                return
            }
            grants.endGrant(principal, detail: source.detail("reset", for: principal.uid))
            // Terminal sessions share the identifier key of the persistent principal. This removes that key too,
            // so that the app gets new identifiers.
            let persistent = principal.bound(to: .persistent)
            if access.grant(of: persistent) == nil { access.removeGrant(of: persistent) }
            history.moved(principal.uid)
        }
    }

    /// Ends many grants or silences, and then replies with their number. The loop serves other callers in between, so each
    /// may have changed when its turn comes.
    private func inBatches<Element>(
        _ elements: [Element], _ call: Call, count: Int, _ end: @escaping (Element) -> Void
    ) {
        var error: VarlinkError?
        surroundings.loop.inBatches(elements[...], of: services.limits.grantsPerIteration) { element in
            end(element)
            groupCommit.work(failed: { error = GroupCommit.notWritten })
        } then: {
            groupCommit.replyOnDisk(call, error: error) { $0.member("count", count) }
        }
    }

    /// All users for whom the broker keeps something that a reset removes.
    private func users() -> [UInt32] {
        Set(access.principals.map(\.uid)).union(access.silences.principals.map(\.uid))
            .union(sessions.all.map(\.caller.uid)).union(prompts.waitingUsers).sorted()
    }

    /// Ends the back-offs of matching apps, of one user or of all users, and returns these apps.
    private func dropWaits(_ apps: AppParameters, _ user: UInt32?, decided: [Principal]) -> [Principal] {
        let decided = Dictionary(grouping: decided, by: \.uid)
        let connected = Dictionary(
            grouping: sessions.all.map(\.caller).filter { apps.isAbout($0.strength, $0.app) }, by: \.uid)
        return (user.map { [$0] } ?? users()).flatMap { uid in
            let connected = connected[uid] ?? []
            // Weakly identified apps share limits on prompts. Resetting one of these apps resets the shared
            // limits.
            let strengths = (decided[uid] ?? []).map(\.strength) + connected.map(\.strength)
            return prompts.dropWaits(
                uid, where: apps.isAbout, connected: connected, weak: strengths.contains(where: \.sharesCrowd)
            ).map { Principal(uid: uid, strength: $0.strength, app: $0.app) }
        }
    }

    /// Ends the access that apps have for one terminal session or process. Denials stay, because an app could
    /// otherwise ask again.
    private func endSessionGrants(_ apps: AppParameters, _ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let found = described.matching(apps, session)
        if found.isEmpty, let app = apps.app { throw AdminError.unknownApp(app) }
        let source = AdministratorSource(session)
        let ended = found.filter { $0.principal.binding != .persistent && $0.grant.access != .denied }
        inBatches(ended, call, count: ended.count) { principal, _ in
            guard access.grant(of: principal)?.access != .denied else { return }
            grants.endGrant(principal, detail: source.detail("session ended", for: principal.uid))
        }
    }

    // MARK: Policy

    /// Reloads the policy. After the reply, the broker discloses nothing that the policy in force forbids.
    private func reloadPolicy(_ call: Call) {
        reloads.reload { policy in
            let refusal = policy.problem.map {
                AdminError.invalidValue(
                    $0.subject.rawValue, reason: $0.reason, formerRules: grants.policy.rejected != nil)
            }
            groupCommit.replyOnDisk(call, error: refusal) {
                $0.member("rules", policy.rules.count)
                if !policy.unread.isEmpty { $0.member("unread", policy.unread) }
            }
        }
    }
}

/// A call on the administrator's socket, which may wait for a password.
private struct AdminCall: SteppedCall {
    let call: Call
    let session: CallerSession
    let method: AdminMethod
    let parameters: AdminParameters
    /// The outcome of the password request, with the action that it was for.
    var answered: (action: AuthorityAction, verdict: Verdict)?

    /// Answers the call, or asks for the password that its method needs. If the method needs a different authorization
    /// once the password was given, the call fails.
    mutating func step(_ dispatcher: AdminDispatcher) -> Step<Self> {
        do throws(VarlinkError) {
            if let answered {
                // The broker has answered other calls since this one arrived, and their records may not be
                // committed yet.
                dispatcher.groupCommit.catchUp()
                try accept(answered.verdict)
            }
            switch dispatcher.adminRight(try request(dispatcher), session) {
            case .authentication(let action) where answered == nil: return .wait(for: .password(action))
            case .nothing: try dispatcher.run(parameters, call, session)
            case .authentication(let action) where action == answered?.action:
                try dispatcher.run(parameters, call, session)
            case .authentication, .never: throw AdminError.notAuthorized()
            }
        } catch {
            call.fail(error)
        }
        return .done
    }

    private func request(_ dispatcher: AdminDispatcher) throws(VarlinkError) -> AdminRequest {
        var request = AdminRequest(method: method, isOwn: parameters.users.isOwn(session.caller))
        switch parameters.ofMethod {
        case .queryAudit(let parameters): request.isByName = parameters.named != nil
        case .changeGrantedContacts(let parameters): request.widens = parameters.change == .share
        case .listChanges(let parameters): request.isByName = parameters.names
        case .putBack(let parameters):
            request.isByName = parameters.looksAtNames
            request.widens = parameters.many
        case .setBinDays(let parameters): request.widens = parameters.shorter
        case .connect(let parameters): request.widens = parameters.newPassword
        // The broker reads another user's data only after the authorization.
        case .setGrant(let parameters) where request.isOwn:
            request.widens = try GrantChanges(services: dispatcher.services).changes(parameters, session).contains {
                $0.change.widens
            }
        default: break
        }
        return request
    }

    private func accept(_ verdict: Verdict) throws(VarlinkError) {
        switch verdict {
        case .granted: return
        case .wantsInteraction where !parameters.mayInteract:
            throw AdminError.interactiveAuthenticationRequired
        case .refused: throw AdminError.notAuthorized("authentication failed")
        case .wantsInteraction: throw AdminError.notAuthorized(Verdict.withoutPasswordAgent)
        case .absent: throw AdminError.notAuthorized(Verdict.withoutAuthority)
        case .unanswered(_, let reason): throw AdminError.notAuthorized(reason)
        }
    }
}

extension Wait<AdminCall> {
    /// The password for an action.
    fileprivate static func password(_ action: AuthorityAction) -> Wait {
        Wait { waiting in
            let value = waiting.value
            waiting.services.passwords.want(
                action, of: value.session, app: value.parameters.app, access: value.parameters.accessWords,
                mayInteract: value.parameters.mayInteract, for: value.call
            ) { verdict in
                waiting.value.answered = (action, verdict)
                waiting.resume()
            }
        }
    }
}

extension AdminError {
    /// The error of a method that needs a policy that can be read.
    static func invalidValue(_ problem: Policy.Problem) -> VarlinkError {
        invalidValue(problem.subject.rawValue, reason: problem.reason)
    }
}
