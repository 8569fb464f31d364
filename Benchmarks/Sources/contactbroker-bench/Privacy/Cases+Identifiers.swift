extension PrivacyFamily {
    private static let count = 100
    private static let containers = 20

    private static func madeUp() -> [String] { (0..<count).map { _ in ProbeText.madeUpIdentifier() } }

    static func identifiers(_ world: PrivacyWorld) throws -> [Case] {
        let owner = try world.owner
        let words = ["Granted", "Deleted", "Revoked", "Foreign"]
        let saved = try owner.save(
            (0..<count).flatMap { _ in words.map { ProbeText.add(given: world.name(), family: $0) } })
        let limited = try world.app("limited", .limited, ["Granted", "Deleted", "Revoked"])
        let names = try world.app("names", .full)
        let other = try world.app("other", .limited, ["Foreign"])
        let foreign = try ids(other, "Foreign")
        let revoked = try ids(limited, "Revoked")
        let deleted = try [limited, names].map { try ids($0, "Deleted") }
        try owner.save((0..<count).map { ProbeText.delete(saved[$0 * words.count + 1]) })
        try world.change(limited, removing: ["Revoked"])
        let foreignGroups = try makeGroups(other)
        let containers = try owner.save((0..<containers).map { ProbeText.addContainer("Container \($0)") })
        var cases: [Case] = []
        for (app, deleted) in zip([limited, names], deleted) {
            let own = try app.save([ProbeText.addGroup("Own")])[0]
            let member = try ids(app, "Granted")[0]
            let deletedGroups = try makeGroups(app)
            try app.save(deletedGroups.map(ProbeText.deleteGroup))
            var kinds = [("deleted contact", deleted), ("other app's contact", foreign)]
            if app === limited { kinds.append(("revoked contact", revoked)) }
            for (hidden, identifiers) in kinds {
                for (call, error, make) in contactCalls(group: own) {
                    cases.append(compare(app, call, hidden, identifiers, error, make))
                }
            }
            for (hidden, identifiers) in [("deleted group", deletedGroups), ("other app's group", foreignGroups)] {
                for (call, error, make) in groupCalls(member: member) {
                    cases.append(compare(app, call, hidden, identifiers, error, make))
                }
            }
        }
        let deletedContainers = try names.save((0..<Self.containers).map { ProbeText.addContainer("Deleted \($0)") })
        try names.save(deletedContainers.map(ProbeText.deleteContainer))
        for (call, make) in containerCalls {
            for app in [limited, names] {
                cases.append(compare(app, call, "other app's container", containers, "none", make))
            }
            cases.append(compare(names, call, "deleted container", deletedContainers, "none", make))
        }
        return cases
    }

    private static func compare(
        _ app: Probe, _ call: String, _ hidden: String, _ identifiers: [String], _ error: String,
        _ make: (String) -> ProbeCall
    ) -> Case {
        Case(
            app, call, hidden, identifiers.map(make), madeUp().map(make), control: madeUp().map(make), error: error)
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
