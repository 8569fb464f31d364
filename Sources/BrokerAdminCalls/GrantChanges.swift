import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerCalls
import BrokerGrants
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// The new state of a grant after `SetGrant`.
struct GrantChange {
    var grant: Grant
    /// Whether the change gives the app more access.
    var widens = false
    /// Whether the grant ends, because a denial of the app in all terminals and processes replaces it.
    var ends = false
}

/// Narrows and widens grants for `SetGrant`. The caller's authorization must be checked first.
struct GrantChanges: UsesServices {
    let services: BrokerServices

    func set(_ parameters: SetGrantParameters, _ call: Call, _ session: CallerSession) throws(VarlinkError) {
        var changed: [(Principal, Grant?)] = []
        let source = AdministratorSource(session)
        for (principal, change) in try changes(parameters, session) {
            if change.ends {
                grants.endGrant(principal, detail: nil)
                continue
            }
            var grant = change.grant
            grant.revision = access.nextRevision()
            changed.append((principal, grant))
            if change.widens { settle(principal, grant, source) } else { lower(principal, grant, source) }
        }
        grants.scheduleExpiry()
        groupCommit.replyOnDisk(call) { [changed] in described.write(changed, forAdministrator: true, &$0) }
    }

    /// Puts a grant into effect that gives less access than the one before.
    func lower(_ principal: Principal, _ grant: Grant, _ source: AdministratorSource) {
        let left = access.grant(of: principal)?.access.records ?? []
        access.setGrant(
            grant, for: principal, displayName: described.displayName(of: principal),
            at: books.moment(of: principal.uid))
        // Unless the new grant is limited, the record names no contacts.
        let removed = grant.access.status == .limited ? left.subtracting(grant.access.records) : []
        groupCommit.record(.revocation, of: principal, naming: removed) {
            $0.detail = source.detail(for: principal.uid)
            if !removed.isEmpty { $0.count = removed.count }
            $0.status = grant.access.status
            $0.keys = grant.keys
            $0.revision = grant.revision
        }
        grants.narrowed(principal)
    }

    /// Puts a new grant into effect, as after an answer of the person.
    func settle(_ principal: Principal, _ grant: Grant, _ source: AdministratorSource) {
        grants.settle(
            grant, for: principal, displayName: access.displayName(of: principal) ?? principal.app,
            sharesPersistentKey: !access.isInterpreter(principal), author: source.detail(for: principal.uid)
        ) { _ in }
    }

    /// Computes the change to each grant that the parameters name, without applying it.
    func changes(
        _ parameters: SetGrantParameters, _ session: CallerSession
    ) throws(VarlinkError) -> [(principal: Principal, change: GrantChange)] {
        let status = parameters.status
        let found = described.matching(parameters.apps, session)
        guard !found.isEmpty else { throw AdminError.unknownApp(parameters.app) }
        var changes: [(Principal, GrantChange)] = []
        let source = AdministratorSource(session)
        for (principal, grant) in found {
            var change = try change(grant, of: principal, to: status, parameters, source)
            // The same program could otherwise ask again in another terminal. An interpreter runs many programs, so
            // it is denied only where it has access.
            if status == .denied, principal.binding != .persistent, !access.isInterpreter(principal) {
                let whole = principal.bound(to: .persistent)
                if access.grant(of: whole) == nil, !changes.contains(where: { $0.0 == whole }) {
                    change.grant.lifetime = .untilRevoked
                    changes.append((whole, change))
                }
                change.ends = true
            }
            changes.append((principal, change))
        }
        return changes
    }

    private func change(
        _ grant: Grant, of principal: Principal, to status: AuthorizationStatus, _ parameters: SetGrantParameters,
        _ source: AdministratorSource
    ) throws(VarlinkError) -> GrantChange {
        var change = GrantChange(grant: grant)
        change.grant.own = []
        try changeAccess(&change, of: principal, to: status, parameters)
        if let keys = parameters.keys {
            if !keys.isSubset(of: grant.keys) {
                try widen(
                    &change, parameters, "keys",
                    reason: "the app may not read all of these keys, and only the person can add keys")
            }
            change.grant.keys = keys
        }
        if let changes = parameters.changes {
            if changes > grant.changes || grant.access == .denied {
                try widen(
                    &change, parameters, "changes",
                    reason: "only the person can let an app change more, in contact-agent")
            }
            change.grant.changes = changes
        }
        try changeEnd(&change, parameters)
        if grant.access != .denied, parameters.expires == nil { change.grant.keepDenial() }
        let isRevoked = change.grant.access == .denied && grant.access != .denied
        // A narrowed grant remains the former decision, unless it is denied: a new time would extend the grant beyond the
        // policy's lifetime, or revive an expired grant. The audit tells who narrowed it.
        if change.grant.access == .denied || change.widens {
            change.grant.decidedBy = source.decider(of: principal.uid)
            change.grant.decidedThrough = (isRevoked ? "revoked " : "") + source.words(for: principal.uid)
            change.grant.decidedAt = services.seconds
        }
        return change
    }

    private func changeAccess(
        _ change: inout GrantChange, of principal: Principal, to status: AuthorizationStatus,
        _ parameters: SetGrantParameters
    ) throws(VarlinkError) {
        let former = change.grant.access
        guard status != .full || principal.strength != .declared else {
            throw AdminError.invalidValue("status", reason: "an app in a declared folder never gets full access")
        }
        switch (status, former) {
        case (.denied, _): change.grant.access = .denied
        case (.limited, .full): change.grant.access = .limited(to: [])
        case (.limited, .limited(let records)):
            if let stay = parameters.identifiers.map(Set.init) {
                change.grant.narrow(
                    to: records.filter { stay.contains(access.audit.pseudonyms.pseudonym(of: $0, uid: principal.uid)) })
            }
        case (.full, .full): break
        case (.full, _), (.limited, .denied):
            try widen(
                &change, parameters, "status",
                reason: "only the person can give an app more access: in contact-agent, select it and press Return")
            change.grant.access = status == .full ? .full : .limited(to: [])
            // The keys and the right of a denied grant do not show what the app may read and change.
            if former == .denied {
                (change.grant.keys, change.grant.changes) = (Grant.ordinaryKeys, Grant.firstChanges)
            }
        case (.notDetermined, _):
            throw AdminError.invalidValue("status", reason: "to have the person asked again, use ResetGrant")
        case (.restricted, _): throw AdminError.invalidValue("status", reason: "only a policy rule can restrict an app")
        }
    }

    private func changeEnd(_ change: inout GrantChange, _ parameters: SetGrantParameters) throws(VarlinkError) {
        guard let expires = parameters.expires else { return }
        guard let end = Timestamp.seconds(expires), end > services.seconds else {
            throw AdminError.invalidValue("expires", reason: "must be in the future, such as 2026-01-31T12:00:00Z")
        }
        switch change.grant.lifetime {
        case .untilTime(let now) where end > now:
            try widen(&change, parameters, "expires", reason: "must not be later than the grant's current end")
        case .untilRevoked, .untilTime: break
        case .session, .process:
            throw AdminError.invalidValue("expires", reason: "this grant ends with its session or process")
        }
        change.grant.lifetime = .untilTime(end)
    }

    /// Marks the change as widening. If the broker cannot ask for passwords, only the person can widen a
    /// grant, at a prompt.
    private func widen(
        _ change: inout GrantChange, _ parameters: SetGrantParameters, _ parameter: String, reason: String
    ) throws(VarlinkError) {
        guard surroundings.wantsPasswords else { throw AdminError.invalidValue(parameter, reason: reason) }
        guard !parameters.apps.users.allUsers else {
            throw AdminError.invalidValue(
                parameter, reason: "an app can be given more access only for one user at a time")
        }
        guard parameters.apps.strength != nil else {
            throw AdminError.invalidValue(
                "strength", reason: "to give an app more access, name its identity strength, such as installed")
        }
        change.widens = true
    }
}
