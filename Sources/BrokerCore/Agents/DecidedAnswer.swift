import BrokerAccessControl
import BrokerInterface
import BrokerModel

/// A checked answer: the principal that it concerns, and the terms of its new grant.
struct DecidedAnswer {
    var principal: Principal
    var level: AnswerParameters.Level
    var keys: ContactKeySet
    var lifetime: Lifetime
    /// The granted set so far.
    var granted: Set<RecordNumber>
    /// The contacts that the person turned on.
    var rows: Set<RecordNumber>
    /// The contacts that the person turned off.
    var removed: Set<RecordNumber> = []
    /// For a manage prompt, the grant that the new one replaces.
    var managed: Grant?
    /// The grant was full before, by a decision and not by the policy alone.
    var wasFull = false
    /// The lifetime was chosen in this answer, not kept from an earlier grant.
    var isFirst = false
    /// When the earlier grant was decided, if the policy's lifetime counts from then.
    var decidedAt: Int64?

    /// Whether this is an answer to a manage prompt that leaves the grant as it is.
    var changesNothing: Bool {
        guard let managed, level.status == managed.access.status else { return false }
        return rows.isSubset(of: granted) && removed.isEmpty && keys == managed.keys
    }

    /// Whether the grant outlives the terminal session, although a session is the first lifetime that this caller is
    /// offered.
    func outlastsItsSession(of caller: Caller) -> Bool {
        isFirst && principal.binding == .persistent && caller.lifetimes.first == .session
    }

    /// Whether the app sees more than before.
    var widens: Bool {
        switch level {
        case .denied: return false
        case .full: return !wasFull
        case .limited:
            guard let managed, managed.access != .denied else { return true }
            return !rows.isSubset(of: granted) || !keys.isSubset(of: managed.keys)
        }
    }

    /// Whether the app sees less than before.
    var narrows: Bool {
        guard let managed else { return false }
        if !keys.isSuperset(of: managed.keys) || !removed.isEmpty { return true }
        switch (managed.access, level) {
        case (.full, .limited), (.full, .denied), (.limited, .denied): return true
        case (.full, .full), (.limited, .limited), (.limited, .full), (.denied, _): return false
        }
    }
}

extension AnswerParameters.Level {
    var status: AuthorizationStatus {
        switch self {
        case .denied: .denied
        case .limited: .limited
        case .full: .full
        }
    }
}
