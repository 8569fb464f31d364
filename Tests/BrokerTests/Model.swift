import BrokerModel

/// The state and the answers that the broker should have, derived from the rules of authorization alone. The model
/// consists of plain sets and dictionaries, because its book is small enough to be searched completely.
struct Model {
    var book = ModelBook()
    var apps: [String: ModelApp] = [:]
    /// Counts changes, so that the model knows what came first.
    private(set) var moment = 1
    /// How often an app got cards that were added to a shared group later.
    private(set) var laterMembers = 0
    /// Seconds since 1970.
    private(set) var now: Int64
    /// The saves of which the bin has something, the oldest first.
    var bin: [ModelSave] = []
    /// The number of the last of them.
    var lastSave = 0

    init(now: Int64) { self.now = now }

    /// Time passes, and grants expire.
    mutating func advance(to time: Int64) {
        now = time
        for (name, app) in apps {
            if let end = app.decided?.expires, end <= time { decide(name, .notDetermined) }
            apps[name]?.stand(at: now)
        }
    }

    // MARK: Decisions

    /// The person or an administrator decides about an app. Its history continues if only its granted set changes.
    ///
    /// - Parameters:
    ///   - turnedOn: the cards that the person chose now. A card that was in the set because of a group is then also
    ///     granted singly.
    ///   - goesOn: the decision changes the existing grant and does not start a new one.
    mutating func decide(
        _ name: String, _ level: ModelApp.Level, set: Set<Int> = [], turnedOn: Set<Int> = [],
        keys: ModelKeys = .ordinary, changes: ChangeRight = .own, expires: Int64? = nil, goesOn: Bool = false
    ) {
        guard var app = apps[name] else { return }
        moment += 1
        let former = app.decided
        var decided: ModelDecision?
        if level != .notDetermined {
            decided = ModelDecision(
                level: level, set: level == .limited ? set : [], keys: keys, changes: changes, expires: expires,
                at: now)
        }
        if level == .limited, goesOn, let former, former.level == .limited {
            decided?.groups = former.groups
            decided?.joined = former.joined.intersection(set).subtracting(turnedOn)
            if !former.groups.isEmpty {
                decided?.withheld = former.withheld.union(former.set.subtracting(set)).subtracting(set)
            }
        }
        if app.rule.kind == .lifetime, level != .denied {
            if goesOn, let former, former.level != .denied {
                // A change of a grant does not extend its lifetime.
                decided?.at = former.at
            } else if decided?.expires == nil {
                decided?.expires = now + app.rule.lifetime
            }
        }
        app.replaceDecision(by: decided, moment)
        app.stand(at: now)
        apps[name] = app
    }

    /// The person adds keys to a grant, at a prompt for them.
    mutating func add(_ keys: ModelKeys, to name: String) {
        guard let former = apps[name]?.decided?.keys else { return }
        change(
            ModelKeys(
                keys: former.keys.union(keys.keys), isWhole: former.isWhole, groups: former.groups || keys.groups),
            of: name)
    }

    /// The person changes the keys of a grant, and nothing else.
    mutating func change(_ keys: ModelKeys, of name: String) {
        guard var app = apps[name], var decided = app.decided else { return }
        moment += 1
        decided.keys = keys
        if app.rule.kind != .lifetime { decided.at = now }
        app.replaceDecision(by: decided, moment)
        app.stand(at: now)
        apps[name] = app
    }

    /// The person lets an app change more from now on, at the prompt of a save, and changes nothing else.
    mutating func raise(_ name: String, to changes: ChangeRight) {
        guard var app = apps[name], var decided = app.decided else { return }
        moment += 1
        decided.changes = max(decided.changes, changes)
        if app.rule.kind != .lifetime { decided.at = now }
        app.replaceDecision(by: decided, moment)
        app.stand(at: now)
        apps[name] = app
    }

    /// An administrator lowers a grant. The decision keeps its time, unless it is a denial.
    mutating func lower(
        _ name: String, to level: ModelApp.Level, keys: ModelKeys, changes: ChangeRight, expires: Int64?
    ) {
        guard var app = apps[name], let former = app.decided else { return }
        moment += 1
        var decided = ModelDecision(
            level: level, set: level == .limited ? former.set : [], keys: keys, changes: changes, expires: expires,
            at: former.at)
        if level == .denied { decided.at = now }
        if level == .limited, former.level == .limited {
            (decided.groups, decided.joined, decided.withheld) = (former.groups, former.joined, former.withheld)
        }
        app.replaceDecision(by: decided, moment)
        app.stand(at: now)
        apps[name] = app
    }

    /// The person shares a group with an app that has limited access, or takes it back.
    mutating func share(_ name: String, group: Int, isShared: Bool) {
        guard var app = apps[name], var decided = app.decided, decided.level == .limited else { return }
        moment += 1
        if isShared {
            let members = book.sharedMembers[group] ?? []
            decided.groups.insert(group)
            decided.joined.formUnion(members.subtracting(decided.set))
            decided.withheld.subtract(members)
            decided.set.formUnion(members)
        } else if decided.groups.remove(group) != nil {
            decided.settle(book.sharedMembers, mayGrow: false)
        }
        app.replaceDecision(by: decided, moment)
        app.stand(at: now)
        apps[name] = app
    }

    /// Another policy comes into force. It applies on top of the decisions and changes none of them.
    mutating func rule(_ rules: [String: ModelRule]) {
        moment += 1
        for name in apps.keys {
            apps[name]?.rule = rules[name] ?? ModelRule()
            apps[name]?.stand(at: now)
        }
    }

    /// Removes everything that is known about an app, including its identifiers.
    mutating func reset(_ name: String) {
        decide(name, .notDetermined)
        apps[name]?.generation += 1
        apps[name]?.decisions += 1
        apps[name]?.stand(at: now)
    }

    // MARK: Changes of the book

    /// Applies a change, and moves the history position of every app that can see it.
    ///
    /// - Parameters:
    ///   - name: the app that makes the change, or whose set the new contacts join; `nil` for the person.
    ///   - isPersons: the person makes the change all the same.
    ///   - putsBack: for what is put back, the subjects that the bin keeps even if they are as before.
    mutating func change(
        _ book: ModelBook, _ events: [ModelEvent], joining: Set<Int> = [], by name: String?, isPersons: Bool = false,
        putsBack: Set<ModelSubject>? = nil
    ) {
        moment += 1
        let former = self.book
        self.book = book
        self.book.settle()
        let book = self.book
        keep(former, by: isPersons ? nil : name, putsBack: putsBack)
        var events = events
        for seesEvidence in [true, false] {
            let pairs = former.pairs(seesEvidence: seesEvidence)
                .symmetricDifference(book.pairs(seesEvidence: seesEvidence))
            events += pairs.map { .linked($0, seesEvidence: seesEvidence) }
        }
        if let name { apps[name]?.add(joining, moment, at: now) }
        for (name, app) in apps {
            for terms in app.places.keys where terms.epoch == app.epoch || terms.epoch == 0 {
                guard events.contains(where: { Self.sees($0, app, terms, book) || Self.sees($0, app, terms, former) })
                else { continue }
                apps[name]?.places[terms, default: 0] += 1
            }
        }
        let gone = Set(former.contacts.keys).subtracting(book.contacts.keys)
        defer {
            for (name, app) in apps {
                apps[name]?.follow(book.sharedMembers, moment, at: now)
                if apps[name]?.decided?.joined.isSubset(of: app.decided?.joined ?? []) == false { laterMembers += 1 }
            }
        }
        guard !gone.isEmpty else { return }
        for (name, app) in apps {
            for contact in gone.intersection(app.single) { apps[name]?.wasRevoked[contact] = false }
            if app.decided?.level == .limited { apps[name]?.deleted.formUnion(gone.intersection(app.single)) }
            apps[name]?.decided?.set.subtract(gone)
            apps[name]?.decided?.own.subtract(gone)
            apps[name]?.decided?.joined.subtract(gone)
            apps[name]?.stand(at: now)
        }
    }

    private static func sees(_ event: ModelEvent, _ app: ModelApp, _ terms: ModelTerms, _ book: ModelBook) -> Bool {
        let single = terms.epoch == app.epoch ? app.single : []
        let isSeen = { (contact: Int) in terms.isAll || single.contains(contact) }
        let seesGroups = terms.isAll || terms.keys.groups
        let isGroupSeen = { (group: Int) in book.groups[group].map { seesGroups || $0.maker == app.key } ?? false }
        return switch event {
        case .contact(let contact): book.contacts[contact] != nil && isSeen(contact)
        case .touched(let contact, let keys): isSeen(contact) && !keys.isDisjoint(with: terms.keys.keys)
        case .group(_, let maker): seesGroups || maker == app.key
        case .member(let contact, let group): isSeen(contact) && isGroupSeen(group)
        case .subgroup(let child, let parent): isGroupSeen(child) && isGroupSeen(parent)
        case .linked(let pair, let seesEvidence): terms.keys.isWhole == seesEvidence && pair.allSatisfy(isSeen)
        }
    }
}

/// Which properties an app may read.
struct ModelKeys: Hashable {
    let keys: Set<ModelKey>
    /// Whether every key that needs no grant by name is included. Only then does the app get the date of an edit.
    let isWhole: Bool
    /// Whether groups that others created are included.
    var groups = false

    func with(groups: Bool) -> ModelKeys { ModelKeys(keys: keys, isWhole: isWhole, groups: groups) }

    static let ordinary = ModelKeys(keys: Set(ModelKey.allCases).subtracting([.note]), isWhole: true)
    static let withNotes = ModelKeys(keys: Set(ModelKey.allCases), isWhole: true)
    /// Smaller sets of keys that the person may choose.
    static let narrow: [ModelKeys] = [
        ModelKeys(keys: Set(ModelKey.names), isWhole: false),
        ModelKeys(keys: [.previousFamilyName, .givenName, .phoneNumbers], isWhole: false),
        ModelKeys(keys: [.previousFamilyName, .familyName, .emailAddresses, .modificationDate], isWhole: false),
    ]
}
