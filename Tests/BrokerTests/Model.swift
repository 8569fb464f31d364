/// What the broker should know and say, worked out from section 3 of the design and nothing else: plain sets and
/// dictionaries, of a book that is small enough to be looked through whole.
struct Model {
    var book = ModelBook()
    var apps: [String: ModelApp] = [:]
    /// Counts what happens, so that what came first is known.
    private(set) var moment = 1
    /// Seconds since 1970.
    private(set) var now: Int64

    init(now: Int64) { self.now = now }

    /// Time passes, and grants run out.
    mutating func advance(to time: Int64) {
        now = time
        for (name, app) in apps {
            if let end = app.expires, end <= time { decide(name, .notDetermined) }
        }
    }

    // MARK: What was decided

    /// What the person or an administrator says of an app. Its history goes on where only its set changes.
    mutating func decide(
        _ name: String, _ level: ModelApp.Level, set: Set<Int> = [], keys: ModelKeys = .ordinary, expires: Int64? = nil
    ) {
        guard var app = apps[name] else { return }
        moment += 1
        if level == .limited, app.level == .limited, app.keys == keys {
            for contact in set.subtracting(app.set) { app.joined[contact] = .init(isGranted: true, moment: moment) }
            for contact in app.set.subtracting(set) { app.wasRevoked[contact] = true }
            if app.set != set { app.move(at: now) }
        } else if level != app.level || keys != app.keys {
            app.epoch += 1
            app.move(at: now)
        }
        app.level = level
        app.set = level == .limited ? set : []
        app.keys = keys
        app.expires = level == .notDetermined ? nil : expires
        apps[name] = app
    }

    /// Everything of an app is forgotten, its identifiers too.
    mutating func reset(_ name: String) {
        decide(name, .notDetermined)
        apps[name]?.generation += 1
    }

    // MARK: What happens to the book

    /// Brings about a change, and moves the place of every app that can see it.
    mutating func change(_ book: ModelBook, _ events: [ModelEvent], joining: Set<Int> = [], by name: String?) {
        moment += 1
        let former = self.book
        self.book = book
        if let name, apps[name]?.level == .limited {
            for contact in joining {
                apps[name]?.set.insert(contact)
                apps[name]?.joined[contact] = .init(isGranted: false, moment: moment)
            }
        }
        for (name, app) in apps {
            for event in events where Self.sees(event, app, book) || Self.sees(event, app, former) {
                apps[name]?.move(at: now)
            }
        }
        let gone = Set(former.contacts.keys).subtracting(book.contacts.keys)
        guard !gone.isEmpty else { return }
        for (name, app) in apps {
            for contact in gone.intersection(app.set) { apps[name]?.wasRevoked[contact] = false }
            apps[name]?.set.subtract(gone)
        }
    }

    private static func sees(_ event: ModelEvent, _ app: ModelApp, _ book: ModelBook) -> Bool {
        switch event {
        case .contact(let contact): book.contacts[contact] != nil && app.sees(contact: contact)
        case .touched(let contact, let keys): app.sees(contact: contact) && !keys.isDisjoint(with: app.keys.keys)
        case .group(_, let maker): app.sees(groupMadeBy: maker)
        case .member(let contact, let group): app.sees(contact: contact) && sees(group, app, book)
        case .subgroup(let child, let parent): sees(child, app, book) && sees(parent, app, book)
        case .linked(let one, let other): app.sees(contact: one) && app.sees(contact: other)
        }
    }

    private static func sees(_ group: Int, _ app: ModelApp, _ book: ModelBook) -> Bool {
        book.groups[group].map { app.sees(groupMadeBy: $0.maker) } ?? false
    }
}

/// Which properties an app may read.
struct ModelKeys: Hashable {
    let keys: Set<ModelKey>
    /// All that is not granted by name alone: only then is the date of an edit told.
    let isWhole: Bool

    static let ordinary = ModelKeys(keys: Set(ModelKey.allCases).subtracting([.note]), isWhole: true)
    static let withNotes = ModelKeys(keys: Set(ModelKey.allCases), isWhole: true)
    /// What the person may choose less of.
    static let narrow: [ModelKeys] = [
        ModelKeys(keys: Set(ModelKey.names), isWhole: false),
        ModelKeys(keys: [.previousFamilyName, .givenName, .phoneNumbers], isWhole: false),
        ModelKeys(keys: [.previousFamilyName, .familyName, .emailAddresses, .modificationDate], isWhole: false),
    ]
}

/// One app, and what it may see.
struct ModelApp {
    enum Level: String { case notDetermined, limited, full, denied }
    struct Joining {
        /// Given by the person; otherwise made by the app.
        let isGranted: Bool
        let moment: Int
    }

    let name: String
    var level = Level.notDetermined
    var set: Set<Int> = []
    var keys = ModelKeys.ordinary
    var expires: Int64?
    /// Rises with every reset: other identifiers.
    var generation = 0
    /// Rises when what it may see becomes something else than more or fewer contacts.
    var epoch = 0
    /// Rises with everything that it can see happen, and when it did last.
    private(set) var place = 0
    private(set) var movedAt: Int64 = 0
    /// How each contact came into its set last.
    var joined: [Int: Joining] = [:]
    /// How each contact left its set last: taken back, or else deleted.
    var wasRevoked: [Int: Bool] = [:]
    /// The person wants no more questions about it, until the broker starts again.
    var isSilenced = false

    init(_ name: String) { self.name = name }

    mutating func move(at time: Int64) {
        place += 1
        movedAt = time
    }

    /// Names its key.
    var key: String { "\(name) \(generation)" }

    func sees(contact: Int) -> Bool {
        switch level {
        case .full: true
        case .limited: set.contains(contact)
        case .notDetermined, .denied: false
        }
    }

    func sees(groupMadeBy maker: String) -> Bool {
        switch level {
        case .full: true
        case .limited: maker == key
        case .notDetermined, .denied: false
        }
    }
}

/// The book, and what can be done to it.
struct ModelBook {
    var contacts: [Int: ModelContact] = [:]
    var groups: [Int: ModelGroup] = [:]
    /// Cards that are about one person, two at least.
    private(set) var links: [Set<Int>] = []
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
        for (key, texts) in texts { if contact.set(key, texts) { contact.touched[key] = moment } }
        contacts[number] = contact
        return .contact(number)
    }

    mutating func update(
        _ number: Int, _ texts: [ModelKey: [String]], at seconds: Int64, _ moment: Int
    ) -> ModelEvent? {
        var changed: Set<ModelKey> = []
        for (key, texts) in texts where contacts[number]?.set(key, texts) == true {
            changed.insert(key)
            contacts[number]?.touched[key] = moment
        }
        // Who may not read notes must not see by the date that these were edited.
        if !changed.subtracting([.note]).isEmpty { contacts[number]?.modified = seconds }
        return changed.isEmpty ? nil : .touched(number, changed)
    }

    mutating func delete(_ number: Int) -> ModelEvent {
        _ = unlink(number)
        contacts[number] = nil
        for group in groups.keys { groups[group]?.members.remove(number) }
        if me == number { me = nil }
        return .contact(number)
    }

    // MARK: Links

    func linked(with number: Int) -> Set<Int> { links.first { $0.contains(number) } ?? [number] }

    func linked(with numbers: some Sequence<Int>) -> Set<Int> {
        numbers.reduce(into: Set()) { $0.formUnion(linked(with: $1)) }
    }

    mutating func link(_ one: Int, _ other: Int) -> [ModelEvent] {
        let (left, right) = (linked(with: one), linked(with: other))
        guard left != right else { return [] }
        links.removeAll { $0 == left || $0 == right }
        links.append(left.union(right))
        return left.flatMap { left in right.map { .linked(left, $0) } }
    }

    mutating func unlink(_ number: Int) -> [ModelEvent] {
        let set = linked(with: number)
        guard set.count > 1 else { return [] }
        let rest = set.subtracting([number])
        links.removeAll { $0 == set }
        if rest.count > 1 { links.append(rest) }
        return rest.map { .linked(number, $0) }
    }

    /// What a card adds to a contact: what is empty is filled, what is missing is appended.
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

    mutating func deleteGroup(_ number: Int) -> ModelEvent? {
        guard let group = groups.removeValue(forKey: number) else { return nil }
        for other in groups.keys { groups[other]?.subgroups.remove(number) }
        return .group(number, maker: group.maker)
    }

    /// Whether a group is another one or within it, as far as somebody sees who sees these groups.
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
