import BrokerAccessControl
import BrokerInterface

/// The properties of a request on the administrator's socket that decide which authorization it needs.
struct AdminRequest: Hashable {
    var method: AdminMethod
    /// Whether the request concerns only the caller's own user.
    var isOwn: Bool
    /// Whether the change gives an app more access, puts back more than a few contacts, shortens the days of the bin, or tells
    /// another password.
    var widens = false
    /// For `QueryAudit`: whether the request names a contact by its content. For `ListChanges` and `PutBack`: whether the
    /// reply does.
    var isByName = false

    /// Whether the request concerns the content of contacts. Of users other than root, only the owner may make it, with
    /// a password each time.
    var concernsContent: Bool {
        switch method {
        case .findContactAccess, .changeGrantedContacts, .backUp, .beginRestore: true
        case .queryAudit, .listChanges: isByName
        case .putBack, .setBinDays, .emptyBin, .connect: true
        case .listGrants, .setGrant, .resetGrant, .endSessionGrants, .verifyAudit, .listPending, .explainDecision,
            .getStatus, .reloadPolicy, .explainPolicy, .tryPolicy, .purgeUser, .getMetrics, .listUsers, .restoreLines,
            .finishRestore, .getBin, .disconnect, .listConnections:
            false
        }
    }
}

/// The authorization that a caller needs for a request on the administrator's socket.
enum AdminRight: Hashable {
    case nothing
    case authentication(AuthorityAction)
    /// No authorization is sufficient.
    case never
}

/// The authorization that a request needs if ``Surroundings/wantsPasswords`` is `true`.
func right(for request: AdminRequest, by caller: Caller) -> AdminRight {
    switch caller.strength {
    // A caller with one of these strengths is an app or a service, not a person's shell, so it has no rights
    // here.
    case .labelled, .sandboxed, .service, .password: return .never
    case .installed, .claimed, .unverified, .declared: break
    }
    guard !caller.isSandboxed else { return .never }
    guard caller.uid != 0 else { return .nothing }
    // A restore that has begun on the connection was authorized then.
    guard request.method != .restoreLines, request.method != .finishRestore else { return .nothing }
    guard request.isOwn else {
        // Only root may look up other users' contacts, and only if the settings permit it (``ContactLookUps``).
        return request.concernsContent ? .never : .authentication(.admin)
    }
    switch request.method {
    case .listGrants, .explainDecision, .listPending, .getStatus, .endSessionGrants, .restoreLines, .finishRestore,
        .getBin, .disconnect, .listConnections:
        return .nothing
    // The person gives access at the prompt. Another password would let somebody else use what was given.
    case .connect: return request.widens ? .authentication(.shareAll) : .nothing
    case .setGrant: return request.widens ? .authentication(.shareAll) : .nothing
    case .resetGrant: return .authentication(.manageOwn)
    case .queryAudit, .listChanges: return .authentication(request.isByName ? .lookUp : .manageOwn)
    case .putBack:
        if request.widens { return .authentication(.putBack) }
        return request.isByName ? .authentication(.lookUp) : .nothing
    case .setBinDays: return request.widens ? .authentication(.emptyBin) : .nothing
    case .emptyBin: return .authentication(.emptyBin)
    case .findContactAccess: return .authentication(.lookUp)
    case .changeGrantedContacts: return .authentication(request.widens ? .shareAll : .lookUp)
    case .backUp: return .authentication(.backUp)
    case .beginRestore: return .authentication(.restore)
    case .verifyAudit, .reloadPolicy, .explainPolicy, .tryPolicy, .purgeUser, .getMetrics, .listUsers:
        return .authentication(.admin)
    }
}

/// The authorization that a request needs in session mode, without an authority. Outside a sandbox, the
/// broker's own user and root may do everything. All other callers may do nothing.
func rightInSession(by caller: Caller, ownUID: UInt32) -> AdminRight {
    (caller.uid == ownUID || caller.uid == 0) && !caller.isSandboxed ? .nothing : .never
}
