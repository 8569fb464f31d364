extension PrivacyFamily {
    private static let count = 50

    /// Contacts that are linked with contacts that the app cannot see, against contacts without links.
    static func links(_ world: PrivacyWorld) throws -> [Case] {
        // A unified contact has at most 64 cards.
        try [1, 59].flatMap { members in try links(world, members) } + linksByNumber(world)
    }

    /// Pairs that the broker links because of a number that the app may not read, against pairs of the same names
    /// with two numbers.
    private static func linksByNumber(_ world: PrivacyWorld) throws -> [Case] {
        var names: [[String]] = [[], [], []]
        var changes: [String] = []
        for place in 0..<count {
            for number in names.indices.shuffled() {
                let name = world.name()
                names[number].append(name)
                for card in 0..<2 {
                    let digits = 10_000_000 + place * 100 + number * 10 + (number == 0 ? 0 : card)
                    changes.append(
                        ProbeText.add(
                            given: name, family: "Paired", #","phoneNumbers":[{"value":"+4930\#(digits)"}]"#))
                }
            }
        }
        try world.owner.save(changes)
        let app = try world.app("names", .full)
        let known = try app.identifiers(of: "Paired")
        // The saves would change the names, and so end the links. The search takes milliseconds, and so a quarter of an
        // hour.
        return cases(app, "link by hidden number", names.map { $0.compactMap { known[$0] } }, names: names)
            .filter { !["SaveContacts update", "FetchContacts name"].contains($0.call) }
    }

    private static func links(_ world: PrivacyWorld, _ members: Int) throws -> [Case] {
        let owner = try world.owner
        let word = "Granted\(members)"
        var names: [[String]] = [[], [], []]
        var links: [String] = []
        for _ in 0..<count {
            // In random order, so that the classes do not differ in their places in the book.
            let order = (0..<Case.classes + members).shuffled()
            let added = order.map { (number: $0, name: world.name()) }
            let identifiers = try owner.save(
                added.map { ProbeText.add(given: $0.name, family: $0.number < Case.classes ? word : "Outside") })
            var saved = order.map { _ in "" }
            for (contact, identifier) in zip(added, identifiers) {
                saved[contact.number] = identifier
                if contact.number < Case.classes { names[contact.number].append(contact.name) }
            }
            links += saved[Case.classes...].map { ProbeText.link(saved[0], $0) }
        }
        let app = try world.app("limited-\(members)", .limited, [word])
        // Afterwards, because the person gives an app whole contacts with all of their cards.
        try owner.save(links)
        let known = try app.identifiers(of: word)
        return cases(app, "link with \(members)", names.map { $0.compactMap { known[$0] } }, names: names).map {
            var item = $0
            if item.call == "SaveContacts update" {
                item.concession =
                    "A save that changes a contact takes longer if the contact is linked with hidden cards"
            }
            return item
        }
    }
}
