extension PrivacyFamily {
    private static let count = 50

    /// Groups that the app saw until the person took back the key `groups`, against groups that were deleted since.
    static func groups(_ world: PrivacyWorld) throws -> [Case] {
        let owner = try world.owner
        let saved = try owner.save((0..<count).map { _ in ProbeText.add(given: world.name(), family: "Granted") })
        var groups: [String: String] = [:]
        for place in 0..<Case.classes * count {
            let name = "Group \(1_000 + place)"
            let group = try owner.save([ProbeText.addGroup(name)])[0]
            groups[name] = group
            try owner.save(saved.prefix(3).map { ProbeText.membership("addMember", of: $0, in: group) })
        }
        let app = try world.app("limited", .limited, keys: PrivacyWorld.nameKeys + ["groups"], ["Granted"])
        let known = Array(try app.groups()).shuffled()
        guard known.count == Case.classes * count else { throw Failure("the app does not see the groups") }
        try world.change(app, keys: PrivacyWorld.nameKeys)
        guard try app.groups().isEmpty, let member = try app.identifiers(of: "Granted").values.first else {
            throw Failure("the app still sees the groups, or no contact")
        }
        let classes = (0..<Case.classes).map { known[$0 * count..<($0 + 1) * count] }
        try owner.save(classes[1...].joined().compactMap { groups[$0.key] }.map(ProbeText.deleteGroup))
        return groupCalls(member: member).map { call, error, make in
            let calls = classes.map { $0.map { make($0.value) } }
            return Case(app, call, "group that still exists", calls[0], calls[1], control: calls[2], error: error)
        }
    }
}
