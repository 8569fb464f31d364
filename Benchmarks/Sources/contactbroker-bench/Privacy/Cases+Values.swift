extension PrivacyFamily {
    private static let count = 50
    private static let size = 300 * 1_024

    /// Contacts with a long note that the app may not read, against contacts with a short one.
    static func values(_ world: PrivacyWorld) throws -> [Case] {
        let long = String(repeating: "word ", count: size / 5)
        return try values(world, "note of 300 KB", #","note":"\#(long)""#, against: #","note":"x""#)
    }

    /// Contacts with a photo that the app may not read, against contacts without one.
    static func photos(_ world: PrivacyWorld) throws -> [Case] {
        // Four characters of base64 are three bytes.
        let photo = String(repeating: "/9j/", count: size / 3)
        return try values(world, "photo of 300 KB", #","imageData":"\#(photo)""#, against: "").map {
            var item = $0
            if item.call == "SaveContacts update" {
                item.concession =
                    "A save that changes a contact takes about 2 µs longer if the contact has a hidden photo"
            }
            return item
        }
    }

    /// Contacts whose note, which the app may not read, was changed several times, against contacts whose note was changed once.
    static func bin(_ world: PrivacyWorld) throws -> [Case] {
        let owner = try world.owner
        var names: [[String]] = [[], [], []]
        var saved: [[String]] = [[], [], []]
        // A search takes some nanoseconds longer for one name than for another, so the classes need many names.
        for _ in 0..<4 * count {
            let order = Array(names.indices).shuffled()
            let added = order.map { (number: $0, name: world.name()) }
            let identifiers = try owner.save(
                added.map { ProbeText.add(given: $0.name, family: "Granted", #","note":"x""#) })
            for (contact, identifier) in zip(added, identifiers) {
                names[contact.number].append(contact.name)
                saved[contact.number].append(identifier)
            }
        }
        for round in 0..<8 {
            let changed = round == 0 ? saved.joined().shuffled() : saved[0].shuffled()
            try owner.save(changed.map { ProbeText.update($0, note: "n\(round % 2)") })
        }
        // The last note has one length in all classes.
        // An app of its own saves, because the calls of one app would reach the bound of its records.
        return try ["names", "saver"].flatMap { name in
            let app = try world.app(name, .full)
            let known = try app.identifiers(of: "Granted")
            return cases(app, "7 states in the bin", names.map { $0.compactMap { known[$0] } }, names: names)
                .filter { $0.call.hasPrefix("SaveContacts") == (name == "saver") }
        }
    }

    /// A save that is refused because the app may only change what it adds.
    static func rights(_ world: PrivacyWorld) throws -> [Case] {
        let owner = try world.owner
        var identifiers: [[String]] = [[], [], []]
        let long = String(repeating: "word ", count: size / 5)
        for _ in 0..<count {
            for (number, note) in [long, "x", "x"].enumerated().shuffled() {
                identifiers[number].append(world.name())
                try owner.save([
                    ProbeText.add(given: identifiers[number].last ?? "", family: "Granted", #","note":"\#(note)""#)
                ])
            }
        }
        let app = try world.app("own", .full, changes: "own")
        let known = try app.identifiers(of: "Granted")
        let calls = identifiers.map { names in
            names.compactMap { known[$0] }.map { ProbeCall.refusedSave(ProbeText.update($0, given: "Ada")) }
        }
        return [
            Case(
                app, "SaveContacts update, refused", "note of 300 KB", calls[0], calls[1], control: calls[2],
                error: "RecordNotWritable", isRecorded: true)
        ]
    }

    /// - Parameters:
    ///   - field: the member of a card that the app may not read.
    ///   - other: the same of the other cards.
    private static func values(
        _ world: PrivacyWorld, _ hidden: String, _ field: String, against other: String
    ) throws -> [Case] {
        let owner = try world.owner
        var names: [[String]] = [[], [], []]
        for _ in 0..<count {
            var changes: [String] = []
            for (number, field) in [field, other, other].enumerated().shuffled() {
                let name = world.name()
                names[number].append(name)
                changes.append(ProbeText.add(given: name, family: "Granted", field))
            }
            try owner.save(changes)
        }
        let apps = [try world.app("names", .full), try world.app("limited", .limited, ["Granted"])]
        return try apps.flatMap { app in
            let known = try app.identifiers(of: "Granted")
            return cases(app, hidden, names.map { $0.compactMap { known[$0] } }, names: names)
        }
    }

    /// Compares three classes of contacts that the app can see.
    ///
    /// - Parameters:
    ///   - identifiers: the contacts with something hidden, without it, and others without it.
    ///   - names: their given names.
    static func cases(_ app: Probe, _ hidden: String, _ identifiers: [[String]], names: [[String]]) -> [Case] {
        func compare(
            _ call: String, error: String = "none", isRecorded: Bool = false, _ make: (String) -> ProbeCall
        ) -> Case {
            let calls = identifiers.map { $0.map(make) }
            return Case(
                app, call, hidden, calls[0], calls[1], control: calls[2], error: error, isRecorded: isRecorded)
        }
        let searches = names.map { $0.map { ProbeCall.fetch(ProbeText.member("name", $0)) } }
        // Each save changes the name, because the broker need not write a save that changes nothing.
        let updates = identifiers.map { identifiers in
            ["Alma", "Olga"].flatMap { name in
                identifiers.map { ProbeCall.save(ProbeText.update($0, given: name)) }
            }
        }
        return [
            compare("FetchContacts identifiers") { .fetch(ProbeText.identifiers($0)) },
            Case(app, "FetchContacts name", hidden, searches[0], searches[1], control: searches[2]),
            compare("CountContacts identifiers", isRecorded: true) { .count(ProbeText.identifiers($0)) },
            compare("ListLinkedContacts", isRecorded: true) { .linked($0) },
            compare("ListContainers contact") { .container(of: "contact", $0) },
            compare("FetchContacts revisions") { .revision($0) },
            compare("SaveContacts unchangedSince", error: "RecordChanged", isRecorded: true) {
                .save(ProbeText.conditionalUpdate($0))
            },
            // The last case, because it changes the names.
            Case(
                app, "SaveContacts update", hidden, updates[0], updates[1], control: updates[2], isRecorded: true),
        ]
    }
}
