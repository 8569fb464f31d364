extension PrivacyFamily {
    private static let single = 50
    private static let granted = 100
    private static let many = 5_000
    /// Words that ``many`` or ``granted`` contacts share.
    private static let shared = 10

    private static func words(_ count: Int) -> [String] { (0..<count).map { _ in ProbeText.word() } }

    /// Searches whose words match only keys that the app may not read.
    static func keys(_ world: PrivacyWorld) throws -> [Case] {
        let (one, oneGranted) = (words(single), words(granted))
        let (all, allGranted) = (words(shared), words(shared))
        var changes: [String] = []
        for place in 0..<max(many, granted) {
            if place < many { changes.append(add(world, "Outside", all)) }
            if place < granted { changes.append(add(world, "Granted", [oneGranted[place]] + allGranted)) }
            if place < single { changes.append(add(world, "Outside", [one[place]])) }
        }
        try world.owner.save(changes)
        let names = try world.app("names", .full)
        let limited = try world.app("limited", .limited, ["Granted"])
        let kinds = [
            (names, "company of 1", one), (names, "company of \(many)", all),
            (limited, "company of 1 granted", oneGranted),
            (limited, "company of \(granted) granted", allGranted),
            (limited, "company of \(many)", all),
        ]
        return kinds.flatMap { app, hidden, matching in
            searches.map { call, make in
                compare(app, call, hidden, matching, make)
            }
        } + addresses(names, "address of 1", one) + addresses(limited, "address of 1 granted", oneGranted)
    }

    /// Searches by a word of a name.
    static let searches: [(String, @Sendable (String) -> ProbeCall)] = [
        ("FetchContacts name", { .fetch(ProbeText.member("name", $0)) }),
        ("FetchContacts name, sorted", { .fetch(ProbeText.member("name", $0), order: "familyName") }),
        ("CountContacts name", { .count(ProbeText.member("name", $0)) }),
    ]

    /// Searches by the addresses and numbers that ``values(of:)`` makes from words.
    static func addresses(_ app: Probe, _ hidden: String, _ matching: [String]) -> [Case] {
        let calls: [(String, (String) -> ProbeCall)] = [
            ("FetchContacts emailAddress", { .fetch(ProbeText.member("emailAddress", email($0))) }),
            ("CountContacts emailAddress", { .count(ProbeText.member("emailAddress", email($0))) }),
            ("FetchContacts phoneNumber", { .fetch(ProbeText.member("phoneNumber", phone($0))) }),
            ("CountContacts phoneNumber", { .count(ProbeText.member("phoneNumber", phone($0))) }),
        ]
        return calls.map { call, make in
            compare(app, call, hidden, matching, make)
        }
    }

    /// Compares with as many other words, because words that are repeated more often are found faster.
    private static func compare(
        _ app: Probe, _ call: String, _ hidden: String, _ matching: [String], _ make: (String) -> ProbeCall
    ) -> Case {
        Case(
            app, call, hidden, matching.map(make), words(matching.count).map(make),
            control: words(matching.count).map(make))
    }

    private static func add(_ world: PrivacyWorld, _ family: String, _ organisation: [String]) -> String {
        // Contacts that share words share no address, because the broker would link them.
        let values = organisation.count == shared ? "" : values(of: organisation[0])
        return ProbeText.add(
            given: world.name(), family: family,
            #","organizationName":"\#(organisation.joined(separator: " "))"\#(values)"#)
    }

    /// An e-mail address and a phone number as JSON members.
    static func values(of word: String) -> String {
        #","emailAddresses":[{"value":"\#(email(word))"}],"phoneNumbers":[{"value":"\#(phone(word))"}]"#
    }

    private static func email(_ word: String) -> String { word + "@example.org" }

    private static func phone(_ word: String) -> String {
        "+4930" + word.utf8.suffix(8).map { String($0 % 10) }.joined()
    }
}
