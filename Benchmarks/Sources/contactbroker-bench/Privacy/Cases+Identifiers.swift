extension PrivacyFamily {
    private static let count = 100
    private static let containers = 20

    private static func madeUp() -> [String] { (0..<count).map { _ in ProbeText.madeUpIdentifier() } }

    /// Contacts that were revoked, against contacts that were deleted; and identifiers of other apps, against made-up
    /// ones. That an app can tell an identifier that it once got from a made-up one reveals nothing.
    static func identifiers(_ world: PrivacyWorld) throws -> [Case] {
        let owner = try world.owner
        let words = ["Granted", "Deleted", "Gone", "Revoked", "Foreign"]
        let saved = try owner.save(
            (0..<count).flatMap { _ in words.map { ProbeText.add(given: world.name(), family: $0) } })
        let limited = try world.app("limited", .limited, ["Granted", "Deleted", "Gone", "Revoked"])
        let names = try world.app("names", .full)
        let other = try world.app("other", .limited, ["Foreign"])
        let foreign = try ids(other, "Foreign")
        let lost = try ["Revoked", "Deleted", "Gone"].map { try ids(limited, $0) }
        try owner.save(
            (0..<count).flatMap { place in [1, 2].map { ProbeText.delete(saved[place * words.count + $0]) } })
        try world.change(limited, removing: ["Revoked"])
        let foreignGroups = try makeGroups(other)
        let containers = try owner.save((0..<containers).map { ProbeText.addContainer("Container \($0)") })
        var cases: [Case] = []
        for app in [limited, names] {
            let own = try app.save([ProbeText.addGroup("Own")])[0]
            let member = try ids(app, "Granted")[0]
            for (call, error, make) in contactCalls(group: own) {
                cases.append(compare(app, call, "other app's contact", [foreign, madeUp(), madeUp()], error, make))
                guard app === limited else { continue }
                cases.append(compare(app, call, "revoked contact", lost, error, make))
            }
            for (call, error, make) in groupCalls(member: member) {
                cases.append(compare(app, call, "other app's group", [foreignGroups, madeUp(), madeUp()], error, make))
            }
            for (call, make) in containerCalls {
                cases.append(
                    compare(app, call, "other app's container", [containers, madeUp(), madeUp()], "none", make))
            }
        }
        return cases
    }

    private static func compare(
        _ app: Probe, _ call: String, _ hidden: String, _ classes: [[String]], _ error: String,
        _ make: (String) -> ProbeCall
    ) -> Case {
        let calls = classes.map { $0.map(make) }
        return Case(app, call, hidden, calls[0], calls[1], control: calls[2], error: error)
    }

    private static func ids(_ app: Probe, _ word: String) throws -> [String] {
        Array(try app.identifiers(of: word).values)
    }

    private static func makeGroups(_ app: Probe) throws -> [String] {
        try app.save((0..<count).map { ProbeText.addGroup("Group \(1_000 + $0)") })
    }

    private static var containerCalls: [(String, (String) -> ProbeCall)] {
        [
            ("FetchContacts container", { .fetch(ProbeText.member("container", $0)) }),
            ("CountContacts container", { .count(ProbeText.member("container", $0)) }),
            ("ListGroups container", { .groups(in: $0) }),
        ]
    }

    private static func contactCalls(group: String) -> [(String, String, (String) -> ProbeCall)] {
        [
            ("FetchContacts identifiers", "none", { .fetch(ProbeText.identifiers($0)) }),
            ("CountContacts identifiers", "none", { .count(ProbeText.identifiers($0)) }),
            ("ListLinkedContacts", "RecordDoesNotExist", { .linked($0) }),
            ("ListContainers contact", "RecordDoesNotExist", { .container(of: "contact", $0) }),
            ("SaveContacts update", "RecordDoesNotExist", { .save(ProbeText.update($0, given: "Ada")) }),
            (
                "SaveContacts unchangedSince", "RecordDoesNotExist",
                { .save(ProbeText.conditionalUpdate($0)) }
            ),
            ("SaveContacts delete", "RecordDoesNotExist", { .save(ProbeText.delete($0)) }),
            (
                "SaveContacts addMember", "RecordDoesNotExist",
                { .save(ProbeText.membership("addMember", of: $0, in: group)) }
            ),
        ]
    }

    /// Calls that name a group.
    static func groupCalls(member: String) -> [(String, String, (String) -> ProbeCall)] {
        [
            ("FetchContacts group", "none", { .fetch(ProbeText.member("group", $0)) }),
            ("CountContacts group", "none", { .count(ProbeText.member("group", $0)) }),
            ("ListGroups identifiers", "none", { .groups($0) }),
            ("ListContainers group", "RecordDoesNotExist", { .container(of: "group", $0) }),
            (
                "SaveContacts addMember", "ParentRecordDoesNotExist",
                { .save(ProbeText.membership("addMember", of: member, in: $0)) }
            ),
            (
                "SaveContacts removeMember", "ParentRecordDoesNotExist",
                { .save(ProbeText.membership("removeMember", of: member, in: $0)) }
            ),
        ]
    }
}
