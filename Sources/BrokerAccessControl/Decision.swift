import BrokerModel

/// What holds for a caller before it is decided what it gets: the person's word and the administrator's.
public enum Standing: Hashable, Sendable {
    case notDetermined
    case restricted
    case granted(Grant)

    public var status: AuthorizationStatus {
        switch self {
        case .notDetermined: .notDetermined
        case .restricted: .restricted
        case .granted(let grant): grant.access.status
        }
    }

    public var revision: Int64 {
        if case .granted(let grant) = self { return grant.revision }
        return 0
    }
}

/// What is asked of the person. In the words of the agent's interface.
public enum PromptKind: String, CaseIterable, Sendable {
    case access, button, manage, pick, propose
}

/// Why not.
public enum Denial: String, Hashable, Sendable {
    case notDetermined, denied, restricted
}

// The table of authorization, as functions: one for each kind of operation, with a type for what it can get. They are pure:
// the same arguments give the same decision, today and over an audit. `mayAsk` is false once the person was asked, so that
// no call asks twice.

/// What a call that reads or saves gets. Reading is fetching, counting, history, groups, containers, linked contacts and the
/// person's own settings.
public enum AccessDecision: Hashable, Sendable {
    case permit(Disclosure)
    /// The person is asked for access.
    case ask
    case refuse(Denial)
}

public func decideAccess(_ standing: Standing, mayAsk: Bool) -> AccessDecision {
    switch standing {
    case .notDetermined: mayAsk ? .ask : .refuse(.notDetermined)
    case .restricted: .refuse(.restricted)
    case .granted(let grant): permit(grant)
    }
}

private func permit(_ grant: Grant) -> AccessDecision {
    switch grant.access {
    case .denied: .refuse(.denied)
    case .limited(let records): .permit(Disclosure(scope: .only(records), keys: grant.keys, revision: grant.revision))
    case .full: .permit(Disclosure(scope: .all, keys: grant.keys, revision: grant.revision))
    }
}

/// What a caller gets that waits for changes.
public enum WatchDecision: Hashable, Sendable {
    case permit(Disclosure)
    /// Until the standing changes. The person is not asked.
    case wait
    case refuse(Denial)
}

public func decideWatch(_ standing: Standing) -> WatchDecision {
    switch decideAccess(standing, mayAsk: true) {
    case .permit(let disclosure): .permit(disclosure)
    case .ask: .wait
    case .refuse(let denial): .refuse(denial)
    }
}

/// What a caller gets that asks for access and reads nothing yet.
public enum RequestDecision: Hashable, Sendable {
    case ask
    /// At once, from what was decided earlier.
    case answer(AuthorizationStatus)
}

public func decideRequest(_ standing: Standing, mayAsk: Bool) -> RequestDecision {
    if mayAsk, case .notDetermined = standing { return .ask }
    return .answer(standing.status)
}

/// What a caller gets that offers the person a prompt which they may as well leave: the access button, the one-time picker and a
/// proposed card.
public enum OfferDecision: Hashable, Sendable {
    /// - Parameter isQuiet: as one line that the person may open: no screen is taken on behalf of an app that was denied.
    case ask(isQuiet: Bool)
    /// Nothing, as after any prompt that granted nothing.
    case answerEmpty
    case refuse(Denial)
}

/// The access button. Who has everything has nothing to ask for.
public func decideButton(_ standing: Standing, mayAsk: Bool) -> OfferDecision {
    if case .granted(let grant) = standing, case .full = grant.access { return .answerEmpty }
    return decideOffer(standing, mayAsk: mayAsk)
}

/// The one-time picker and proposed cards. They need no access, change none, and are out of reach only where policy decides.
public func decideOffer(_ standing: Standing, mayAsk: Bool) -> OfferDecision {
    switch standing {
    case .restricted: .refuse(.restricted)
    case .notDetermined: mayAsk ? .ask(isQuiet: false) : .answerEmpty
    case .granted(let grant): mayAsk ? .ask(isQuiet: grant.access == .denied) : .answerEmpty
    }
}

/// What a caller gets that asks for the access picker.
public enum ManageDecision: Hashable, Sendable {
    case ask, answerEmpty
}

public func decideManage(_ standing: Standing, mayAsk: Bool) -> ManageDecision {
    if mayAsk, case .granted(let grant) = standing, case .limited = grant.access { return .ask }
    return .answerEmpty
}
