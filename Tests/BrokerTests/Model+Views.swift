/// What one app may see, by the interface's rules.
extension Model {
    func app(_ name: String) -> ModelApp { apps[name] ?? ModelApp(name) }

    /// In the order in which they were added to the book.
    func contacts(of app: ModelApp) -> [ModelContact] {
        book.contacts.values.filter { app.sees(contact: $0.number) }.sorted { $0.number < $1.number }
    }

    func groups(of app: ModelApp) -> [ModelGroup] {
        book.groups.values.filter { app.sees(groupMadeBy: $0.maker) }.sorted { $0.number < $1.number }
    }

    /// The values of a property that an app gets: none if the app may not read the property.
    func texts(_ contact: ModelContact, _ key: ModelKey, _ keys: ModelKeys) -> [String] {
        if key == .modificationDate, !keys.isWhole { return [] }
        return keys.keys.contains(key) ? contact.texts(key) : []
    }

    /// A contact in one line, for comparison with an answer.
    func line(_ contact: ModelContact, _ requested: [ModelKey], _ keys: ModelKeys) -> String {
        let values = requested.map { key -> String in
            let texts = texts(contact, key, keys)
            guard key.isList else { return texts.first ?? "" }
            let numbers = contact.values[key]?.map(\.identifier) ?? []
            return zip(numbers, texts).map { "\($0)=\($1)" }.joined(separator: ",")
        }
        return values.joined(separator: "|")
    }

    // MARK: Predicates and orders

    enum Predicate {
        case name(String), email(String), phone(String), contacts([Int]), group(Int?), me
    }

    func find(_ predicate: Predicate?, _ app: ModelApp) -> [ModelContact] {
        contacts(of: app).filter { contact in
            switch predicate {
            case nil: true
            case .name(let query): matches(contact, words: query, app.keys)
            case .email(let address):
                texts(contact, .emailAddresses, app.keys).contains { $0.lowercased() == address.lowercased() }
            case .phone(let number):
                texts(contact, .phoneNumbers, app.keys).contains { Self.digits($0) == Self.digits(number) }
            case .contacts(let numbers): numbers.contains(contact.number)
            case .group(let group):
                groups(of: app).contains { $0.number == group && $0.members.contains(contact.number) }
            case .me: book.me == contact.number
            }
        }
    }

    private static func digits(_ number: String) -> String { number.filter(\.isNumber) }

    private func matches(_ contact: ModelContact, words query: String, _ keys: ModelKeys) -> Bool {
        let words = Self.words(query)
        let known = ModelKey.names.flatMap { texts(contact, $0, keys).flatMap(Self.words) }
        return !words.isEmpty && words.allSatisfy { word in known.contains { $0.hasPrefix(word) } }
    }

    private static func words(_ text: String) -> [String] {
        text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }

    /// - Parameter order: none, givenName, familyName or userDefault.
    func sorted(_ contacts: [ModelContact], _ order: String, _ keys: ModelKeys) -> [ModelContact] {
        let order = order == "userDefault" ? book.sortOrder : order
        guard order != "none" else { return contacts }
        let places = Dictionary(uniqueKeysWithValues: contacts.map { ($0.number, place($0, order, keys)) })
        return contacts.sorted { left, right in
            let (one, other) = (places[left.number] ?? [], places[right.number] ?? [])
            // Contacts without any name come last.
            if one.isEmpty != other.isEmpty { return other.isEmpty }
            return one == other ? left.number < right.number : one.lexicographicallyPrecedes(other)
        }
    }

    private func place(_ contact: ModelContact, _ order: String, _ keys: ModelKeys) -> [String] {
        let text = { (key: ModelKey) in texts(contact, key, keys).first?.lowercased() ?? "" }
        let (given, family) = (text(.givenName), text(.familyName))
        let names = order == "familyName" ? [family, given] : [given, family]
        if given.isEmpty, family.isEmpty {
            let other = text(.organizationName).isEmpty ? text(.nickname) : text(.organizationName)
            return other.isEmpty ? [] : [other]
        }
        return names.filter { !$0.isEmpty }
    }
}

/// What an app could see at one moment. A later history is compared with it.
struct ModelSnapshot {
    let moment: Int
    let terms: ModelTerms
    let generation: Int
    let contacts: Set<Int>
    /// The cards of each unified contact. Every other card is a contact of its own.
    let people: Set<[Int]>
    let groups: Set<Int>
    let links: Set<ModelLink>
}

struct ModelLink: Hashable {
    let group: Int
    let member: Int
    let isSubgroup: Bool
}

/// One event as an app gets it. `place` gives its position: removed contacts come before contacts, groups and links.
struct ModelHistoryEvent: Hashable {
    let kind: String
    var contact: Int?
    var isUnified = false
    var group: Int?
    var link: ModelLink?

    var place: Int {
        switch kind {
        case "dropEverything": 0
        case "deleteContact", "revoked": 1
        case "addContact", "updateContact", "granted": 2
        case "addGroup", "updateGroup", "deleteGroup": 3
        default: 4
        }
    }
}

extension Model {
    func snapshot(of app: ModelApp) -> ModelSnapshot {
        ModelSnapshot(
            moment: moment, terms: app.terms, generation: app.generation,
            contacts: Set(contacts(of: app).map(\.number)),
            people: Set(people(of: app).map { $0.members.map(\.number) }), groups: Set(groups(of: app).map(\.number)),
            links: links(of: app))
    }

    private func links(of app: ModelApp) -> Set<ModelLink> {
        let groups = groups(of: app)
        var links: Set<ModelLink> = []
        for group in groups {
            for member in group.members where app.sees(contact: member) {
                links.insert(ModelLink(group: group.number, member: member, isSubgroup: false))
            }
            for child in group.subgroups where groups.contains(where: { $0.number == child }) {
                links.insert(ModelLink(group: group.number, member: child, isSubgroup: true))
            }
        }
        return links
    }

    /// The events that an app gets since a snapshot. With `nil`, or after its terms or identifiers changed, the history
    /// starts over: `dropEverything`, then everything that it can see.
    func history(of app: ModelApp, since then: ModelSnapshot?, unify: Bool) -> Set<ModelHistoryEvent> {
        let now = snapshot(of: app)
        guard let then, then.terms == now.terms, then.generation == now.generation else {
            var events: Set = [ModelHistoryEvent(kind: "dropEverything")]
            for members in unify ? now.people : Set(now.contacts.map { [$0] }) {
                events.insert(.init(kind: "addContact", contact: members[0], isUnified: members.count > 1))
            }
            for group in now.groups { events.insert(.init(kind: "addGroup", group: group)) }
            for link in now.links {
                events.insert(.init(kind: link.isSubgroup ? "addSubgroup" : "addMember", link: link))
            }
            return events
        }
        var events: Set<ModelHistoryEvent> = []
        if unify {
            events = peopleEvents(app, then, now)
        } else {
            for contact in then.contacts.union(now.contacts) {
                let kind = kind(of: contact, app, then, now)
                if let kind { events.insert(.init(kind: kind, contact: contact)) }
            }
        }
        for group in then.groups.subtracting(now.groups) { events.insert(.init(kind: "deleteGroup", group: group)) }
        for group in now.groups {
            if !then.groups.contains(group) {
                events.insert(.init(kind: "addGroup", group: group))
            } else if book.groups[group]?.renamed ?? 0 > then.moment {
                events.insert(.init(kind: "updateGroup", group: group))
            }
        }
        for link in now.links.subtracting(then.links) {
            events.insert(.init(kind: link.isSubgroup ? "addSubgroup" : "addMember", link: link))
        }
        // A group or member that is gone itself gets no event for leaving.
        for link in then.links.subtracting(now.links)
        where now.groups.contains(link.group) && (link.isSubgroup ? now.groups : now.contacts).contains(link.member) {
            events.insert(.init(kind: link.isSubgroup ? "removeSubgroup" : "removeMember", link: link))
        }
        return events
    }

    func kind(
        of contact: Int, _ app: ModelApp, _ then: ModelSnapshot, _ now: ModelSnapshot
    ) -> String? {
        let joined = app.level == .limited ? app.joined[contact] : nil
        switch (then.contacts.contains(contact), now.contacts.contains(contact)) {
        case (true, false):
            return app.level == .limited && app.wasRevoked[contact] == true ? "revoked" : "deleteContact"
        case (false, true): return joined?.isGranted == true ? "granted" : "addContact"
        case (true, true):
            if let joined, joined.moment > then.moment { return "granted" }
            let touched = book.contacts[contact]?.touched ?? [:]
            return touched.contains { $0.value > then.moment && app.keys.keys.contains($0.key) } ? "updateContact" : nil
        case (false, false): return nil
        }
    }
}
