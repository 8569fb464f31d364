import BrokerAccessControl
import BrokerModel

/// One app, and what it may see.
struct ModelApp {
    enum Level: String { case notDetermined, limited, full, denied, restricted }
    struct Joining {
        /// Whether the person granted the contact. Otherwise the app added it.
        let isGranted: Bool
        let moment: Int
    }

    let name: String
    /// The decision about the app, and the administrator's rule.
    var decided: ModelDecision?
    var rule = ModelRule()

    // Derived from both.
    private(set) var level = Level.notDetermined
    private(set) var set: Set<Int> = []
    private(set) var keys = ModelKeys.ordinary
    private(set) var expires: Int64?
    private(set) var changes = ChangeRight.own

    /// Rises with every reset, which gives the app other identifiers.
    var generation = 0
    /// Rises when a decision changes more than the granted set.
    var decisions = 0
    /// Without a decision there is no granted set. All periods without a decision form one history, even if decisions
    /// separate them.
    var epoch: Int { decided == nil ? 0 : decisions }
    /// For all terms that ever applied: how many events the app could see under them.
    var places: [ModelTerms: Int] = [:]
    /// How each contact last joined the granted set.
    var joined: [Int: Joining] = [:]
    /// How each contact last left the granted set: revoked, or else deleted.
    var wasRevoked: [Int: Bool] = [:]
    /// The contacts that left the granted set because they were deleted, and since when nothing was revoked.
    var deleted: Set<Int> = []
    /// Whether the person wants no more prompts for the app until it is reset.
    var isSilenced = false

    init(_ name: String) { self.name = name }

    /// Identifies the key of its identifiers.
    var key: String { "\(name) \(generation)" }

    /// The contacts that it sees under limited access.
    var single: Set<Int> { decided.map { $0.level == .limited ? $0.set : $0.own } ?? [] }

    var terms: ModelTerms { ModelTerms(epoch: epoch, isAll: level == .full, keys: keys) }

    var place: ModelPlace {
        ModelPlace(generation: generation, terms: terms, count: places[terms] ?? 0)
    }

    /// The keys, the right to change and the end of a grant that continues, before a rule limits them.
    var going: (keys: ModelKeys, changes: ChangeRight, expires: Int64?) {
        if let decided, decided.level != .denied { return (decided.keys, decided.changes, decided.expires) }
        // A denial does not say what the app may change.
        return (keys, level == .denied ? min(.own, rule.most) : changes, expires)
    }

    /// The requested keys that the rule permits and the grant lacks; `nil` if there are none.
    func lacked(of asked: ModelKeys) -> ModelKeys? {
        guard let decided, decided.level != .denied, level == .limited || level == .full else { return nil }
        let groups = asked.groups && !keys.groups && level == .limited && (rule.kind != .capKeys || rule.groups)
        let lacked = asked.keys.intersection(rule.writable).subtracting(keys.keys)
        return lacked.isEmpty && !groups ? nil : ModelKeys(keys: lacked, isWhole: false, groups: groups)
    }

    func sees(contact: Int) -> Bool {
        switch level {
        case .full: true
        case .limited: set.contains(contact)
        case .notDetermined, .denied, .restricted: false
        }
    }

    func sees(groupMadeBy maker: String) -> Bool {
        switch level {
        case .full: true
        case .limited: maker == key || keys.groups
        case .notDetermined, .denied, .restricted: false
        }
    }

    /// Whether the app may rename, delete and nest a group that it sees.
    func owns(groupMadeBy maker: String) -> Bool {
        changes == .all && level == .full || changes >= .own && maker == key
    }

    /// Whether the app may add contacts to a group that it sees, and remove them.
    func fills(groupMadeBy maker: String) -> Bool { changes >= .edit || changes == .own && maker == key }

    /// Whether the app may change a contact that it sees.
    func mayUpdate(contactMadeBy maker: String?) -> Bool { changes >= .edit || changes == .own && maker == key }

    func mayDelete(contactMadeBy maker: String?) -> Bool {
        changes == .all && keys.isWhole || changes >= .own && maker == key
    }

    /// The app, if it may change so much.
    func allowing(_ right: ChangeRight) -> ModelApp {
        var app = self
        app.changes = max(changes, right)
        return app
    }

    /// The smallest greater right that is enough for something; `nil` if there is none.
    func needed(_ isEnough: (ModelApp) -> Bool) -> ChangeRight? {
        ChangeRight.allCases.first { $0 > changes && isEnough(allowing($0)) }
    }

    /// Whether the person may give the app this right at the prompt of a save.
    func leavesToPerson(_ right: ChangeRight) -> Bool {
        switch rule.kind {
        case .forceDenied, .forceLimited, .forceFull: false
        case .none, .deny, .capLevel, .capKeys, .capChanges, .forbid, .lifetime: right <= rule.most
        }
    }

    // MARK: Changes

    mutating func replaceDecision(by new: ModelDecision?, _ moment: Int) {
        let (former, before) = (decided, single)
        decided = new
        guard former?.level == new?.level, former?.keys == new?.keys, new?.level != .denied else {
            decisions += 1
            deleted = []
            return
        }
        let now = single
        for contact in now.subtracting(before) { joined[contact] = .init(isGranted: true, moment: moment) }
        for contact in before.subtracting(now) { wasRevoked[contact] = true }
        deleted.subtract(now)
        if !before.isSubset(of: now) { deleted = [] }
        guard before != now else { return }
        for terms in places.keys where terms.epoch == epoch && !terms.isAll { places[terms, default: 0] += 1 }
    }

    /// The app adds contacts.
    mutating func add(_ contacts: Set<Int>, _ moment: Int, at now: Int64) {
        guard !contacts.isEmpty else { return }
        if decided == nil, level == .limited || level == .full {
            // The granted set has to be stored with a decision.
            decided = ModelDecision(
                level: .limited, set: [], keys: .ordinary, changes: .own, expires: nil, at: now)
            decisions += 1
        }
        if decided?.level == .limited {
            decided?.set.formUnion(contacts)
        } else if level == .limited {
            decided?.own.formUnion(contacts)
        }
        if decided?.level == .limited || level == .limited {
            for contact in contacts { joined[contact] = .init(isGranted: false, moment: moment) }
        }
        stand(at: now)
    }

    /// Whether cards that the person adds to a shared group later join.
    var mayGrow: Bool { ModelRun.strength(of: name) == .sandboxed }

    /// Contacts that were put back return to the set that they left when they were deleted.
    mutating func rejoin(_ returned: Set<Int>, _ members: [Int: Set<Int>], _ moment: Int, at now: Int64) {
        guard var new = decided, new.level == .limited else { return }
        let back = deleted.intersection(returned)
        guard !back.isEmpty else { return }
        new.set.formUnion(back)
        for group in new.groups { new.joined.formUnion(back.intersection(members[group] ?? [])) }
        replaceDecision(by: new, moment)
        stand(at: now)
    }

    /// Brings the granted set in line with the shared members of its groups.
    mutating func follow(_ groups: [Int: Set<Int>], _ moment: Int, at now: Int64) {
        guard var new = decided, new.level == .limited, !new.groups.isEmpty else { return }
        new.groups.formIntersection(groups.keys)
        new.settle(groups, mayGrow: mayGrow)
        replaceDecision(by: new, moment)
        stand(at: now)
    }

    /// Derives the effective access.
    mutating func stand(at now: Int64) {
        var decided = decided
        expires = decided?.expires
        if rule.kind == .lifetime, let given = decided, given.level != .denied {
            let end = min(given.expires ?? .max, given.at + rule.lifetime)
            expires = end
            if end <= now { decided = nil }
        }
        level = decided?.level ?? .notDetermined
        keys = decided?.keys ?? .ordinary
        changes = decided?.changes ?? .own
        set = decided?.set ?? []
        switch rule.kind {
        case .none, .forbid, .lifetime: break
        case .deny: (level, set) = (.restricted, [])
        case .capLevel: if level == .full { (level, set) = (.limited, decided?.own ?? []) }
        case .capKeys: break
        case .capChanges: if level != .denied { changes = min(changes, rule.most) }
        case .forceDenied: (level, set) = (.denied, [])
        case .forceLimited: force(.limited, over: decided)
        case .forceFull: force(.full, over: decided)
        }
        if rule.kind == .capKeys, level != .denied {
            keys = ModelKeys(
                keys: keys.keys.intersection(rule.keys), isWhole: false, groups: keys.groups && rule.groups)
        }
        if level == .limited || level == .full { places[terms, default: 0] += 0 }
    }

    private mutating func force(_ forced: Level, over decided: ModelDecision?) {
        if level == .denied { (keys, changes) = (.ordinary, .own) }
        if level != forced {
            expires = nil
            changes = min(changes, .own)
        }
        level = forced
        set = forced == .limited ? single : []
    }
}

/// The person's or the administrator's decision about one app.
struct ModelDecision {
    var level: ModelApp.Level
    var set: Set<Int>
    var keys: ModelKeys
    var changes: ChangeRight
    var expires: Int64?
    /// When it was decided.
    var at: Int64
    /// The contacts that the app added while a rule limited its access and the decision was not limited.
    var own: Set<Int> = []
    /// The shared groups, the cards that are in the set only because of them, and those that the person revoked singly.
    var groups: Set<Int> = []
    var joined: Set<Int> = []
    var withheld: Set<Int> = []

    /// Derives the set from the groups' shared members.
    mutating func settle(_ groups: [Int: Set<Int>], mayGrow: Bool) {
        let single = set.subtracting(joined)
        let members = self.groups.reduce(into: Set<Int>()) { $0.formUnion(groups[$1] ?? []) }
        joined = mayGrow ? members.subtracting(single).subtracting(withheld) : joined.intersection(members)
        set = single.union(joined)
    }
}

/// The administrator's rule for one app.
struct ModelRule {
    enum Kind: String, CaseIterable {
        case none, deny, capLevel, capKeys, capChanges, forbid, lifetime, forceDenied, forceLimited, forceFull
    }
    var kind = Kind.none
    var keys: Set<ModelKey> = []
    var groups = false
    var changes = ChangeRight.all
    var lifetime: Int64 = 0

    static let keys: [Set<ModelKey>] = [
        [.previousFamilyName, .givenName, .phoneNumbers, .note],
        [.previousFamilyName, .givenName, .familyName, .emailAddresses, .modificationDate],
    ]

    /// The most that the app may change.
    var most: ChangeRight { kind == .capChanges ? changes : .all }

    /// The keys that the app may write into a new card.
    var writable: Set<ModelKey> { kind == .capKeys ? keys : Set(ModelKey.allCases) }
}

/// An app's history continues as long as these terms stay the same.
struct ModelTerms: Hashable {
    let epoch: Int
    let isAll: Bool
    let keys: ModelKeys
}

/// A position in the history of what an app can see.
struct ModelPlace: Hashable {
    let generation: Int
    let terms: ModelTerms
    let count: Int
}
