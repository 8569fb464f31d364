import BrokerAccessControl
import BrokerInterface
import BrokerModel

/// A checked answer: the principal that it concerns, and the terms of its new grant.
struct DecidedAnswer {
    var principal: Principal
    var level: AnswerParameters.Level
    var keys: ContactKeySet
    var lifetime: Lifetime
    /// The granted set before the answer.
    var granted: Set<RecordNumber>
    /// The contacts that the person turned on singly.
    var singly: Set<RecordNumber>
    /// The contact groups that the person turned on, with the contacts that each of them shares.
    var groups: [RecordNumber: Set<RecordNumber>] = [:]
    /// Whether contacts that join the groups later are shared, too.
    var canGrow = false
    /// The contacts that the person turned off.
    var removed: Set<RecordNumber> = []
    /// If the person turned off contact groups: those that the app keeps, with the cards that each of them shares.
    var keptGroups: [RecordNumber: Set<RecordNumber>]?
    /// For a manage prompt, the grant that the new one replaces.
    var managed: Grant?
    /// For a manage prompt, whether the stored grant was full before the answer. A level that only the policy
    /// forces does not count.
    var wasFull = false
    /// Whether the lifetime was chosen with this answer instead of kept from an earlier grant.
    var isFirst = false
    /// If only the terms change, the stored grant. Its other terms stay, also those that the policy overrides.
    var kept: Grant?
    /// When the earlier grant was decided, if the policy limits the grant's lifetime from that time.
    var decidedAt: Int64?

    /// The contacts that the person turned on, singly or with a group.
    var rows: Set<RecordNumber> { groups.values.reduce(singly) { $0.union($1) } }

    /// Leaves out all other contacts that the person turned on.
    mutating func keep(_ cards: Set<RecordNumber>) {
        singly.formIntersection(cards)
        groups = groups.mapValues { $0.intersection(cards) }
    }

    /// The contacts that the answer adds to the granted set.
    var added: Set<RecordNumber> { rows.subtracting(granted) }

    /// The limited set after the answer.
    var after: Set<RecordNumber> { granted.subtracting(removed).union(rows) }

    /// The level and the granted set after the answer, without the contacts of ``groups``.
    var access: Access {
        if let kept { return kept.access }
        switch level {
        case .denied: return .denied
        case .limited: return .limited(to: granted.subtracting(removed).union(singly))
        case .full: return .full
        }
    }

    /// The access that the answer gives the app, in words for the password dialog.
    var accessWords: String {
        if let kept {
            let contacts = kept.access == .full ? "all contacts" : Self.words(after.count)
            return keys.isSubset(of: kept.keys) ? contacts + ", for longer" : "more of " + contacts
        }
        guard level != .full else { return "all contacts" }
        return Self.words(after.count) + (canGrow ? ", and those that are added to a contact group later" : "")
    }

    static func words(_ count: Int) -> String { count == 1 ? "1 contact" : "\(count) contacts" }

    /// Whether this is an answer to a manage prompt that leaves the grant as it is.
    var changesNothing: Bool {
        guard let managed, level.status == managed.access.status else { return false }
        return rows.isSubset(of: granted) && removed.isEmpty && groups.isEmpty && keptGroups == nil
            && keys == managed.keys && lifetime == managed.lifetime
    }

    /// Whether a new grant outlives the terminal session, although the caller's default lifetime is the
    /// terminal session.
    func outlastsItsSession(of caller: Caller) -> Bool {
        isFirst && principal.binding == .persistent && caller.lifetimes.first == .session
    }

    /// Whether the app may see more than before, or for longer. Without ``managed``, limited access always counts as more.
    var widens: Bool {
        switch level {
        case .denied: return false
        case .full: return !wasFull || managed.map { !keys.isSubset(of: $0.keys) || lasts(longerThan: $0) } ?? false
        case .limited:
            guard let managed, managed.access != .denied else { return true }
            return lasts(longerThan: managed) || !rows.isSubset(of: granted) || !groups.isEmpty
                || !keys.isSubset(of: managed.keys)
        }
    }

    private func lasts(longerThan former: Grant) -> Bool {
        guard case .untilTime(let end) = former.lifetime else { return false }
        if case .untilTime(let newEnd) = lifetime { return newEnd > end }
        return true
    }

    /// Whether the app sees less than before. Only an answer to a manage prompt can narrow a grant.
    var narrows: Bool {
        guard let managed else { return false }
        if !keys.isSuperset(of: managed.keys) || !removed.isEmpty || keptGroups != nil { return true }
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
