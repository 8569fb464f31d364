import Testing

@testable import contact_agent

extension AgentScreens {
    /// Sessions with the keys that ``sessions`` do not press.
    static let furtherSessions: [Session] = [
        Session(
            name: "access-search",
            steps: [
                Step("[c] Choose", "c"), .atFullScreen("] Ada Lovelace", "⤓"), .atFullScreen("] Person Number 60", "⇞"),
                .atFullScreen("] Person Number", "⤒"), .atFullScreen("› [=] Ada", "⇟"),
                .atFullScreen("] Ada Lovelace", "↑"), Step("] Ada Lovelace", "/"), Step("Search: _", "grace hoq"),
                Step("No matches", "⌫", "grace ho"), Step("Search: grace ho_", "⏎", ""), Step("[Space]", " ", "1"),
                Step("1 marked: Grace", "⏎", ""), Step("[y] Share this", "b"), Step("1 marked: Grace", "⏎", ""),
                Step("[y] Share this", "←", "back"), Step("1 marked: Grace", "←", "back"), Step("[N] Don't", "N"),
            ]),
        Session(
            name: "access-terms",
            steps: [
                Step("[a] Share all", click: "[a] Share all", "a"), Step("[y] Share all", "t"),
                Step("until you revoke it", "k"), Step("] names", " ", "1"), Step("[ ] names", "⏎", ""),
                Step("[y] Share all", "b"), Step("[a] Share all", "a"), Step("[y] Share all", "←", "back"),
                Step("[a] Share all", "⎋", "esc"),
            ]),
        Session(
            name: "button-search", prompt: PromptText(kind: "button", query: "gra"),
            steps: [
                Step("[s] Share Grace", "?"), Step("Move in a list", "⏎", ""), Step("[/] Search", "/"),
                Step("] Grace Hopper", "⌫", "gr"), Step("Search: gr_", "⏎", ""), Step("[y] Share this", "t"),
                Step("until you revoke it", "b"), Step("] Grace Hopper", "⏎", ""),
                Step("[y] Share this", "←", "back"), Step("] Grace Hopper", "⏎", ""), Step("[N] Don't", "N"),
            ]),
        Session(
            name: "pick-limit", prompt: PromptText(kind: "pick", multiple: true, limit: 2),
            steps: [
                Step("at most 2", "c"), Step("] Ada", " ", "1"), Step("1 marked", "↓↓ ", "3"),
                Step("cannot be chosen: missing", "↓ ", "4"), Step("2 marked", "↓ ", "5"),
                Step("Unmark one first", "↑↑↑ ", "2"), Step("] work", " ", "1"), Step("Unmark one first", "←", "back"),
                Step("2 marked", " ", "2"), Step("] work", "←", "back"), Step("2 marked", "⏎", ""),
                Step("[y] Give these 2", "y"),
            ]),
        Session(
            name: "button-never", prompt: PromptText(kind: "button", status: "limited", query: "gra"),
            steps: [Step("[N] Never", "N")]),
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
                Step("[c] Change", "?"), Step("Move in a list", "⏎", ""), Step("[c] Change", "c"), Step("[x] Ada", "/"),
                Step("] Grace Hopper", "grace h"), Step("1–1 of 1", "⏎", ""), Step("[Space]", " ", "1"),
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
            steps: [Step("Before, it gave", "⎋", "esc")]),
        Session(name: "manage-never", prompt: managed, steps: [Step("[N] Change", "N")]),
        Session(
            name: "manage-leaving", prompt: managed,
            steps: [
                Step("[c] Change", "c"), Step("[x] Ada", " ", "1"), Step("[−] Ada", "⎋", "esc"),
                Step("Leave without", "⎋", "esc"),
            ]),
        Session(
            name: "pick-one", prompt: PromptText(kind: "pick", keys: ["givenName", "phoneNumbers"]),
            steps: [
                Step("[c] Pick", "?"), Step("Move in a list", "⏎", ""), Step("[c] Pick", "c"),
                Step("] Ada", "←", "back"), Step("[c] Pick", "c"), Step("] Ada", "/"), Step("Search: _", "grace h"),
                Step("1–1 of 1", "⏎", ""), Step("[Return] Open", "⏎", ""), Step("+1 555 0100", "←", "back"),
                Step("] Grace", "⏎", ""), Step("+1 555 0100", "⏎", ""), Step("[y] Give", "b"),
                Step("+1 555 0101", "↓ ", "2"), Step("[x] phone", "⏎", ""), Step("[y] Give", "⎋", "esc"),
                Step("Leave without", "⎋", "esc"),
            ]),
        Session(
            name: "pick-never", prompt: PromptText(kind: "pick"), steps: [Step("[N] Give", "N")]),
        Session(
            name: "propose-add", prompt: PromptText(kind: "propose", proposed: ProposeTests.card),
            people: peopleWithMatch,
            steps: [
                Step("[c] Look", "?"), Step("Move in a list", "⏎", ""), Step("[c] Look", "c"), Step("[m] Merge", "m"),
                Step("[y] Merge", "b"), Step("[o] Merge", "o"), Step("] Grace", "/"), Step("Search: _", "grace h"),
                Step("1–1 of 1", "⏎", ""), Step("[Return] Continue", "←", "back"), Step("[a] Add", "a"),
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
            name: "unknown", prompt: PromptText(kind: "a later version's"),
            steps: [
                Step("cannot show", "?"), Step("Move in a list", "⏎", ""), Step("cannot show", "⎋", "esc"),
            ]),
        Session(
            name: "home-review", prompt: nil, grants: grants, managed: managed,
            steps: [
                .atFullScreen("claimed", "↓"), Step("claimed", "⏎", "1"), Step("[c] Change", "⎋", "esc"),
                Step("You changed nothing", click: "“mail”", "1"), Step("[c] Change", "⎋", "esc"),
                Step("You changed nothing", "q"),
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
            name: "access-declared", prompt: declared,
            steps: [
                Step("[c] Choose", "c"), Step("] Grace Hopper", "↓ ", "2"), Step("1 marked", "⏎", ""),
                Step("[y] Share this", "y"),
            ]),
        Session(
            name: "home-quiet", prompt: PromptText(quiet: true),
            steps: [Step("[o] Open", "o"), Step("[c] Choose", "⎋", "esc")]),
    ]

    /// Grace has the e-mail address of the offered card.
    private static let peopleWithMatch = people.map { contact in
        var contact = contact
        contact.match = contact.identifier == "r2" ? "email" : nil
        return contact
    }

    private static let declared = PromptText(
        displayName: "hello", strength: "declared", executable: "/home/ada/app/.build/debug/hello",
        folder: "/home/ada/app", folderUntil: "2099-01-31T12:00:00Z", maximumLevel: "limited")

    private static let anotherPurpose: PromptText = {
        var prompt = managed
        prompt.otherPurpose = true
        return prompt
    }()

    static let managed = PromptText(
        kind: "manage", status: "limited", totalContacts: 60, grantedContacts: 1,
        grantedKeys: ["givenName", "emailAddresses"])

    static let grants = """
        [{"app":"/usr/bin/mail","strength":"unverified","displayName":"mail","status":"limited","contacts":2,\
        "lastUsedAt":"2026-03-01T10:00:00Z","uses":7,"session":"1"},\
        {"app":"x","strength":"sandboxed","displayName":"org.example.Chat","status":"full","contacts":0,"uses":0},\
        {"app":"y","strength":"claimed","displayName":"ａｐｐ 連絡先","status":"denied","contacts":0,"uses":0}]
        """
}
