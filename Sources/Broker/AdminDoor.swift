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
        // In session mode the broker's own user and root may do everything, anybody else nothing.
        guard session.caller.uid == surroundings.ownUID || session.caller.uid == 0, !session.caller.isSandboxed else {
            return call.fail(AdminError.notAuthorized)
        }
        do throws(VarlinkError) {
            switch method {
            case .listGrants: try listGrantsForAdministrator(call, session)
            case .setGrant: try setGrant(call, session)
            case .resetGrant: try resetGrant(call, session)
            case .queryAudit: try queryAudit(call, session)
            case .verifyAudit: try verifyAudit(call)
            case .getStatus: try getStatus(call)
            case .listPending: try listPending(call, session)
            case .explainDecision: try explainDecision(call, session)
            case .reloadPolicy: try reloadPolicy(call)
            case .purgeUser: try purgeUser(call)
            }
        } catch {
            call.fail(error)
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
        writer.member("displayName", access.displayName(of: principal) ?? principal.app)
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
        writer.member("keys", grant.keys.keys.map(\.rawValue))
        if case .untilTime(let end) = grant.lifetime { writer.member("expires", Timestamp.text(seconds: end)) }
        writer.member("session", Self.words(for: principal.binding))
        if forAdministrator {
            writer.member("revision", grant.revision)
            writer.member("decidedBy", grant.decidedBy.rawValue)
            writer.member("decidedAt", Timestamp.text(seconds: grant.decidedAt))
            if counting.status != grant.access.status { writer.member("counts", counting.status.rawValue) }
        }
        writer.member("lastUsedAt", usage.lastUsedAt.map { Timestamp.text(seconds: $0) })
        writer.member("uses", usage.uses)
    }

    private func write(_ grants: [GrantedPrincipal], _ writer: inout JSONWriter) {
        writer.name("grants")
        writer.array(grants) { writer, entry in
            writer.object { describe(entry.principal, entry.grant, forAdministrator: true, &$0) }
        }
    }

    private func listGrantsForAdministrator(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try AdminParameters(call.parameters, allowing: ["uid", "allUsers"])
        let grants = grantedPrincipals(uid: parameters.allUsers ? nil : parameters.uid ?? session.caller.uid)
        call.reply { write(grants, &$0) }
    }

    private func matching(_ parameters: AdminParameters, _ session: CallerSession) -> [GrantedPrincipal] {
        grantedPrincipals(uid: parameters.uid ?? session.caller.uid).filter {
            (parameters.app == nil || $0.principal.app == parameters.app)
                && (parameters.strength == nil || $0.principal.strength == parameters.strength)
        }
    }

    private func setGrant(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try AdminParameters(
            call.parameters, allowing: ["app", "strength", "uid", "status", "identifiers", "keys", "expires"])
        guard let app = parameters.app else { throw .invalidParameter("app") }
        guard let status = parameters.status else { throw .invalidParameter("status") }
        let found = matching(parameters, session)
        guard !found.isEmpty else { throw AdminError.unknownApp(app) }
        var lowered: [GrantedPrincipal] = []
        for (principal, grant) in found {
            lowered.append((principal, try lower(grant, of: principal, to: status, parameters)))
        }
        for (principal, grant) in lowered {
            access.setGrant(grant, for: principal, displayName: access.displayName(of: principal) ?? principal.app)
            record(.revocation, of: principal) {
                $0.status = grant.access.status
                $0.keys = grant.keys
                $0.revision = grant.revision
            }
            narrowed(principal)
        }
        scheduleExpiry()
        replyOnDisk(call) { broker, writer in broker.write(lowered, &writer) }
    }

    /// The grant after it was lowered. Only the person widens, at a prompt.
    private func lower(
        _ grant: Grant, of principal: Principal, to status: AuthorizationStatus, _ parameters: AdminParameters
    ) throws(VarlinkError) -> Grant {
        let wider = AdminError.invalidValue("status", reason: "only the person widens what an app may see, at a prompt")
        var lowered = grant
        lowered.own = []
        switch (status, grant.access) {
        case (.denied, _): lowered.access = .denied
        case (.limited, .full): lowered.access = .limited(to: [])
        case (.limited, .limited(let records)):
            if let stay = parameters.identifiers.map(Set.init) {
                lowered.access = .limited(
                    to: records.filter { stay.contains(access.pseudonym(of: $0, uid: principal.uid)) })
            }
        case (.full, .full): break
        case (.full, _), (.limited, .denied): throw wider
        case (.notDetermined, _):
            throw AdminError.invalidValue("status", reason: "to have the person asked again, use ResetGrant")
        case (.restricted, _): throw AdminError.invalidValue("status", reason: "policy restricts, not a grant")
        }
        if let keys = parameters.keys {
            guard keys.isSubset(of: grant.keys) else {
                throw AdminError.invalidValue("keys", reason: "only keys that the app may read now can stay")
            }
            lowered.keys = keys
        }
        if let expires = parameters.expires {
            guard let end = Timestamp.seconds(expires), end > seconds else {
                throw AdminError.invalidValue("expires", reason: "no time to come, as 2026-01-31T12:00:00Z")
            }
            switch grant.lifetime {
            case .untilTime(let now) where end > now:
                throw AdminError.invalidValue("expires", reason: "later than the grant ends now")
            case .untilRevoked, .untilTime: lowered.lifetime = .untilTime(end)
            case .session, .process:
                throw AdminError.invalidValue("expires", reason: "this grant ends with its session or process")
            }
        }
        lowered.revision = access.nextRevision()
        lowered.decidedBy = .administrator
        // What still gives something is as old as it was: lowering must not make it last longer than the policy allows, nor
        // bring back what is over by it.
        if lowered.access == .denied { lowered.decidedAt = seconds }
        return lowered
    }

    private func resetGrant(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        let parameters = try AdminParameters(call.parameters, allowing: ["app", "strength", "uid"])
        let found = matching(parameters, session)
        if found.isEmpty, let app = parameters.app { throw AdminError.unknownApp(app) }
        for (principal, _) in found { takeBack(principal, detail: "reset") }
        // Terminal sessions share the standing principal's identifiers, and a reset makes new ones.
        for (principal, _) in found where access.grant(of: principal.bound(to: .standing)) == nil {
            access.removeGrant(of: principal.bound(to: .standing))
        }
        grantsChanged()
        replyOnDisk(call) { _, writer in writer.member("count", found.count) }
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
