import BrokerAccessControl
import BrokerInterface
import BrokerModel

/// An answer that makes sense: for whom, and what becomes of their grant.
struct DecidedAnswer {
    var principal: Principal
    var level: AnswerParameters.Level
    var keys: ContactKeySet
    var lifetime: Lifetime
    /// What a limited app sees already.
    var standing: Set<RecordNumber>
    /// What the person chose.
    var rows: Set<RecordNumber>
    /// What it shall not see any longer.
    var removed: Set<RecordNumber> = []
    /// The grant that this one takes the place of, where the person looks through it.
    var managed: Grant?
    /// Everything was shared before, by somebody's decision and not by the policy alone.
    var wasFull = false
    /// Its lifetime was chosen now, and is not that of a grant that goes on.
    var isFirst = false
    /// When the grant that goes on was decided, where that is what the policy counts from.
    var decidedAt: Int64?

    /// A look at a grant that leaves it as it is.
    var changesNothing: Bool {
        guard let managed, level.status == managed.access.status else { return false }
        return rows.isSubset(of: standing) && removed.isEmpty && keys == managed.keys
    }

    /// Whether it holds for longer than the terminal session that a caller like this is offered first.
    func outlastsItsSession(of caller: Caller) -> Bool {
        isFirst && principal.binding == .standing && caller.lifetimes.first == .session
    }

    /// Whether the app sees more than before.
    var widens: Bool {
        switch level {
        case .denied: return false
        case .full: return !wasFull
        case .limited:
            guard let managed, managed.access != .denied else { return true }
            return !rows.isSubset(of: standing) || !keys.isSubset(of: managed.keys)
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
