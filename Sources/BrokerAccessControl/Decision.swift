import BrokerModel

/// A caller's effective access: the person's grant with the policy applied.
public enum EffectiveAccess: Hashable, Sendable {
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

/// The kind of a prompt, as the agent's interface names it.
public enum PromptKind: String, CaseIterable, Sendable {
    case access, button, manage, pick, propose, keys, change
}

/// Why a request is refused.
public enum Denial: String, Hashable, Sendable {
    case notDetermined, denied, restricted
}

// The decision table: one pure function per kind of operation. Each returns a type with only the decisions
// that are possible for that operation. `mayAsk` is false if the broker must not prompt, for example because
// the policy forbids it or because this call has already prompted the person.

/// The decision for a call that reads or saves. Reading includes fetching, counting, history, groups,
/// containers, linked contacts and the user defaults.
public enum AccessDecision: Hashable, Sendable {
    case permit(Disclosure)
    /// Prompt the person for access.
    case ask
    case refuse(Denial)
}

public func decideAccess(_ access: EffectiveAccess, mayAsk: Bool) -> AccessDecision {
    switch access {
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

/// The decision for a call that waits for changes.
public enum WatchDecision: Hashable, Sendable {
    case permit(Disclosure)
    /// Wait until the effective access changes, without a prompt.
    case wait
    case refuse(Denial)
}

public func decideWatch(_ access: EffectiveAccess) -> WatchDecision {
    switch decideAccess(access, mayAsk: true) {
    case .permit(let disclosure): .permit(disclosure)
    case .ask: .wait
    case .refuse(let denial): .refuse(denial)
    }
}

/// The decision for a call that requests access and reads nothing yet.
public enum RequestDecision: Hashable, Sendable {
    case ask
    /// Prompt the person for these keys alone. The app has access, but may not read them.
    case askForKeys(ContactKeySet)
    /// Answer at once with the current authorization level.
    case answer(AuthorizationStatus)
}

/// - Parameter lacking: the requested keys that the policy permits and the app's grant lacks; empty if the app has
///   no grant.
public func decideRequest(
    _ access: EffectiveAccess, lacking: ContactKeySet = [], mayAsk: Bool
) -> RequestDecision {
    switch access {
    case .notDetermined where mayAsk: .ask
    case .granted(let grant) where mayAsk && grant.access != .denied && !lacking.isEmpty: .askForKeys(lacking)
    case .notDetermined, .restricted, .granted: .answer(access.status)
    }
}

/// The decision for a call whose prompt the person may ignore: the access button, the one-time picker or a
/// proposed card.
public enum OfferDecision: Hashable, Sendable {
    /// - Parameter isQuiet: whether the agent shows only one line, which the person may open. It is true
    ///   for a denied app, so that the app cannot take over the screen.
    case ask(isQuiet: Bool)
    /// Answer with an empty result, as after a prompt that granted nothing.
    case answerEmpty
    case refuse(Denial)
}

/// Decides a call that uses the access button. An app with full access already sees every contact, so the
/// answer is empty.
public func decideButton(_ access: EffectiveAccess, mayAsk: Bool) -> OfferDecision {
    if case .granted(let grant) = access, case .full = grant.access { return .answerEmpty }
    return decideOffer(access, mayAsk: mayAsk)
}

/// Decides a call that opens the one-time picker or proposes a card. Such a call needs no access and changes
/// none, so only policy can refuse it.
public func decideOffer(_ access: EffectiveAccess, mayAsk: Bool) -> OfferDecision {
    switch access {
    case .restricted: .refuse(.restricted)
    case .notDetermined: mayAsk ? .ask(isQuiet: false) : .answerEmpty
    case .granted(let grant): mayAsk ? .ask(isQuiet: grant.access == .denied) : .answerEmpty
    }
}

/// The decision for a call that opens the access picker.
public enum ManageDecision: Hashable, Sendable {
    case ask, answerEmpty
}

public func decideManage(_ access: EffectiveAccess, mayAsk: Bool) -> ManageDecision {
    if mayAsk, case .granted(let grant) = access, case .limited = grant.access { return .ask }
    return .answerEmpty
}
