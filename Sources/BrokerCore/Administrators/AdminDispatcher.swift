import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Dispatches the calls on the administrator's socket.
struct AdminDispatcher {
    let surroundings: Surroundings
    let access: AccessStore
    let groupCommit: GroupCommit
    let grants: Grants
    let prompts: Prompts
    let passwords: Passwords
    let sessions: Sessions
    let history: History
    let described: GrantDescriptions
    let changes: GrantChanges
    let explanations: Explanations
    let audit: AuditQueries
    let lookUps: ContactLookUps
    let contactChanges: GrantedContactChanges
    let status: StatusReport
    let reloads: PolicyReloads
    let policies: PolicyEffects
    let purges: Purges
    let backUps: BackUps
    let restores: Restores
    let metrics: Metrics

    func answer(_ call: Call, _ session: CallerSession) {
        guard call.interface == ContactsInterface.admin.name, let method = AdminMethod(rawValue: String(call.name))
        else {
            return call.fail(.methodNotFound(call.method))
        }
        do throws(VarlinkError) {
            // A caller without any right gets this error even if its parameters are invalid.
            guard adminRight(AdminRequest(method: method, isOwn: true), session) != .never else {
                throw AdminError.notAuthorized()
            }
            let parameters = try AdminParameters(call.parameters, allowing: method.parameters)
            switch adminRight(try request(method, parameters, session), session) {
            case .never: throw AdminError.notAuthorized()
            case .nothing: try run(method, parameters, call, session)
            case .authentication(let action): authenticate(action, method, parameters, call, session)
            }
        } catch {
            call.fail(error)
        }
    }

    // MARK: Authorization

    private func adminRight(_ request: AdminRequest, _ session: CallerSession) -> AdminRight {
        surroundings.wantsPasswords
            ? right(for: request, by: session.caller) : rightInSession(by: session.caller, ownUID: surroundings.ownUID)
    }

    private func request(
        _ method: AdminMethod, _ parameters: AdminParameters, _ session: CallerSession
    ) throws(VarlinkError) -> AdminRequest {
        let uid = parameters.uid ?? session.caller.uid
        var request = AdminRequest(method: method, isOwn: uid == session.caller.uid && !parameters.allUsers)
        request.isByName = parameters.named != nil
        request.widens = parameters.change == .share
        // The broker reads another user's data only after the authorization.
        if method == .setGrant, request.isOwn {
            request.widens = try changes.changes(parameters, session).contains { $0.change.widens }
        }
        return request
    }

    /// Asks for the password that a method needs, and then runs the method. If the method needs a different
    /// authorization by then, the call fails.
    private func authenticate(
        _ action: AuthorityAction, _ method: AdminMethod, _ parameters: AdminParameters, _ call: Call,
        _ session: CallerSession
    ) {
        passwords.want(
            action, of: session, app: parameters.app, access: parameters.accessWords,
            mayInteract: parameters.mayInteract, for: call
        ) { verdict in
            // The broker has answered other calls since this one arrived, and their records may not be
            // committed yet.
            groupCommit.catchUp()
            do throws(VarlinkError) {
                switch verdict {
                case .granted: break
                case .wantsInteraction where !parameters.mayInteract:
                    throw AdminError.interactiveAuthenticationRequired
                case .refused: throw AdminError.notAuthorized("authentication failed")
                case .wantsInteraction: throw AdminError.notAuthorized(Verdict.withoutPasswordAgent)
                case .absent: throw AdminError.notAuthorized(Verdict.withoutAuthority)
                case .unanswered(_, let reason): throw AdminError.notAuthorized(reason)
                }
                switch adminRight(try request(method, parameters, session), session) {
                case .nothing, .authentication(action): try run(method, parameters, call, session)
                case .authentication, .never: throw AdminError.notAuthorized()
                }
            } catch {
                call.fail(error)
            }
        }
    }

    private func run(
        _ method: AdminMethod, _ parameters: AdminParameters, _ call: Call, _ session: CallerSession
    ) throws(VarlinkError) {
        switch method {
        case .listGrants: listGrants(parameters, call, session)
        case .setGrant: try changes.set(parameters, call, session)
        case .resetGrant: try resetGrant(parameters, call, session)
        case .endSessionGrants: try endSessionGrants(parameters, call, session)
        case .queryAudit where parameters.named != nil: try lookUps.history(parameters, call, session)
        case .queryAudit: try audit.query(parameters, call, session)
        case .findContactAccess: try lookUps.find(parameters, call, session)
        case .changeGrantedContacts: try contactChanges.change(parameters, call, session)
        case .verifyAudit: audit.verify(parameters, call)
        case .getStatus: status.answer(call, session, isWhole: audit.extent(parameters, session) == .whole)
        case .listPending: explanations.listPending(parameters, call, session)
        case .explainDecision: try explanations.explain(parameters, call, session)
        case .reloadPolicy: reloadPolicy(call)
        case .explainPolicy: policies.explain(call)
        case .tryPolicy: policies.try(parameters, call)
        case .purgeUser: try purges.purge(parameters, call)
        case .getMetrics: call.reply { $0.member("text", metrics.text()) }
        case .listUsers:
            call.reply {
                $0.name("users"); $0.array(access.users) { $0.value($1) }
            }
        case .backUp: try backUps.backUp(parameters, call, session)
        case .beginRestore: try restores.begin(parameters, call, session)
        case .restoreLines: try restores.read(parameters, call, session)
        case .finishRestore: try restores.finish(parameters, call, session)
        }
    }

    private func listGrants(_ parameters: AdminParameters, _ call: Call, _ session: CallerSession) {
        let uid = parameters.user(session)
        let found = described.grantedPrincipals(uid: uid)
        let silenced = Set(access.silencedPrincipals.filter { uid == nil || $0.uid == uid })
            .subtracting(found.map(\.principal))
            .sorted { ($0.uid, $0.app, $0.strength.rawValue) < ($1.uid, $1.app, $1.strength.rawValue) }
        let all = found.map { ($0.principal, $0.grant) } + silenced.map { ($0, nil) }
        call.reply { described.write(all, forAdministrator: true, &$0) }
    }

    private func resetGrant(
        _ parameters: AdminParameters, _ call: Call, _ session: CallerSession
    ) throws(VarlinkError) {
        let found = described.matching(parameters, session)
        let user = parameters.user(session)
        let silenced = access.silencedPrincipals.filter {
            $0.uid == user ?? $0.uid && parameters.isAbout($0.strength, $0.app)
        }
        let waited = dropWaits(parameters, user, decided: found.map(\.principal) + silenced)
        if found.isEmpty, silenced.isEmpty, waited.isEmpty, let app = parameters.app {
            throw AdminError.unknownApp(app)
        }
        let count = Set(silenced).union(found.map(\.principal)).union(waited).count
        let source = AdministratorSource(session)
        let ending = silenced.map { (principal: $0, isSilence: true) } + found.map { ($0.principal, false) }
        inBatches(ending, call, count: count) { principal, isSilence in
            if isSilence {
                access.endSilence(of: principal)
                groupCommit.record(.revocation, of: principal, detail: source.detail("asked again", for: principal.uid))
                return
            }
            grants.endGrant(principal, detail: source.detail("reset", for: principal.uid))
            // Terminal sessions share the identifier key of the persistent principal. This removes that key too,
            // so that the app gets new identifiers.
            let persistent = principal.bound(to: .persistent)
            if access.grant(of: persistent) == nil { access.removeGrant(of: persistent) }
        }
    }

    /// Ends many grants or silences, and then replies with their number. The loop serves other callers in between, so each
    /// may have changed when its turn comes.
    private func inBatches<Element>(
        _ elements: [Element], _ call: Call, count: Int, _ end: @escaping (Element) -> Void
    ) {
        var error: VarlinkError?
        surroundings.loop.inBatches(elements[...], of: surroundings.limits.grantsPerIteration) { element in
            end(element)
            groupCommit.work(failed: { error = GroupCommit.notWritten })
        } then: {
            history.moved()
            groupCommit.replyOnDisk(call, error: error) { $0.member("count", count) }
        }
    }

    /// All users for whom the broker keeps something that a reset removes.
    private func users() -> [UInt32] {
        Set(access.principals.map(\.uid)).union(access.silencedPrincipals.map(\.uid))
            .union(sessions.all.map(\.caller.uid)).union(prompts.waitingUsers).sorted()
    }

    /// Ends the back-offs of matching apps, of one user or of all users, and returns these apps.
    private func dropWaits(_ parameters: AdminParameters, _ user: UInt32?, decided: [Principal]) -> [Principal] {
        let decided = Dictionary(grouping: decided, by: \.uid)
        let connected = Dictionary(
            grouping: sessions.all.map(\.caller).filter { parameters.isAbout($0.strength, $0.app) }, by: \.uid)
        return (user.map { [$0] } ?? users()).flatMap { uid in
            let connected = connected[uid] ?? []
            // Weakly identified apps share limits on prompts. Resetting one of these apps resets the shared
            // limits.
            let strengths = (decided[uid] ?? []).map(\.strength) + connected.map(\.strength)
            return prompts.dropWaits(
                uid, where: parameters.isAbout, connected: connected, weak: strengths.contains(where: \.namesNobody)
            ).map { Principal(uid: uid, strength: $0.strength, app: $0.app) }
        }
    }

    /// Ends the access that apps have for one terminal session or process. Denials stay, because an app could
    /// otherwise ask again.
    private func endSessionGrants(
        _ parameters: AdminParameters, _ call: Call, _ session: CallerSession
    ) throws(VarlinkError) {
        let found = described.matching(parameters, session)
        if found.isEmpty, let app = parameters.app { throw AdminError.unknownApp(app) }
        let source = AdministratorSource(session)
        let ended = found.filter { $0.principal.binding != .persistent && $0.grant.access != .denied }
        inBatches(ended, call, count: ended.count) { principal, _ in
            guard access.grant(of: principal)?.access != .denied else { return }
            grants.endGrant(principal, detail: source.detail("session ended", for: principal.uid))
        }
    }

    // MARK: Policy

    /// Reloads the policy. After the reply, the broker discloses nothing that the new policy forbids.
    private func reloadPolicy(_ call: Call) {
        reloads.reload { policy in
            let refusal = policy.problem.map(AdminError.invalidValue)
            groupCommit.replyOnDisk(call, error: refusal) {
                $0.member("rules", policy.rules.count)
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
