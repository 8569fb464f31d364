extension PrivacyFamily {
    private static let count = 50

    /// Groups that the app saw until the person took back the key `groups`, against groups that never existed.
    static func groups(_ world: PrivacyWorld) throws -> [Case] {
        let owner = try world.owner
        let saved = try owner.save((0..<count).map { _ in ProbeText.add(given: world.name(), family: "Granted") })
        for place in 0..<count {
            let group = try owner.save([ProbeText.addGroup("Group \(1_000 + place)")])[0]
            try owner.save(saved.prefix(3).map { ProbeText.membership("addMember", of: $0, in: group) })
        }
        let app = try world.app("limited", .limited, keys: PrivacyWorld.nameKeys + ["groups"], ["Granted"])
        let identifiers = Array(try app.groups().values)
        guard identifiers.count == count else { throw Failure("the app does not see the groups") }
        try world.change(app, keys: PrivacyWorld.nameKeys)
        guard try app.groups().isEmpty, let member = try app.identifiers(of: "Granted").values.first else {
            throw Failure("the app still sees the groups, or no contact")
        }
        func madeUp() -> [String] { (0..<count).map { _ in ProbeText.madeUpIdentifier() } }
        return groupCalls(member: member).map { call, error, make in
            Case(
                app, call, "group seen before", identifiers.map(make), madeUp().map(make),
                control: madeUp().map(make), error: error)
        }
    }
}
