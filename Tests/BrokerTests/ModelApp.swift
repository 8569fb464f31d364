/// One app, and what it may see.
struct ModelApp {
    enum Level: String { case notDetermined, limited, full, denied, restricted }
    struct Joining {
        /// Given by the person; otherwise made by the app.
        let isGranted: Bool
        let moment: Int
    }

    let name: String
    /// What was said, and what the administrator rules about it.
    var decided: ModelDecision?
    var rule = ModelRule()

    // What follows from both.
    private(set) var level = Level.notDetermined
    private(set) var set: Set<Int> = []
    private(set) var keys = ModelKeys.ordinary
    private(set) var expires: Int64?

    /// Rises with every reset: other identifiers.
    var generation = 0
    /// Rises when what was decided becomes something else than more or fewer contacts.
    var decisions = 0
    /// Under the policy alone nothing is in a set: whatever was decided in between, that is one history.
    var epoch: Int { decided == nil ? 0 : decisions }
    /// Under all terms that ever held: rises with everything that can be seen under them.
    var places: [ModelTerms: Int] = [:]
    /// How each contact came into its set last.
    var joined: [Int: Joining] = [:]
    /// How each contact left its set last: taken back, or else deleted.
    var wasRevoked: [Int: Bool] = [:]
    /// The person wants no more questions about it, until the broker starts again.
    var isSilenced = false

    init(_ name: String) { self.name = name }

    /// Names its key.
    var key: String { "\(name) \(generation)" }

    /// The contacts that it sees where it sees single ones.
    var single: Set<Int> { decided.map { $0.level == .limited ? $0.set : $0.own } ?? [] }

    var terms: ModelTerms { ModelTerms(epoch: epoch, isAll: level == .full, keys: keys) }

    var place: ModelPlace {
        ModelPlace(generation: generation, terms: terms, count: places[terms] ?? 0)
    }

    /// The keys and the end that a grant has which goes on, whatever a rule cuts off them.
    var going: (keys: ModelKeys, expires: Int64?) {
        if let decided, decided.level != .denied { return (decided.keys, decided.expires) }
        return (keys, expires)
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

    /// Whether it may rename, delete and nest a group that it sees.
    func owns(groupMadeBy maker: String) -> Bool { level == .full || maker == key }

    // MARK: What changes

    mutating func replaceDecision(by new: ModelDecision?, _ moment: Int) {
        let (former, before) = (decided, single)
        decided = new
        guard former?.level == new?.level, former?.keys == new?.keys, new?.level != .denied else {
            decisions += 1
            return
        }
        let now = single
        for contact in now.subtracting(before) { joined[contact] = .init(isGranted: true, moment: moment) }
        for contact in before.subtracting(now) { wasRevoked[contact] = true }
        guard before != now else { return }
        for terms in places.keys where terms.epoch == epoch && !terms.isAll { places[terms, default: 0] += 1 }
    }

    /// It adds contacts of its own.
    mutating func add(_ contacts: Set<Int>, _ moment: Int, at now: Int64) {
        guard !contacts.isEmpty else { return }
        if decided == nil, level == .limited || level == .full {
            // Its set has to live somewhere.
            decided = ModelDecision(level: .limited, set: [], keys: .ordinary, expires: nil, at: now)
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

    /// Works out what holds.
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
        set = decided?.set ?? []
        switch rule.kind {
        case .none, .forbid, .lifetime: break
        case .deny: (level, set) = (.restricted, [])
        case .capLevel: if level == .full { (level, set) = (.limited, decided?.own ?? []) }
        case .capKeys: break
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
        if level == .denied { keys = .ordinary }
        if level != forced { expires = nil }
        level = forced
        set = forced == .limited ? single : []
    }
}

/// What the person or the administrator said of one app.
struct ModelDecision {
    var level: ModelApp.Level
    var set: Set<Int>
    var keys: ModelKeys
    var expires: Int64?
    /// When that was.
    var at: Int64
    /// What the app added while a rule kept it to single contacts and it had been granted something else.
    var own: Set<Int> = []
}

/// What the administrator rules about one app.
struct ModelRule {
    enum Kind: String, CaseIterable {
        case none, deny, capLevel, capKeys, forbid, lifetime, forceDenied, forceLimited, forceFull
    }
    var kind = Kind.none
    var keys: Set<ModelKey> = []
    var groups = false
    var lifetime: Int64 = 0

    static let keys: [Set<ModelKey>] = [
        [.previousFamilyName, .givenName, .phoneNumbers, .note],
        [.previousFamilyName, .givenName, .familyName, .emailAddresses, .modificationDate],
    ]

    /// What may be written into a new card.
    var writable: Set<ModelKey> { kind == .capKeys ? keys : Set(ModelKey.allCases) }
}

/// Under what a history is one history.
struct ModelTerms: Hashable {
    let epoch: Int
    let isAll: Bool
    let keys: ModelKeys
}

/// A place in what an app can see happen.
struct ModelPlace: Hashable {
    let generation: Int
    let terms: ModelTerms
    let count: Int
}
