import BrokerAccessControl
import BrokerInterface
import BrokerModel
import BrokerParameters

/// A checked answer of the person that gives or takes access: one of four kinds.
enum DecidedAnswer {
    /// The first decision about an app.
    case first(GrantTerms, AnswerParameters.Level, ChosenContacts)
    /// An answer at a prompt of an app that has access, which adds contacts to the granted set.
    case adding(GrantTerms, AnswerParameters.Level, ChosenContacts, to: Set<RecordNumber>)
    /// An answer to a manage prompt. It can also take contacts away.
    case managing(ManagedGrant, GrantTerms, AnswerParameters.Level, ChosenContacts)
    /// An answer that changes only the terms of a stored grant. What else the grant says stays, also what the policy
    /// overrides.
    case terms(GrantTerms, of: Grant)

    var isFirst: Bool {
        if case .first = self { true } else { false }
    }

    /// The principal that the answer concerns, and the terms of its new grant.
    var terms: GrantTerms {
        switch self {
        case .first(let terms, _, _), .adding(let terms, _, _, _), .managing(_, let terms, _, _), .terms(let terms, _):
            terms
        }
    }

    /// The contacts that the person turned on.
    var chosen: ChosenContacts {
        get {
            switch self {
            case .first(_, _, let chosen), .adding(_, _, let chosen, _), .managing(_, _, _, let chosen): chosen
            case .terms: ChosenContacts()
            }
        }
        set {
            switch self {
            case .first(let terms, let level, _): self = .first(terms, level, newValue)
            case .adding(let terms, let level, _, let granted): self = .adding(terms, level, newValue, to: granted)
            case .managing(let grant, let terms, let level, _): self = .managing(grant, terms, level, newValue)
            case .terms: break
            }
        }
    }

    var level: AnswerParameters.Level {
        switch self {
        case .first(_, let level, _), .adding(_, let level, _, _), .managing(_, _, let level, _): level
        case .terms(_, let grant):
            switch grant.access {
            case .denied: .denied
            case .limited: .limited
            case .full: .full
            }
        }
    }

    /// The granted set before the answer.
    var granted: Set<RecordNumber> {
        switch self {
        case .first: []
        case .adding(_, _, _, let granted): granted
        case .managing(let managed, _, _, _): managed.grant.access.records
        case .terms(_, let grant): grant.access.records
        }
    }

    /// The contacts that the answer adds to the granted set.
    var added: Set<RecordNumber> { chosen.all.subtracting(granted) }

    /// The limited set after the answer.
    var after: Set<RecordNumber> {
        let granted = granted
        guard case .managing(let managed, _, _, let chosen) = self else { return granted.union(chosen.all) }
        return granted.subtracting(managed.removed).union(chosen.all)
    }

    /// The contacts that the app loses with the new grant.
    func left(granting grant: Grant) -> Set<RecordNumber> {
        guard case .managing(let managed, _, _, _) = self else { return [] }
        return managed.keptGroups == nil ? managed.removed : granted.subtracting(grant.access.records)
    }

    /// The level and the granted set after the answer, without the contacts of chosen groups.
    var access: Access {
        switch (self, level) {
        case (.terms(_, let grant), _): grant.access
        case (_, .denied): .denied
        case (_, .full): .full
        case (.first(_, _, let chosen), .limited): .limited(to: chosen.singly)
        case (.adding(_, _, let chosen, let granted), .limited): .limited(to: granted.union(chosen.singly))
        case (.managing(let managed, _, _, let chosen), .limited):
            .limited(to: granted.subtracting(managed.removed).union(chosen.singly))
        }
    }

    /// The access that the answer gives the app, in words for the password dialog.
    ///
    /// - Parameter canGrow: whether contacts that join the app's groups later are shared, too.
    func accessWords(canGrow: Bool) -> String {
        switch (self, level) {
        case (.terms(let terms, let grant), let level):
            let contacts = level == .full ? "all contacts" : Self.words(granted.count)
            if !terms.keys.isSubset(of: grant.keys) { return "more of " + contacts + changesWords }
            return contacts + (terms.lasts(longerThan: grant) ? ", for longer" : "") + changesWords
        case (_, .full): return "all contacts" + changesWords
        case (_, .denied), (_, .limited):
            return Self.words(after.count) + (canGrow ? ", and those that are added to a contact group later" : "")
                + changesWords
        }
    }

    /// Whether the app may then change or delete what it did not add, and may not do that now.
    var raisesChanges: Bool {
        guard level != .denied, terms.changes >= .edit else { return false }
        if terms.changes > terms.formerChanges { return true }
        // The right to delete needs all ordinary keys.
        guard terms.changes == .all, case .terms(let terms, let grant) = self else { return false }
        return terms.keys.isSuperset(of: Grant.ordinaryKeys) && !grant.keys.isSuperset(of: Grant.ordinaryKeys)
    }

    /// Also of a right that the app had before, because it now concerns more contacts or keys.
    private var changesWords: String { level == .denied ? "" : terms.changes.accessWords }

    static func words(_ count: Int) -> String { count == 1 ? "1 contact" : "\(count) contacts" }

    /// The groups whose later members the app gets, too, unless other programs can imitate it.
    var hasGroups: Bool {
        if case .terms(_, let grant) = self { return !grant.groups.records.isEmpty }
        return !chosen.groups.isEmpty
    }

    /// Whether the answer leaves the grant as it is.
    var changesNothing: Bool {
        switch self {
        case .first, .adding: return false
        case .managing(let managed, let terms, let level, let chosen):
            return level.status == managed.grant.access.status && terms.areTerms(of: managed.grant)
                && chosen.all.isSubset(of: granted) && chosen.groups.isEmpty && managed.takesNothing
        case .terms(let terms, let grant): return terms.areTerms(of: grant)
        }
    }

    /// Whether a new grant outlives the terminal session, although the caller's default lifetime is the
    /// terminal session.
    func outlastsItsSession(of caller: Caller) -> Bool {
        guard case .first(let terms, _, _) = self else { return false }
        return terms.principal.binding == .persistent && caller.lifetimes.first == .session
    }

    /// Whether the app may see more than before, or for longer. At a prompt of the app, limited access always counts as
    /// more.
    var widens: Bool {
        switch self {
        case .first(_, let level, _), .adding(_, let level, _, _): return level != .denied
        case .managing(let managed, let terms, let level, let chosen):
            switch level {
            case .denied: return false
            case _ where raisesChanges: return true
            case .full: return !managed.wasFull || terms.widen(managed.grant)
            case .limited:
                return managed.grant.access == .denied || terms.widen(managed.grant)
                    || !chosen.all.isSubset(of: granted) || !chosen.groups.isEmpty
            }
        case .terms(let terms, let grant): return grant.access != .denied && (raisesChanges || terms.widen(grant))
        }
    }

    /// Whether the app sees or may change less than before. Only an answer to a manage prompt can narrow a grant.
    var narrows: Bool {
        switch self {
        case .first, .adding: return false
        case .managing(let managed, let terms, let level, _):
            if !terms.keys.isSuperset(of: managed.grant.keys) || !managed.takesNothing { return true }
            if terms.changes < terms.formerChanges { return true }
            switch (managed.grant.access, level) {
            case (.full, .limited), (.full, .denied), (.limited, .denied): return true
            case (.full, .full), (.limited, .limited), (.limited, .full), (.denied, _): return false
            }
        case .terms(let terms, let grant):
            return !terms.keys.isSuperset(of: grant.keys) || terms.changes < grant.changes
        }
    }
}

/// The principal that an answer concerns, and the terms of its new grant.
struct GrantTerms {
    let principal: Principal
    let keys: ContactKeySet
    let changes: ChangeRight
    /// What the app may change before the answer.
    var formerChanges = ChangeRight.none
    let lifetime: Lifetime
    /// When the earlier grant was decided, if the policy limits the grant's lifetime from that time.
    var decidedAt: Int64?

    func areTerms(of grant: Grant) -> Bool {
        keys == grant.keys && changes == grant.changes && lifetime == grant.lifetime
    }

    /// Whether the terms give more keys than a grant, or last longer.
    func widen(_ grant: Grant) -> Bool { !keys.isSubset(of: grant.keys) || lasts(longerThan: grant) }

    func lasts(longerThan grant: Grant) -> Bool {
        guard case .untilTime(let end) = grant.lifetime else { return false }
        if case .untilTime(let newEnd) = lifetime { return newEnd > end }
        return true
    }
}

/// The contacts that the person turned on.
struct ChosenContacts {
    var singly: Set<RecordNumber> = []
    /// The contact groups, with the contacts that each of them shares.
    var groups: [RecordNumber: Set<RecordNumber>] = [:]

    /// The contacts turned on singly or with a group.
    var all: Set<RecordNumber> { groups.values.reduce(singly) { $0.union($1) } }

    /// Leaves out all other contacts.
    mutating func keep(_ cards: Set<RecordNumber>) {
        singly.formIntersection(cards)
        groups = groups.mapValues { $0.intersection(cards) }
    }
}

/// The grant of a manage prompt, and what the person takes from it.
struct ManagedGrant {
    /// The grant that the new one replaces.
    let grant: Grant
    /// Whether the stored grant was full before the answer. A level that only the policy forces does not count.
    let wasFull: Bool
    /// The contacts that the person turned off.
    let removed: Set<RecordNumber>
    /// If the person turned off contact groups: those that the app keeps, with the cards that each of them shares.
    var keptGroups: [RecordNumber: Set<RecordNumber>]?

    var takesNothing: Bool { removed.isEmpty && keptGroups == nil }
}

extension AnswerParameters.Level {
    package var status: AuthorizationStatus {
        switch self {
        case .denied: .denied
        case .limited: .limited
        case .full: .full
        }
    }
}
