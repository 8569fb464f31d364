extension PrivacyFamily {
    private static let count = 50
    private static let noteSize = 300 * 1_024

    /// Contacts with a long note that the app may not read, against contacts with a short one.
    static func values(_ world: PrivacyWorld) throws -> [Case] {
        let owner = try world.owner
        let long = String(repeating: "word ", count: noteSize / 5)
        var names: [[String]] = [[], [], []]
        for _ in 0..<count {
            var changes: [String] = []
            for (number, note) in [long, "x", "x"].enumerated().shuffled() {
                let name = world.name()
                names[number].append(name)
                changes.append(ProbeText.add(given: name, family: "Granted", #","note":"\#(note)""#))
            }
            try owner.save(changes)
        }
        let apps = [try world.app("names", .full), try world.app("limited", .limited, ["Granted"])]
        return try apps.flatMap { app in
            let known = try app.identifiers(of: "Granted")
            return cases(app, "note of 300 KB", names.map { $0.compactMap { known[$0] } }, names: names)
        }
    }

    /// Compares three classes of contacts that the app can see.
    ///
    /// - Parameters:
    ///   - identifiers: the contacts with something hidden, without it, and others without it.
    ///   - names: their given names.
    static func cases(_ app: Probe, _ hidden: String, _ identifiers: [[String]], names: [[String]]) -> [Case] {
        func compare(_ call: String, isRecorded: Bool = false, _ make: (String) -> ProbeCall) -> Case {
            let calls = identifiers.map { $0.map(make) }
            return Case(app, call, hidden, calls[0], calls[1], control: calls[2], isRecorded: isRecorded)
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
            // The last case, because it changes the names.
            Case(
                app, "SaveContacts update", hidden, updates[0], updates[1], control: updates[2], isRecorded: true),
        ]
    }
}
