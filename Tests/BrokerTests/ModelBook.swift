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
