@testable import contact_agent

/// The sessions whose screens ``AgentScreens`` compares: those of one kind, such as `access`, are together.
extension AgentScreens {
    static let sessions: [Session] = [
        Session(
            name: "access",
            prompt: PromptText(keys: ["givenName", "familyName", "emailAddresses", "note"]),
            steps: [
                Step("[c] Choose", "?"), Step("Move in a list", "⏎", ""), Step("[c] Choose", "c"),
                Step("] Grace Hopper", "gra"), Step("1–1 of 1", "⇥", "1"),
                Step("1 marked: Grace", "鄧"), Step("1–1 of 1", "⇥", "1"), Step("2 marked", "⏎", ""),
                Step("[y] Share these 2", "k"), Step("] names", "a"), Step("[x] work", "n"), Step("[ ] work", "p"),
                Step("[x] names", "⏎", "back"), Step("notes: no", "n"), Step("notes: yes", "t"),
                Step("until you revoke it", "y"),
            ]),
        Session(
            name: "access-all",
            steps: [
                Step("[a] Share all", "a"), Step("[y] Share all", "⏎", ""), Step("[a] Share all", "a"),
                Step("[y] Share all", "y"),
            ]),
        Session(
            name: "access-leaving",
            steps: [
                Step("[c] Choose", "c"), Step("] Grace Hopper", "↓⇥", "2"), Step("1 marked", "⎋", "esc"),
                Step("Leave without", "⏎", ""), Step("1 marked", "⎋", "esc"),
                Step("Leave without", "⎋", "esc"),
            ]),
        Session(
            name: "access-policy",
            prompt: PromptText(
                strength: "sandboxed", lifetimes: ["untilRevoked"], maximumLevel: "limited",
                maximumKeys: ["givenName", "phoneNumbers"]),
            steps: [
                Step("[c] Choose", "c"), Step("] Grace", "↓⇥", "2"), Step("1 marked", "⏎", ""),
                Step("[y] Share this", "⎋", "esc"), Step("Leave without", "⎋", "esc"),
            ]),
        Session(
            name: "access-de", language: "de_DE.UTF-8",
            steps: [Step("[c]", "c"), Step("] Grace", "⎋", "esc")]),
        Session(
            name: "access-ar", language: "ar_EG.UTF-8",
            steps: [Step("[c]", "c"), Step("p7@example.org", "⎋", "esc")]),
        Session(
            name: "access-ja", language: "ja_JP.UTF-8",
            steps: [Step("[c]", "c"), Step("] Grace", "⎋", "esc")]),
        Session(
            name: "access-search",
            steps: [
                Step("[c] Choose", "c"), .atFullScreen("] Ada Lovelace", "⤓"), .atFullScreen("] Person Number 60", "⇞"),
                .atFullScreen("] Person Number", "⤒"), .atFullScreen("› [=] Ada", "⇟"),
                .atFullScreen("] Ada Lovelace", "↑"), Step("] Ada Lovelace", "grace hoq"),
                Step("No matches", "⌧grace ho", "grace ho"), Step("Search: grace ho_", "⇥", "1"),
                Step("1 marked: Grace", "→", "list"), Step("Marked contacts", "→", "list"),
                Step("] Ada Lovelace", "⏎", ""), Step("[y] Share this", "b"), Step("1 marked: Grace", "⏎", ""),
                Step("[y] Share this", "←", "back"), Step("1 marked: Grace", "←", "back"), Step("[N] Don't", "N"),
            ]),
        Session(
            name: "access-terms",
            steps: [
                Step("[a] Share all", click: "[a] Share all", "a"), Step("[y] Share all", "t"),
                Step("until you revoke it", "w"), Step("Changes: also contacts", "k"), Step("] names", " ", "1"),
                Step("[ ] names", "⏎", ""),
                Step("[y] Share all", "b"), Step("[a] Share all", "a"), Step("[y] Share all", "←", "back"),
                Step("[a] Share all", "⎋", "esc"),
            ]),
        Session(
            name: "access-changes", prompt: wantsChanges,
            steps: [
                Step("change and delete contacts", "c"), Step("] Grace Hopper", "↓⇥", "2"), Step("1 marked", "⏎", ""),
                Step("also deletes", "w"), Step("Changes: nothing", "y"),
            ]),
        Session(
            name: "access-declared", prompt: declared,
            steps: [
                Step("[c] Choose", "c"), Step("] Grace Hopper", "↓⇥", "2"), Step("1 marked", "⏎", ""),
                Step("[y] Share this", "y"),
            ]),
        Session(
            name: "access-empty", prompt: PromptText(totalContacts: 0), people: [],
            steps: [Step("address book is empty", "⏎", ""), Step("[y] Share all", "⎋", "esc")]),
        Session(
            name: "button-one", prompt: PromptText(kind: "button", status: "limited", query: "gra"),
            steps: [Step("[s] Share Grace", "s")]),
        Session(
            name: "button-several", prompt: PromptText(kind: "button", query: "l"),
            steps: [
                Step("missing: e-mail", "↓⇥", "2"), Step("cannot be chosen: ", "⌧lo", "lo"),
                Step("Search: lo", "⎋", "esc"), Step("Leave without", "⎋", "esc"),
            ]),
        Session(
            name: "button-none", prompt: PromptText(kind: "button", query: "nobody"),
            steps: [
                Step("No contact matches", "xy"), Step("No contact matches “xy”", "⌧gra", "gra"),
                Step("] Grace", "⏎", ""),
                Step("[y] Share this contact", "y"),
            ]),
        Session(
            name: "button-search", prompt: PromptText(kind: "button", query: "gra"),
            steps: [
                Step("[s] Share Grace", "?"), Step("Move in a list", "⏎", ""), Step("[/] Search", "/"),
                Step("] Grace Hopper", "⌫", "gr"), Step("Search: gr_", "⏎", ""), Step("[y] Share this", "t"),
                Step("until you revoke it", "w"), Step("Changes: also contacts", "b"),
                Step("] Grace Hopper", "→", "list"),
                Step("Marked contacts", "→", "list"), Step("] Ada Lovelace", "⏎", ""),
                Step("[y] Share this", "←", "back"), Step("] Grace Hopper", "⏎", ""), Step("[N] Don't", "N"),
            ]),
        Session(
            name: "button-never", prompt: PromptText(kind: "button", status: "limited", query: "gra"),
            steps: [Step("[N] Keep", "N")]),
        Session(
            name: "manage",
            prompt: PromptText(
                kind: "manage", status: "limited", totalContacts: 60, grantedContacts: 1,
                grantedKeys: ["givenName", "emailAddresses"], lastUsedAt: "2026-03-01T10:00:00Z", uses: 7,
                contactsRead: 1_234),
            steps: [
                Step("[c] Change", "c"), Step("[x] Ada", "⇥", "1"), Step("[−] Ada", "→", "list"),
                Step("] Grace", "↓⇥", "2"), Step("2 marked", "⏎", ""), Step("[y] Change", "y"),
            ]),
        Session(
            name: "manage-keys",
            prompt: PromptText(
                kind: "manage", status: "limited", totalContacts: 60, grantedContacts: 1,
                grantedKeys: ["givenName", "emailAddresses"]),
            steps: [
                Step("[k] Change", "k"), Step("] names", " ", "1"), Step("[ ] names", "⏎", ""),
                Step("[y] Change", "b"),
                Step("[ ] names", "←", "back"), Step("[x] Revoke", "x"), Step("[y] Revoke", "y"),
            ]),
        Session(
            name: "manage-changes", prompt: managed,
            steps: [
                Step("[w]", "w"), Step("What may “mail” change", "⏎", ""), Step("[w]", "w"),
                .approving("[2] also contacts", "2"),
            ]),
        Session(
            name: "manage-changes-none", prompt: managed,
            steps: [
                Step("[w]", "w"), Step("What may “mail” change", "b"), Step("[w]", "w"), .approving("[1] nothing", "1"),
            ]),
        Session(
            name: "manage-changes-all", prompt: managed,
            steps: [Step("[w]", "w"), .approving("[3] everything", "3")]),
        Session(
            name: "manage-all", prompt: managed,
            steps: [
                Step("[a] Share all", "a"), Step("[y] Share all", "b"), Step("[a] Share all", "a"),
                Step("[y] Share all", "←", "back"), Step("[x] Revoke", "x"), Step("[y] Revoke", "⏎", ""),
                Step("[x] Revoke", "x"), Step("[y] Revoke", "b"), Step("[a] Share all", "a"),
                Step("[y] Share all", "y"),
            ]),
        Session(
            name: "manage-search", prompt: managed,
            steps: [
                Step("[c] Change", "?"), Step("Move in a list", "⏎", ""), Step("[c] Change", "c"),
                Step("[x] Ada", "grace h"),
                Step("1–1 of 1", "⇥", "1"),
                Step("1 marked: + Grace", "⏎", ""), Step("[y] Change", "b"), Step("1 marked: + Grace", "⏎", ""),
                Step("[y] Change", "←", "back"), Step("1 marked: + Grace", "←", "back"), Step("[k] Change", "k"),
                Step("] names", " ", "1"), Step("[ ] names", "⏎", ""), Step("[y] Change", "y"),
            ]),
        Session(
            name: "manage-lifetime", prompt: managed,
            steps: [
                Step("[t] Change", "t"), Step("1 day from now", "b"), Step("[t] Change", "t"),
                Step("1 day from now", "←", "back"), Step("[t] Change", "t"), .approving("[2] 7 days", "2"),
            ]),
        Session(
            name: "manage-one-day", prompt: managed,
            steps: [Step("[t] Change", "t"), .approving("[1] 1 day", "1")]),
        Session(
            name: "manage-thirty-days", prompt: managed,
            steps: [Step("[t] Change", "t"), .approving("[3] 30 days", "3")]),
        Session(
            name: "manage-purpose", prompt: anotherPurpose,
            steps: [Step("Earlier it said", "⎋", "esc")]),
        Session(
            name: "manage-silenced",
            prompt: PromptText(kind: "manage", status: "denied", totalContacts: 60, silenced: true),
            steps: [Step("[u] What it", "u"), Step("deletes 2", "←", "back"), Step("[r] Let it", "r")]),
        Session(
            name: "manage-undo", prompt: managed,
            steps: [
                Step("[w] ", "w"), Step("[u] What it", "u"), Step("deletes 2", "⏎", "1"), Step("[u] Put back all", "u"),
                Step("[y] Put back", "⏎", "b"), Step("[u] Put back all", "b"), Step("deletes 2", "⏎", "1"),
                Step("[e] Everything", "e"), Step("[f] Also", "f"), Step("[y] Put back", "y"),
                Step("deletes 2", "←", "back"), Step("[w] ", "⎋", "esc"),
            ]),
        Session(
            name: "manage-undo-one", prompt: managed,
            steps: [
                Step("[w] ", "w"), Step("[u] What it", "u"), Step("deletes 2", "⏎", "1"),
                Step("[u] Put back all", "⏎", "1"),
                Step("somebody else", "b"), Step("[u] Put back all", "↓⏎", "2"), Step("[y] Put back", "y"),
                Step("deletes 2", "⎋", "esc"),
            ]),
        Session(name: "manage-never", prompt: managed, steps: [Step("[N] Change", "N")]),
        Session(
            name: "manage-leaving", prompt: managed,
            steps: [
                Step("[c] Change", "c"), Step("[x] Ada", "⇥", "1"), Step("[−] Ada", "⎋", "esc"),
                Step("Leave without", "⎋", "esc"),
            ]),
        Session(
            name: "pick", prompt: PromptText(kind: "pick", keys: ["givenName", "phoneNumbers"], multiple: true),
            steps: [
                Step("[c] Pick", "c"), Step("] Ada", "⇥", "1"), Step("1 marked", "→", "list"),
                Step("Marked contacts", "→", "list"), Step("] Grace", "↓⇥", "2"),
                Step("] work", "⇥", "1"), Step("[x] work", "⏎", ""), Step("[y] Give these 2", "y"),
            ]),
        Session(
            name: "pick-ar", prompt: PromptText(kind: "pick", keys: ["givenName", "phoneNumbers"], multiple: true),
            language: "ar_EG.UTF-8",
            steps: [
                Step("[c]", "c"), Step("p7@example.org", "lin"), Step("Lanying", "⌧ada", "ada"),
                Step("Lovelace", "⇥", "1"), Step("[x]", "gra"), Step("Hopper", "⇥", "1"), Step("555 0100", "⇥", "1"),
                Step("[x]", "⏎", ""),
                Step("[y]", "y"),
            ]),
        Session(
            name: "pick-limit", prompt: PromptText(kind: "pick", multiple: true, limit: 2),
            steps: [
                Step("at most 2", "c"), Step("] Ada", "⇥", "1"), Step("1 marked", "↓↓⇥", "3"),
                Step("cannot be chosen: missing", "↓⇥", "4"), Step("2 marked", "↓⇥", "5"),
                Step("Unmark one first", "↑↑↑⇥", "2"), Step("] work", "⇥", "1"), Step("Unmark one first", "←", "back"),
                Step("2 marked", "⇥", "2"), Step("] work", "←", "back"), Step("2 marked", "⏎", ""),
                Step("[y] Give these 2", "y"),
            ]),
        Session(
            name: "pick-one", prompt: PromptText(kind: "pick", keys: ["givenName", "phoneNumbers"]),
            steps: [
                Step("[c] Pick", "?"), Step("Move in a list", "⏎", ""), Step("[c] Pick", "c"),
                Step("] Ada", "←", "back"), Step("[c] Pick", "c"), Step("] Ada", "grace h"),
                Step("[Return] Open", "⏎", ""), Step("+1 555 0100", "←", "back"),
                Step("] Grace", "⏎", ""), Step("+1 555 0100", "⏎", ""), Step("[y] Give", "b"),
                Step("+1 555 0101", "↓ ", "2"), Step("[x] phone", "⏎", ""), Step("[y] Give", "⎋", "esc"),
                Step("Leave without", "⎋", "esc"),
            ]),
        Session(
            name: "pick-never", prompt: PromptText(kind: "pick"), steps: [Step("[N] Give", "N")]),
        Session(
            name: "propose", prompt: PromptText(kind: "propose", proposed: ProposeTests.card),
            steps: [
                Step("[c] Look", "c"), Step("[o] Merge", "o"), Step("] Grace", "gra"), Step("1–1 of 1", "⏎", ""),
                Step("[y] Merge", "y"),
            ]),
        Session(
            name: "propose-add", prompt: PromptText(kind: "propose", proposed: ProposeTests.card),
            people: peopleWithMatch,
            steps: [
                Step("[c] Look", "?"), Step("Move in a list", "⏎", ""), Step("[c] Look", "c"), Step("[m] Merge", "m"),
                Step("[y] Merge", "b"), Step("[o] Merge", "o"), Step("] Grace", "grace h"),
                Step("1–1 of 1", "←", "back"), Step("[a] Add", "a"),
            ]),
        Session(
            name: "propose-edit", prompt: PromptText(kind: "propose", proposed: ProposeTests.card),
            steps: [
                Step("[c] Look", "c"), Step("[e] Change", "e"), Step("] given name", "⏎", "1"),
                Step("given name: Emmy_", "⌫⌫⌫⌫Amalie", "Amalie"), Step("given name: Amalie_", "⏎", ""),
                Step("Amalie", "↓ ", "2"), .inLines("family name: Noether_", "back"),
                .inLines("On or off", "space"), Step("[ ] family name", "←", "back"), Step("“Amalie”", "a"),
            ]),
        Session(
            name: "propose-never", prompt: PromptText(kind: "propose", proposed: ProposeTests.card),
            steps: [Step("[N] Decline", "N")]),
        Session(
            name: "propose-decline", prompt: PromptText(kind: "propose", proposed: ProposeTests.card),
            steps: [Step("[c] Look", "c"), Step("[a] Add", "←", "back"), Step("[c] Look", "⎋", "esc")]),
        Session(
            name: "keys", prompt: PromptText(kind: "keys", status: "limited", keys: ["note", "groups"]),
            steps: [Step("[y] Allow", "2"), Step("groups: no", "y")]),
        Session(
            name: "keys-none", prompt: PromptText(kind: "keys", status: "limited", keys: ["note", "groups"]),
            steps: [
                Step("[1] Change", "1"), Step("notes: no", "2"), Step("groups: no", "?"),
                Step("Move in a list", "⏎", ""), Step("groups: no", "2"), .atFullScreen("groups: yes", "↓⏎"),
                Step("groups: yes", "N"),
            ]),
        Session(
            name: "keys-refuse", prompt: PromptText(kind: "keys", status: "limited", keys: ["note"]),
            steps: [Step("[y] Allow", "⎋", "esc")]),
        Session(
            name: "change", prompt: ChangeTests.prompt, people: ChangeTests.changes,
            steps: [
                Step("[y] Allow these", "⏎", "1"), Step("has a photo", "←", "back"),
                Step("[y] Allow these", "↓↓⏎", "3"),
                Step("Amazing Grace", "⇟", ">"), Step("[b] Back", "b"), Step("[a] Allow", "a"),
                Step("[y] Allow from", "⏎", ""), Step("[a] Allow", "a"), Step("[y] Allow from", "y"),
            ]),
        Session(
            name: "change-once", prompt: ChangeTests.prompt, people: ChangeTests.changes,
            steps: [
                Step("[y] Allow these", "?"), Step("Move in a list", "⏎", ""), Step("[y] Allow these", "⤓↑↑⏎", "8"),
                Step("Renames", "⏎", ""), Step("[a] Allow", "a"), Step("[y] Allow from", "b"), Step("[a] Allow", "y"),
            ]),
        Session(
            name: "change-edit", prompt: onlyEdit, people: ChangeTests.changes,
            steps: [Step("[a] Allow", "a"), Step("[y] Allow from", "⎋", "esc")]),
        Session(
            name: "change-many", prompt: manyChanged, people: ChangeTests.changes,
            steps: [Step("apps like this one", "y")]),
        Session(
            name: "change-never", prompt: ChangeTests.prompt, people: ChangeTests.changes,
            steps: [Step("[N] Don't", "N")]),
        Session(
            name: "change-de", prompt: ChangeTests.prompt, language: "de_DE.UTF-8", people: ChangeTests.changes,
            steps: [Step("[a]", "a"), Step("[y]", "⎋", "esc")]),
        Session(
            name: "change-ar", prompt: ChangeTests.prompt, language: "ar_EG.UTF-8", people: ChangeTests.changes,
            steps: [Step("[a]", "↓↓⏎", "3"), Step("[b]", "←", "back"), Step("[a]", "a"), Step("[y]", "⎋", "esc")]),
        Session(
            name: "home", prompt: nil,
            grants: grants,
            steps: [Step("denied", "?"), Step("Move in a list", "⏎", ""), Step("denied", "q")]),
        Session(
            name: "home-ar", prompt: nil, language: "ar_EG.UTF-8", grants: grants,
            steps: [Step("”mail“", "?"), Step("Ctrl-C", "⏎", ""), Step("”mail“", "q")]),
        Session(
            name: "home-review", prompt: nil, grants: grants, managed: managed,
            steps: [
                .atFullScreen("denied", "↓"), Step("denied", "⏎", "1"), Step("[c] Change", "⎋", "esc"),
                Step("You changed nothing", click: "“mail”", "1"), Step("[c] Change", "⎋", "esc"),
                Step("You changed nothing", "q"),
            ]),
        Session(
            name: "home-silenced", prompt: nil, grants: silenced,
            managed: PromptText(kind: "manage", status: "notDetermined", totalContacts: 60, silenced: true),
            steps: [
                Step("may not ask", "⏎", "1"), Step("[r] Let it", "⎋", "esc"),
                Step("You changed nothing", "⏎", "1"), Step("[r] Let it", "r"), Step("may ask again", "q"),
            ]),
        Session(
            name: "home-folders", prompt: nil,
            steps: [
                Step("[d] Folders", "d"), Step("You declared no folder", "⎋", "esc"), Step("[d] Folders", "d"),
                Step("[n] Declare", "n"), Step("Which folder", "home/ada/none", "/home/ada/none"),
                Step("/home/ada/none▏", "⏎", ""), Step("no such folder", "⌫⌫⌫⌫app", "/home/ada/app"),
                Step("/home/ada/app▏", "⏎", ""), Step("[y] Yes, declare", "b"), Step("[n] Declare", "n"),
                Step("Which folder", "⌧~", "~"), Step("~▏", "⎋", "esc"), Step("[n] Declare", "⏎", ""),
                Step("Which folder", "home/ada/app", "/home/ada/app"), Step("/home/ada/app▏", "⏎", ""),
                Step("[y] Yes, declare", "y"), Step("Declared until", "⏎", "1"), Step("[y] Yes, end", "⏎", "b"),
                Step("Folders that you", click: "/home/ada/app", "1"), Step("[y] Yes, end", "←", "back"),
                Step("Folders that you", "⏎", "1"), Step("[y] Yes, end", "y"), Step("No longer declared", "⎋", "esc"),
                Step("[d] Folders", "q"),
            ]),
        Session(
            name: "home-quiet", prompt: PromptText(quiet: true),
            steps: [Step("[o] Open", "o"), Step("[c] Choose", "⎋", "esc")]),
        Session(
            name: "unknown", prompt: PromptText(kind: "a later version's"),
            steps: [
                Step("cannot show", "?"), Step("Move in a list", "⏎", ""), Step("cannot show", "⎋", "esc"),
            ]),
    ]

    static let people: [BrokerStandIn.Contact] =
        [
            .init(
                identifier: "r1", givenName: "Ada", familyName: "Lovelace", detail: "ada@example.org", isGranted: true),
            .init(
                identifier: "r2", givenName: "Grace", familyName: "Hopper", detail: "+1 555 0100", returns: false,
                card: PickTests.people[1].card),
            .init(
                identifier: "r3", givenName: "Lin", familyName: "Lanying", detail: nil,
                problem: "lacksKey emailAddresses"),
            .init(identifier: "r4", givenName: "麗君", familyName: "鄧", detail: "teresa@example.tw"),
            .init(identifier: "r5", givenName: "محمد", familyName: "الأحمد", detail: "+966 5 555 0100"),
            .init(identifier: "r6", givenName: "Zoe\u{301} 👩🏽‍🚀", familyName: "[y] Yes", detail: "zoe@example.org"),
        ]
        + (7...60).map { number in
            .init(
                identifier: "r\(number)", givenName: "Person", familyName: "Number \(number)",
                detail: "p\(number)@example.org")
        }

    /// Grace has the e-mail address of the offered card.
    private static let peopleWithMatch = people.map { contact in
        var contact = contact
        contact.match = contact.identifier == "r2" ? "email" : nil
        return contact
    }

    private static let manyChanged: PromptText = {
        var prompt = ChangeTests.prompt
        prompt.grantedChanges = "all"
        return prompt
    }()

    private static let onlyEdit: PromptText = {
        var prompt = ChangeTests.prompt
        prompt.changes = "edit"
        prompt.save = [0, 2, 0, 0]
        return prompt
    }()

    private static let declared = PromptText(
        displayName: "hello", strength: "declared", executable: "/home/ada/app/.build/debug/hello",
        folder: "/home/ada/app", folderUntil: "2099-01-31T12:00:00Z", maximumLevel: "limited")

    private static let wantsChanges: PromptText = {
        var prompt = PromptText()
        prompt.changes = "all"
        return prompt
    }()

    private static let anotherPurpose: PromptText = {
        var prompt = managed
        prompt.otherPurpose = true
        prompt.formerPurpose = "to import the contacts"
        return prompt
    }()

    static let managed = PromptText(
        kind: "manage", status: "limited", totalContacts: 60, grantedContacts: 1,
        grantedKeys: ["givenName", "emailAddresses"], grantedChanges: "own")

    private static let silenced = """
        [{"app":"/usr/bin/mail","strength":"unverified","displayName":"mail","status":"notDetermined","contacts":0,\
        "uses":0,"silenced":true}]
        """

    static let grants = """
        [{"app":"/usr/bin/mail","strength":"unverified","displayName":"mail","status":"limited","contacts":2,\
        "lastUsedAt":"2026-03-01T10:00:00Z","uses":7,"session":"1"},\
        {"app":"x","strength":"sandboxed","displayName":"org.example.Chat","status":"full","contacts":0,"uses":0},\
        {"app":"y","strength":"claimed","displayName":"ａｐｐ 連絡先","status":"denied","contacts":0,"uses":0}]
        """
}
