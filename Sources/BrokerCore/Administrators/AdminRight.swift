import BrokerAccessControl
import BrokerInterface

/// What is asked for at the administrator's door, as far as it matters for who may.
struct AdminRequest: Hashable {
    var method: AdminMethod
    /// About the caller's own user and nobody else.
    var isOwn: Bool
    /// Of `SetGrant`: it gives an app something.
    var widens = false
}

/// What a caller must have before a method of the administrator's door is run for it.
enum AdminRight: Hashable {
    case nothing
    case authentication(AuthorityAction)
    /// There is nothing that would help.
    case never
}

/// The right that a request wants where an authority can be asked. Pure.
func right(for request: AdminRequest, by caller: Caller) -> AdminRight {
    switch caller.strength {
    // A name that the system vouches for is an app's or a service's: no person sits there.
    case .labelled, .sandboxed, .service: return .never
    case .installed, .claimed, .unverified: break
    }
    guard !caller.isSandboxed else { return .never }
    guard caller.uid != 0 else { return .nothing }
    guard request.isOwn else { return .authentication(.admin) }
    switch request.method {
    case .listGrants, .explainDecision, .listPending, .getStatus: return .nothing
    case .setGrant: return request.widens ? .authentication(.shareAll) : .nothing
    case .resetGrant, .queryAudit: return .authentication(.manageOwn)
    case .verifyAudit, .reloadPolicy, .purgeUser: return .authentication(.admin)
    }
}

/// The same in session mode, where nobody can be asked: the broker's own user and root may do everything, anybody else nothing.
func rightInSession(by caller: Caller, ownUID: UInt32) -> AdminRight {
    (caller.uid == ownUID || caller.uid == 0) && !caller.isSandboxed ? .nothing : .never
}

extension AdminMethod {
    /// Its parameters, beside `allowInteractiveAuthentication`.
    var parameters: Set<String> {
        switch self {
        case .listGrants: ["uid", "allUsers"]
        case .getStatus: ["allUsers"]
        case .setGrant: ["app", "strength", "uid", "status", "identifiers", "keys", "expires"]
        case .resetGrant, .explainDecision: ["app", "strength", "uid"]
        case .queryAudit:
            ["uid", "allUsers", "app", "since", "until", "event", "contact", "limit", "follow"]
        case .listPending, .purgeUser: ["uid"]
        case .verifyAudit, .reloadPolicy: []
        }
    }
}
