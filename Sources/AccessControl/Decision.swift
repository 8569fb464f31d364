import ContactsModel

/// What a caller asks for, by what it would learn or change.
public enum Operation: String, CaseIterable, Sendable {
    case getAuthorization
    case requestAccess
    /// Fetch, count, history, groups, containers, linked contacts, the person's own settings.
    case read
    case save
    case watchChanges
    /// The access button.
    case requestContacts
    /// The access picker.
    case manageAccess
    /// The one-time picker.
    case pickContacts
    case proposeContact
}

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

/// What a caller gets.
public enum Decision: Hashable, Sendable {
    /// At once, from what was decided earlier.
    case answer(AuthorizationStatus)
    case permit(Disclosure)
    case ask(PromptKind)
    /// As one line that the person may open: no screen is taken on behalf of an app that was denied.
    case askQuietly(PromptKind)
    /// Nothing, as after any prompt that granted nothing.
    case answerEmpty
    /// Until the standing changes. The person is not asked.
    case wait
    case refuse(Denial)
}

/// Why not.
public enum Denial: String, Hashable, Sendable {
    case notDetermined, denied, restricted
}

/// Decides what an operation gets: the table of authorization, as a function.
///
/// Pure: the same arguments give the same decision, today and over an audit.
///
/// - Parameter mayAsk: false once the person was asked, so that no call asks twice.
public func decide(_ operation: Operation, standing: Standing, mayAsk: Bool = true) -> Decision {
    let decision = decideIfAsking(operation, standing: standing)
    guard !mayAsk else { return decision }
    switch decision {
    case .ask, .askQuietly:
        switch operation {
        case .requestAccess: return .answer(standing.status)
        case .requestContacts, .manageAccess, .pickContacts, .proposeContact: return .answerEmpty
        case .getAuthorization, .read, .save, .watchChanges: return .refuse(.notDetermined)
        }
    case .answer, .permit, .answerEmpty, .wait, .refuse:
        return decision
    }
}

private func decideIfAsking(_ operation: Operation, standing: Standing) -> Decision {
    switch operation {
    case .getAuthorization:
        return .answer(standing.status)
    case .requestAccess:
        if case .notDetermined = standing { return .ask(.access) }
        return .answer(standing.status)
    case .read, .save:
        switch standing {
        case .notDetermined: return .ask(.access)
        case .restricted: return .refuse(.restricted)
        case .granted(let grant): return permit(grant)
        }
    case .watchChanges:
        switch standing {
        case .notDetermined: return .wait
        case .restricted: return .refuse(.restricted)
        case .granted(let grant): return permit(grant)
        }
    case .requestContacts:
        switch standing {
        case .notDetermined: return .ask(.button)
        case .restricted: return .refuse(.restricted)
        case .granted(let grant):
            switch grant.access {
            case .limited: return .ask(.button)
            case .full: return .answerEmpty
            case .denied: return .askQuietly(.button)
            }
        }
    case .manageAccess:
        if case .granted(let grant) = standing, case .limited = grant.access { return .ask(.manage) }
        return .answerEmpty
    case .pickContacts:
        return decideWithoutAccess(.pick, standing: standing)
    case .proposeContact:
        return decideWithoutAccess(.propose, standing: standing)
    }
}

private func permit(_ grant: Grant) -> Decision {
    switch grant.access {
    case .denied: .refuse(.denied)
    case .limited(let records): .permit(Disclosure(scope: .only(records), keys: grant.keys, revision: grant.revision))
    case .full: .permit(Disclosure(scope: .all, keys: grant.keys, revision: grant.revision))
    }
}

/// The pickers need no access, change none, and are out of reach only where policy decides.
private func decideWithoutAccess(_ kind: PromptKind, standing: Standing) -> Decision {
    switch standing {
    case .notDetermined: return .ask(kind)
    case .restricted: return .refuse(.restricted)
    case .granted(let grant):
        switch grant.access {
        case .limited, .full: return .ask(kind)
        case .denied: return .askQuietly(kind)
        }
    }
}
