extension PrivacyFamily {
    private static let count = 50
    private static let hidden = 50

    /// Groups of the app that another app filled with contacts that this app cannot see, against groups without them.
    static func members(_ world: PrivacyWorld) throws -> [Case] {
        let owner = try world.owner
        let outside = try owner.save((0..<hidden).map { _ in ProbeText.add(given: world.name(), family: "Outside") })
        try owner.save((0..<2).map { _ in ProbeText.add(given: world.name(), family: "Granted") })
        let app = try world.app("limited", .limited, ["Granted"])
        let contacts = Array(try app.identifiers(of: "Granted").values)
        guard contacts.count == 2 else { throw Failure("the app does not see its contacts") }
        let names = (0..<count * Case.classes).map { "Group \(1_000 + $0)" }
        // In random order, so that the classes do not differ in their places in the book.
        let groups = Array(zip(names, try app.save(names.map(ProbeText.addGroup))).shuffled())
        try app.save(groups.map { ProbeText.membership("addMember", of: contacts[0], in: $0.1) })
        let known = try owner.groups()
        let classes = (0..<Case.classes).map { Array(groups[$0 * count..<($0 + 1) * count]) }
        for (name, _) in classes[0] {
            guard let group = known[name] else { throw Failure("the owner does not see a group") }
            try owner.save(outside.map { ProbeText.membership("addMember", of: $0, in: group) })
        }
        let calls: [(String, Bool, (String) -> ProbeCall)] = [
            ("FetchContacts group", false, { .fetch(ProbeText.member("group", $0)) }),
            ("CountContacts group", true, { .count(ProbeText.member("group", $0)) }),
            ("ListGroups identifiers", true, { .groups($0) }),
            ("ListContainers group", false, { .container(of: "group", $0) }),
            // Neither save changes anything. A save that changes something would have to be undone by another one.
            ("SaveContacts addMember", true, { .save(ProbeText.membership("addMember", of: contacts[0], in: $0)) }),
            (
                "SaveContacts removeMember", true,
                { .save(ProbeText.membership("removeMember", of: contacts[1], in: $0)) }
            ),
        ]
        return calls.map { call, isRecorded, make in
            let calls = classes.map { $0.map { make($0.1) } }
            return Case(
                app, call, "\(hidden) hidden members", calls[0], calls[1], control: calls[2], isRecorded: isRecorded,
                concession: "Hidden members of an app's own group make the group's list slower")
        }
    }
}
