/// The linked cards that an app sees, as one contact.
struct ModelPerson {
    /// In the order in which they were added to the book; never empty.
    let members: [ModelContact]

    var first: ModelContact { members[0] }
    var isUnified: Bool { members.count > 1 }
}

extension ModelBook {
    /// Updates several cards as one contact. New values go to the first card. Values that are left out are removed from
    /// all cards, and cleared properties are cleared in all.
    mutating func update(
        members: [Int], _ texts: [ModelKey: [String]], at seconds: Int64, _ moment: Int
    ) -> [ModelEvent] {
        parts(of: members, texts).compactMap { update($0.number, $0.texts, at: seconds, moment) }
    }

    /// What an update of a unified contact writes into each of its cards.
    func parts(of members: [Int], _ texts: [ModelKey: [String]]) -> [(number: Int, texts: [ModelKey: [String]])] {
        let former = members.compactMap { contacts[$0] }
        return members.map { number in
            var own: [ModelKey: [String]] = [:]
            for (key, texts) in texts {
                let isFirst = number == members.first
                let kept = contacts[number]?.texts(key) ?? []
                if key.isList {
                    let known = Set(former.flatMap { $0.texts(key) })
                    let new = texts.filter { kept.contains($0) || isFirst && !known.contains($0) }
                    if new != kept { own[key] = new }
                } else if isFirst || texts.isEmpty && !kept.isEmpty {
                    own[key] = texts
                }
            }
            return (number, own)
        }
    }
}

extension Model {
    /// The visible cards that are linked with this one, including itself.
    func person(of contact: ModelContact, _ app: ModelApp) -> ModelPerson {
        let members = book.linked(with: contact.number, seesEvidence: app.keys.isWhole).filter { app.sees(contact: $0) }
            .sorted()
        return ModelPerson(members: members.compactMap { book.contacts[$0] })
    }

    /// The contacts that these cards belong to, each once, in the order of their first cards.
    func people(_ contacts: [ModelContact], _ app: ModelApp, unify: Bool) -> [ModelPerson] {
        guard unify else { return contacts.map { ModelPerson(members: [$0]) } }
        var people: [Int: ModelPerson] = [:]
        for contact in contacts {
            let person = person(of: contact, app)
            people[person.first.number] = person
        }
        return people.values.sorted { $0.first.number < $1.first.number }
    }

    func people(of app: ModelApp, unify: Bool = true) -> [ModelPerson] {
        people(contacts(of: app), app, unify: unify)
    }

    /// The contacts that match a predicate, in an order.
    func people(
        _ predicate: Predicate?, _ order: String, _ app: ModelApp, unify: Bool
    ) -> [ModelPerson] {
        let found = people(find(predicate, app), app, unify: unify)
        let places = sorted(found.map(\.first), order, app.keys).map(\.number)
        return places.compactMap { number in found.first { $0.first.number == number } }
    }

    /// A unified contact in one line: the first value present, all values of a list, the earliest creation, the latest
    /// edit.
    ///
    /// - Parameter name: the app's identifier for a card.
    func line(
        _ person: ModelPerson, _ requested: [ModelKey], _ keys: ModelKeys, name: (Int) -> String
    ) -> String {
        guard person.isUnified else { return line(person.first, requested, keys) }
        return requested.map { key -> String in
            let all = person.members.map { texts($0, key, keys) }
            switch key {
            case .creationDate: return all.compactMap(\.first).min() ?? ""
            case .modificationDate: return all.compactMap(\.first).max() ?? ""
            case .phoneNumbers, .emailAddresses:
                var said: Set<String> = []
                var values: [String] = []
                for (member, texts) in zip(person.members, all) {
                    for (value, text) in zip(member.values[key] ?? [], texts) where said.insert(text).inserted {
                        values.append("\(name(member.number))/\(value.identifier)=\(text)")
                    }
                }
                return values.joined(separator: ",")
            default: return all.lazy.compactMap(\.first).first ?? ""
            }
        }.joined(separator: "|")
    }
}

extension Model {
    /// The events for the contacts that an app knew then or knows now. A unified contact differs from each of its
    /// cards, and its first card identifies it.
    func peopleEvents(
        _ app: ModelApp, _ then: ModelSnapshot, _ now: ModelSnapshot
    ) -> Set<ModelHistoryEvent> {
        let name = { (members: [Int]) in "\(members[0]) \(members.count > 1)" }
        let before = Dictionary(uniqueKeysWithValues: then.people.map { (name($0), $0) })
        let after = Dictionary(uniqueKeysWithValues: now.people.map { (name($0), $0) })
        var events: Set<ModelHistoryEvent> = []
        for (name, members) in before where after[name] == nil {
            let isRevoked = members.contains { kind(of: $0, app, then, now) == "revoked" }
            events.insert(
                .init(
                    kind: isRevoked ? "revoked" : "deleteContact", contact: members[0], isUnified: members.count > 1))
        }
        for (name, members) in after {
            let kinds = members.compactMap { kind(of: $0, app, then, now) }
            let former = before[name]
            guard former != members || !kinds.isEmpty else { continue }
            let told = kinds.contains("granted") ? "granted" : former == nil ? "addContact" : "updateContact"
            events.insert(.init(kind: told, contact: members[0], isUnified: members.count > 1))
        }
        return events
    }
}
