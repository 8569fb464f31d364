import AccessControl
import AccessStore
import ContactsInterface
import ContactsModel
import JSON
import Varlink

/// What people who manage access may call.
extension Broker {
    func answerAdministrator(_ call: Call, _ session: CallerSession) {
        guard call.interface == ContactsInterface.admin.name, let method = AdminMethod(rawValue: String(call.name))
        else {
            return call.fail(.methodNotFound(call.method))
        }
        do throws(VarlinkError) {
            // Nobody without a right learns even what is wrong with their parameters.
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

    // MARK: Who may

    private func adminRight(_ request: AdminRequest, _ session: CallerSession) -> AdminRight {
        surroundings.wantsPasswords
            ? right(for: request, by: session.caller) : rightInSession(by: session.caller, ownUID: surroundings.ownUID)
    }

    private func request(
        _ method: AdminMethod, _ parameters: AdminParameters, _ session: CallerSession
    ) throws(VarlinkError) -> AdminRequest {
        let uid = parameters.uid ?? session.caller.uid
        var request = AdminRequest(method: method, isOwn: uid == session.caller.uid && !parameters.allUsers)
        // What is another user's is not looked at before it is known that it may be.
        if method == .setGrant, request.isOwn {
            request.widens = try changes(parameters, session).contains { $0.change.widens }
        }
        return request
    }

    /// Asks for the password that a method wants, and then runs it, if it still wants no more than that.
    private func authenticate(
        _ action: AuthorityAction, _ method: AdminMethod, _ parameters: AdminParameters, _ call: Call,
        _ session: CallerSession
    ) {
        wantPassword(
            action, of: session, app: parameters.app, mayInteract: parameters.mayInteract, for: call
        ) { [weak self] verdict in
            guard let self else { return }
            // Since the call came others were answered whose records are to be committed yet.
            turn.catchUp()
            do throws(VarlinkError) {
                switch verdict {
                case .granted: break
                case .wantsInteraction where !parameters.mayInteract:
                    throw AdminError.interactiveAuthenticationRequired
                case .refused: throw AdminError.notAuthorized("you were not recognised")
                case .wantsInteraction: throw AdminError.notAuthorized(Self.withoutPasswordAgent)
                case .absent: throw AdminError.notAuthorized(Self.withoutAuthority)
                case .unanswered(let reason): throw AdminError.notAuthorized(reason)
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
        case .listGrants: listGrantsForAdministrator(parameters, call, session)
        case .setGrant: try setGrant(parameters, call, session)
        case .resetGrant: try resetGrant(parameters, call, session)
        case .queryAudit: try queryAudit(parameters, call, session)
        case .verifyAudit: verifyAudit(call)
        case .getStatus: getStatus(parameters, call, session)
        case .listPending: listPending(parameters, call, session)
        case .explainDecision: try explainDecision(parameters, call, session)
        case .reloadPolicy: reloadPolicy(call)
        case .purgeUser: try purgeUser(parameters, call)
        }
    }

    // MARK: Grants

    typealias GrantedPrincipal = (principal: Principal, grant: Grant)

    /// The grants of one user, or of all, in a lasting order.
    func grantedPrincipals(uid: UInt32?) -> [GrantedPrincipal] {
        access.principals.filter { uid == nil || $0.uid == uid }
            .compactMap { principal in access.grant(of: principal).map { (principal, $0) } }
            .filter { !$0.grant.hasExpired(at: seconds) }
            .sorted {
                ($0.principal.uid, $0.principal.app, $0.grant.revision)
                    < ($1.principal.uid, $1.principal.app, $1.grant.revision)
            }
    }

    /// Writes a `Grant` of the administrator's interface, or an `AppGrant` of the agent's.
    func describe(
        _ principal: Principal, _ grant: Grant, forAdministrator: Bool, _ writer: inout JSONWriter
    ) {
        let usage = access.usage(of: principal)
        if forAdministrator { writer.member("uid", principal.uid) }
        writer.member("app", principal.app)
        writer.member("displayName", displayName(of: principal))
        writer.member("strength", principal.strength.rawValue)
        // Administrators see what was decided, and what counts beside it; the person what counts.
        let counting = policy.standing(of: grant, ruling(on: principal), at: seconds)
        writer.member("status", (forAdministrator ? grant.access.status : counting.status).rawValue)
        var seen = grant.access
        if !forAdministrator, case .granted(let counting) = counting { seen = counting.access }
        if case .limited(let records) = seen {
            writer.member("contacts", records.count)
        } else {
            writer.member("contacts", 0)
        }
        writer.member("keys", grant.keys.grantNames)
        if case .untilTime(let end) = grant.lifetime { writer.member("expires", Timestamp.text(seconds: end)) }
        writer.member("session", Self.words(for: principal.binding))
        if forAdministrator {
            writer.member("revision", grant.revision)
            writer.member("decidedBy", grant.decidedBy.rawValue)
            writer.member("decidedAt", Timestamp.text(seconds: grant.decidedAt))
            if counting.status != grant.access.status { writer.member("counts", counting.status.rawValue) }
            if access.isSilenced(principal) { writer.member("silenced", true) }
        }
        writer.member("lastUsedAt", usage.lastUsedAt.map { Timestamp.text(seconds: $0) })
        writer.member("uses", usage.uses)
    }

    func write(_ grants: [GrantedPrincipal], _ writer: inout JSONWriter) {
        writer.name("grants")
        writer.array(grants) { writer, entry in
            writer.object { describe(entry.principal, entry.grant, forAdministrator: true, &$0) }
        }
    }

    private func listGrantsForAdministrator(_ parameters: AdminParameters, _ call: Call, _ session: CallerSession) {
        let uid = parameters.allUsers ? nil : parameters.uid ?? session.caller.uid
        let grants = grantedPrincipals(uid: uid)
        let silenced = Set(access.silencedPrincipals.filter { uid == nil || $0.uid == uid })
            .subtracting(grants.map(\.principal))
            .sorted { ($0.uid, $0.app, $0.strength.rawValue) < ($1.uid, $1.app, $1.strength.rawValue) }
        call.reply { writer in
            writer.name("grants")
            writer.array(grants.map { ($0.principal, $0.grant) } + silenced.map { ($0, nil) }) { writer, entry in
                writer.object {
                    if let grant = entry.1 {
                        describe(entry.0, grant, forAdministrator: true, &$0)
                    } else {
                        describeSilenced(entry.0, &$0)
                    }
                }
            }
        }
    }

    /// A `Grant` of an app about which nothing was said but that it is never to be asked about.
    private func describeSilenced(_ principal: Principal, _ writer: inout JSONWriter) {
        let usage = access.usage(of: principal)
        writer.member("uid", principal.uid)
        writer.member("app", principal.app)
        writer.member("displayName", displayName(of: principal))
        writer.member("strength", principal.strength.rawValue)
        writer.member("status", AuthorizationStatus.notDetermined.rawValue)
        writer.member("contacts", 0)
        writer.member("session", Self.words(for: principal.binding))
        writer.member("revision", 0)
        writer.member("decidedBy", Grant.Decider.person.rawValue)
        writer.member("decidedAt", Timestamp.text(seconds: access.silencedSince(principal) ?? 0))
        writer.member("silenced", true)
        writer.member("lastUsedAt", usage.lastUsedAt.map { Timestamp.text(seconds: $0) })
        writer.member("uses", usage.uses)
    }

    /// What an app was called when it was decided about; else its file's name, where it is known by its file.
    private func displayName(of principal: Principal) -> String {
        if let name = access.displayName(of: principal) { return name }
        guard principal.app.hasPrefix("/") else { return principal.app }
        let path = principal.app.lastIndex(of: " ").map { principal.app[..<$0] } ?? principal.app[...]
        return path.split(separator: "/").last.map(String.init) ?? principal.app
    }

    func matching(_ parameters: AdminParameters, _ session: CallerSession) -> [GrantedPrincipal] {
        grantedPrincipals(uid: parameters.uid ?? session.caller.uid).filter {
            (parameters.app == nil || $0.principal.app == parameters.app)
                && (parameters.strength == nil || $0.principal.strength == parameters.strength)
        }
    }

    private func resetGrant(
        _ parameters: AdminParameters, _ call: Call, _ session: CallerSession
    ) throws(VarlinkError) {
        let uid = parameters.uid ?? session.caller.uid
        let isMeant = { (strength: IdentityStrength, app: String) in
            (parameters.app == nil || app == parameters.app)
                && (parameters.strength == nil || strength == parameters.strength)
        }
        let found = matching(parameters, session)
        let silenced = access.silencedPrincipals.filter { $0.uid == uid && isMeant($0.strength, $0.app) }
        let connected = sessions.values.lazy.map(\.caller).filter { $0.uid == uid && isMeant($0.strength, $0.app) }
        // What one of the crowd had to wait for, all of it had to.
        let crowd = (found.map(\.principal) + silenced).map(\.strength) + connected.map(\.strength)
        let waiting = prompts.forgetWaits(uid, where: isMeant, weak: crowd.contains(where: \.namesNobody))
        if found.isEmpty, silenced.isEmpty, waiting.isEmpty, let app = parameters.app {
            throw AdminError.unknownApp(app)
        }
        for principal in silenced {
            access.endSilence(of: principal)
            turn.record(.revocation, of: principal, detail: "asked again")
        }
        for (principal, _) in found { takeBack(principal, detail: "reset") }
        // Terminal sessions share the standing principal's identifiers, and a reset makes new ones.
        for (principal, _) in found where access.grant(of: principal.bound(to: .standing)) == nil {
            access.removeGrant(of: principal.bound(to: .standing))
        }
        grantsChanged()
        let waited = waiting.map { Principal(uid: uid, strength: $0.strength, app: $0.app) }
        let count = Set(silenced).union(found.map(\.principal)).union(waited).count
        replyOnDisk(call) { _, writer in writer.member("count", count) }
    }

    /// Replies once what was done is committed and on the disk.
    ///
    /// - Parameter error: replied instead, where what was done was to find that something is wrong.
    func replyOnDisk(
        _ call: Call, error: VarlinkError? = nil, _ write: @escaping (Broker, inout JSONWriter) -> Void
    ) {
        turn.work(
            committed: { [weak self] in
                self?.onDisk { [weak self] isOnDisk in
                    guard let self, isOnDisk else { return call.fail(Self.notRecorded) }
                    if let error { return call.fail(error) }
                    call.reply { write(self, &$0) }
                }
            },
            failed: { call.fail(Self.notRecorded) })
    }

    static var notRecorded: VarlinkError {
        AdminError.invalidValue(
            "state", reason: "the access database cannot be written; what was taken back stays so until a restart")
    }
}
