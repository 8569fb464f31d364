extension PrivacyFamily {
    private static let count = 50

    /// Contacts that are linked with contacts that the app cannot see, against contacts without links.
    static func links(_ world: PrivacyWorld) throws -> [Case] {
        // A unified contact has at most 64 cards.
        try [1, 59].flatMap { members in try links(world, members) }
    }

    private static func links(_ world: PrivacyWorld, _ members: Int) throws -> [Case] {
        let owner = try world.owner
        let word = "Granted\(members)"
        var names: [[String]] = [[], [], []]
        var links: [String] = []
        for _ in 0..<count {
            let given = (0..<Case.classes + members).map { _ in world.name() }
            let saved = try owner.save(
                given.enumerated().map { ProbeText.add(given: $1, family: $0 < Case.classes ? word : "Outside") })
            for number in names.indices { names[number].append(given[number]) }
            links += saved[Case.classes...].map { ProbeText.link(saved[0], $0) }
        }
        let app = try world.app("limited-\(members)", .limited, [word])
        // Afterwards, because the person gives an app whole contacts with all of their cards.
        try owner.save(links)
        let known = try app.identifiers(of: word)
        return cases(app, "link with \(members)", names.map { $0.compactMap { known[$0] } }, names: names)
    }
}
