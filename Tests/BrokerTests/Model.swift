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

/// The book, and the operations on it.
struct ModelBook {
    var contacts: [Int: ModelContact] = [:]
    var groups: [Int: ModelGroup] = [:]
    /// Sets of linked cards, each of two or more.
    var links: [Set<Int>] = []
    /// Sets of cards that explicit links alone connect.
    private(set) var handLinks: [Set<Int>] = []
    /// Pairs of cards that were unlinked explicitly.
    var unlike: Set<Set<Int>> = []
    /// The containers beside the default one, in the order of their creation.
    var containers: [Int] = []
    /// Whether the values that are being written count as evidence for links.
    var isEvidence = false
    var me: Int?
    var sortOrder = "familyName"
    private(set) var nextNumber = 1

    mutating func takeNumber() -> Int {
        defer { nextNumber += 1 }
        return nextNumber
    }

    mutating func add(
        _ number: Int, _ texts: [ModelKey: [String]], maker: String, at seconds: Int64, _ moment: Int
    ) -> ModelEvent {
        var contact = ModelContact(number: number, maker: maker, at: seconds)
        contact.isSure = isEvidence
        for (key, texts) in texts { if contact.set(key, texts) { contact.touched[key] = moment } }
        contacts[number] = contact
        return .contact(number)
    }

    mutating func update(
        _ number: Int, _ texts: [ModelKey: [String]], at seconds: Int64, _ moment: Int
    ) -> ModelEvent? {
        var changed: Set<ModelKey> = []
        let former = contacts[number]
        defer {
            if !isEvidence, let former, contacts[number]?.saysMore(than: former) == true {
                contacts[number]?.isSure = false
            }
        }
        for (key, texts) in texts where contacts[number]?.set(key, texts) == true {
            changed.insert(key)
            contacts[number]?.touched[key] = moment
        }
        // An app that may not read notes must not learn from the date that they were edited.
        if !changed.subtracting([.note]).isEmpty { contacts[number]?.modified = seconds }
        return changed.isEmpty ? nil : .touched(number, changed)
    }

    mutating func delete(_ number: Int) -> ModelEvent {
        takeOut(number)
        unlike = unlike.filter { !$0.contains(number) }
        contacts[number] = nil
        for group in groups.keys {
            groups[group]?.members.remove(number)
            groups[group]?.confirmed.remove(number)
        }
        if me == number { me = nil }
        return .contact(number)
    }

    // MARK: Links

    /// - Parameter seesEvidence: whether links by evidence count.
    func linked(with number: Int, seesEvidence: Bool = true) -> Set<Int> {
        (seesEvidence ? links : handLinks).first { $0.contains(number) } ?? [number]
    }

    func linked(with numbers: some Sequence<Int>) -> Set<Int> {
        numbers.reduce(into: Set()) { $0.formUnion(linked(with: $1)) }
    }

    mutating func link(_ one: Int, _ other: Int) {
        let (left, right) = (linked(with: one), linked(with: other))
        guard one != other, !linked(with: one, seesEvidence: false).contains(other) else { return }
        for one in left { for other in right { unlike.remove([one, other]) } }
        Self.join(one, other, &links)
        Self.join(one, other, &handLinks)
    }

    mutating func unlink(_ number: Int, from other: Int) {
        let set = linked(with: number)
        for other in set.contains(other) ? set : [other] where other != number { unlike.insert([number, other]) }
        if set.contains(other) { takeOut(number) }
    }

    /// Brings cards back to the sets, linked explicitly, that they were in.
    ///
    /// - Parameter former: the sets; `nil` for a card that was in none.
    mutating func putBack(_ cards: [Int], to former: (Int) -> Set<Int>?) {
        for card in cards { takeOut(card) }
        for (first, sets) in Dictionary(grouping: cards, by: { former($0)?.min() }) {
            guard let first else { continue }
            // If the first card is gone, the others of its set are linked all the same.
            let all = (contacts[first] == nil ? [] : [first]) + sets.sorted()
            for card in all.dropFirst() where card != all[0] {
                Self.join(all[0], card, &links)
                Self.join(all[0], card, &handLinks)
            }
        }
    }

    private mutating func takeOut(_ number: Int) {
        for place in links.indices { links[place].remove(number) }
        for place in handLinks.indices { handLinks[place].remove(number) }
        links.removeAll { $0.count < 2 }
        handLinks.removeAll { $0.count < 2 }
    }

    private static func join(_ one: Int, _ other: Int, _ sets: inout [Set<Int>]) {
        let both = [one, other].map { number in sets.first { $0.contains(number) } ?? [number] }
        sets.removeAll(where: both.contains)
        sets.append(both[0].union(both[1]))
    }

    /// The pairs of linked cards.
    func pairs(seesEvidence: Bool) -> Set<Set<Int>> {
        Set((seesEvidence ? links : handLinks).flatMap { set in set.flatMap { one in set.map { [one, $0] } } })
            .filter { $0.count == 2 }
    }

    /// Merges a card into a contact: empty properties are filled, and missing values are appended.
    mutating func merge(
        _ texts: [ModelKey: [String]], into number: Int, at seconds: Int64, _ moment: Int
    ) -> ModelEvent? {
        guard let contact = contacts[number] else { return nil }
        var completed: [ModelKey: [String]] = [:]
        for (key, new) in texts where !new.isEmpty {
            let former = contact.texts(key)
            if key.isList {
                completed[key] = former + new.filter { !former.contains($0) }
            } else if key == .note, let note = former.first, let more = new.first {
                completed[key] = [note.contains(more) ? note : note + "\n" + more]
            } else if former.isEmpty {
                completed[key] = new
            }
        }
        return update(number, completed, at: seconds, moment)
    }

    /// The members of each group that the apps see with whom the group is shared. Groups are in the default container, and
    /// a card of another one is not shared with the group.
    var sharedMembers: [Int: Set<Int>] {
        groups.mapValues { group in group.confirmed.filter { contacts[$0]?.container == 0 } }
    }

    mutating func deleteGroup(_ number: Int) -> ModelEvent? {
        guard let group = groups.removeValue(forKey: number) else { return nil }
        for other in groups.keys { groups[other]?.subgroups.remove(number) }
        return .group(number, maker: group.maker)
    }

    /// Whether `goal` is `start` or a group within it, along visible groups only.
    func reaches(_ goal: Int, from start: Int, within visible: Set<Int>) -> Bool {
        var seen: Set<Int> = [start]
        var rest = [start]
        while let group = rest.popLast() {
            if group == goal { return true }
            for child in groups[group]?.subgroups ?? [] where visible.contains(child) {
                if seen.insert(child).inserted { rest.append(child) }
            }
        }
        return false
    }
}
