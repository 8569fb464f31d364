extension PrivacyFamily {
    private static let single = 50
    private static let many = 5_000
    /// Words that ``many`` contacts share.
    private static let shared = 10

    private static func words(_ count: Int) -> [String] { (0..<count).map { _ in ProbeText.word() } }

    /// Searches that match only contacts that the app cannot see.
    static func matches(_ world: PrivacyWorld) throws -> [Case] {
        let (one, all) = try makeMatches(world)
        let app = try world.app(
            "limited", .limited, keys: PrivacyWorld.nameKeys + ["emailAddresses", "phoneNumbers"], ["Granted"])
        let kinds = [("name of 1", one), ("name of \(many)", all)]
        return kinds.flatMap { hidden, matching in
            searches.map { call, make in
                Case(
                    app, call, hidden, matching.map(make), words(single).map(make), control: words(single).map(make))
            }
        } + addresses(app, "address of 1", one)
    }

    /// The access button, whose query matches contacts that the app cannot see.
    ///
    /// An app can repeat the call only while the broker refuses to ask the person, here because another prompt of
    /// the app is open. Every other call raises a prompt. Its time is the person's, and after two prompts that
    /// granted nothing the app must wait, longer each time.
    static func prompts(_ world: PrivacyWorld) throws -> [Case] {
        let (one, all) = try makeMatches(world)
        return try [("name of 1", one), ("name of \(many)", all)].enumerated().map { place, kind in
            // A prompt stays open for two minutes, so each case opens its own.
            let app = try world.app("limited-\(place + 1)", .limited, ["Granted"])
            var item = Case(
                app, "RequestContacts", kind.0, kind.1.map(ProbeCall.button), words(single).map(ProbeCall.button),
                control: words(single).map(ProbeCall.button), error: "TooManyPrompts")
            item.prepare = { try world.openPrompt(app, .button("x")) }
            return item
        }
    }

    /// Returns words that match one contact each, and words that match ``many`` contacts.
    private static func makeMatches(_ world: PrivacyWorld) throws -> (one: [String], all: [String]) {
        let (one, all) = (words(single), words(shared))
        let names = all.joined(separator: " ")
        var changes: [String] = []
        for place in 0..<many {
            changes.append(ProbeText.add(given: world.name(), family: names))
            guard place < single else { continue }
            changes.append(ProbeText.add(given: world.name(), family: one[place], values(of: one[place])))
            changes.append(ProbeText.add(given: world.name(), family: "Granted"))
        }
        try world.owner.save(changes)
        return (one, all)
    }
}
