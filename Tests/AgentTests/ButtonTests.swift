import PseudoTerminal
import Testing

@testable import contact_agent

@Suite("Prompts of the access button")
struct ButtonTests {
    private func button(_ query: String, status: String = "limited") -> PromptText {
        PromptText(
            kind: "button", status: status, query: query,
            lifetimes: ["session", "untilRevoked"])
    }

    @Test("One key shares a unique match")
    func oneKey() throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(button("ada"))
        try fixture.see("“mail” looks for “ada”.")
        #expect(fixture.terminal.screen.contains("Ada Lovelace  ada@example.org"))
        #expect(fixture.terminal.screen.contains("an unverified program: /usr/bin/mail"))
        try fixture.see("[s] Share Ada Lovelace with “mail”", thenPress: "s")
        #expect(
            try fixture.answer() == BrokerStandIn.Answer(cookie: "cookie-1", level: "limited", identifiers: ["r1"]))
        #expect(try fixture.exit() == .exited(0))
    }

    @Test("Escape shares nothing", arguments: ["ada", "l", "nobody"])
    func refuses(query: String) throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(button(query))
        try fixture.see("“mail” looks for “\(query)”.", thenPress: "\u{1B}")
        #expect(try fixture.answer() == BrokerStandIn.Answer(cookie: "cookie-1"))
        #expect(try fixture.exit() == .exited(1))
    }

    @Test("Keys that are pressed during the search do not answer the prompt")
    func typedWhileLooking() throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.broker.holdsSearch = true
        fixture.ask(button("ada"))
        try fixture.wait(for: "the search") { !fixture.broker.searches.isEmpty }
        fixture.terminal.send("\r\rs")
        fixture.broker.releaseSearch()
        try fixture.see("[s] Share Ada Lovelace with “mail”", thenPress: "s")
        #expect(try fixture.answer()?.identifiers == ["r1"])
    }

    @Test("An app without a grant needs a second confirmation", arguments: [("y", ["r1"]), ("\u{1B}", nil)])
    func firstTime(key: String, identifiers: [String]?) throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(button("ada", status: "notDetermined"))
        try fixture.see("[s] Share Ada Lovelace", thenPress: "s")
        try fixture.see("It has no access to your contacts now.")
        #expect(fixture.terminal.screen.contains("Only this contact: Ada Lovelace"))
        #expect(fixture.terminal.screen.contains("It says: “to fill in addresses”"))
        #expect(fixture.terminal.screen.contains("Lasts: this terminal session   [t] Change"))
        try fixture.see("[y] Share this contact", thenPress: key)
        let answer = try fixture.answer()
        #expect(answer?.identifiers == identifiers)
        #expect(answer?.lifetime == (identifiers == nil ? nil : "session"))
        #expect(try fixture.exit() == .exited(identifiers == nil ? 1 : 0))
    }

    @Test("Of several matches, only the chosen ones are shared, after a confirmation")
    func several() throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(button("l"))
        try fixture.see("  [ ] Lin Lanying", thenPress: "\u{1B}[B")
        try fixture.see("› [ ] Lin Lanying", thenPress: "\r")
        try fixture.see("[y] Share this contact", thenPress: "y")
        #expect(try fixture.answer()?.identifiers == ["r3"])
    }

    @Test("If nothing matches, the agent says so, and the person can search on")
    func noMatch() throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(button("nobody"))
        try fixture.see("No contact matches “nobody”, except any that it sees already.")
        #expect(fixture.terminal.screen.contains("“mail” does not learn this."))
        #expect(fixture.terminal.screen.contains("[Ctrl-U] Clear   [Esc] Don't share"))
        fixture.terminal.send("\r")
        fixture.terminal.send("gra")
        try fixture.see("› [ ] Grace Hopper")
        #expect(fixture.broker.answers.isEmpty)
        fixture.terminal.send("\r")
        try fixture.see("[y] Share this contact", thenPress: "y")
        #expect(try fixture.answer()?.identifiers == ["r2"])
    }

    @Test(
        "If nothing matches, what is typed replaces the app's query, and Backspace changes it",
        arguments: [("omar", "omar"), ("⌫", "nobod"), ("⌫x", "nobodx"), ("⌧", ""), (" o", "o"), ("⏎o", "o")])
    func replacesQuery(keys: String, query: String) throws {
        var driver = try Driver(button("nobody"))
        driver.total = 0
        driver.begin()
        driver.press(keys)
        #expect(driver.searches.last == .search(query: query, offset: 0, limit: 38))
        #expect(query.isEmpty || driver.shows("Search: \(query)_"))
    }

    @Test("The last screen says what the app gets, and tells two people of one name apart")
    func lastScreen() throws {
        var text = button("l", status: "notDetermined")
        text.maximumKeys = ["givenName", "phoneNumbers"]
        var driver = try Driver(text)
        driver.people = [("r1", "ada@example.org"), ("r2", "+1 555 0100"), ("r3", nil)].map {
            .init(identifier: $0.0, givenName: "Ada", familyName: "Lovelace", detail: $0.1)
        }
        driver.people?.append(
            .init(identifier: "r4", givenName: "Lin", familyName: "Lanying", detail: "lin@example.org"))
        driver.begin()
        driver.press("↓⏎")
        #expect(driver.shows("Only this contact: Ada Lovelace (+1 555 0100)"))
        #expect(driver.shows("Gets: names, phone numbers"))
        driver.press("b↑⇥↓↓↓⇥⏎")
        #expect(driver.shows("Only these 3 contacts: Ada Lovelace (+1 555 0100), Ada Lovelace"))
        #expect(driver.shows("(ada@example.org)") && driver.shows("Lin Lanying"))
        // An app with access gets what its grant has, and one key shares.
        text = button("grace")
        text.grantedKeys = ["emailAddresses"]
        driver = try Driver(text)
        driver.people = [.init(identifier: "r1", givenName: "Grace", familyName: "Hopper", detail: nil)]
        driver.begin()
        #expect(driver.shows("Gets: e-mail") && driver.shows("[s] Share Grace Hopper"))
    }

    @Test("Marking a disabled row shows the reason")
    func disabledRow() throws {
        let fixture = try AgentFixture(contacts: [
            .init(
                identifier: "r1", givenName: "Ada", familyName: "Lovelace", detail: "x",
                problem: "lacksKey postalAddresses"),
            .init(identifier: "r2", givenName: "Ada", familyName: "Yonath", detail: "y"),
        ])
        try fixture.registered()
        fixture.ask(button("ada"))
        try fixture.see("missing: addresses", thenPress: "\t\r")
        try fixture.see("Ada Lovelace cannot be chosen: missing: addresses")
        #expect(fixture.broker.answers.isEmpty)
    }

    @Test(
        "A row that is disabled or already granted is never shared", arguments: ["s⏎y", "⇥⏎y", "⏎⏎y"], [true, false])
    func disabled(keys: String, isGranted: Bool) throws {
        for total in [1, 2] {
            var driver = try Driver(button("p"))
            driver.total = total
            driver.row = { _, row in
                row.isEnabled = isGranted
                row.isGranted = isGranted
            }
            driver.begin()
            for key in keys {
                if case .answer(let answer) = driver.press(String(key)) { Issue.record("answered \(answer)") }
            }
        }
    }

    @Test("If another match replaces the one that is shown, the stage changes")
    func replacedMatch() throws {
        var driver = try Driver(button("p"))
        driver.total = 1
        driver.begin()
        let before = driver.screen.stage
        driver.screen.dialogue.found(SearchResult(rows: Driver.rows(2..<3), total: 1, offset: 0))
        #expect(driver.screen.stage != before)
        #expect(driver.press("s") == .answer(Answer(level: .limited, identifiers: ["r2"])))
    }

    @Test("The contact that was shown is confirmed, even if the list has changed since")
    func confirmedRow() throws {
        var driver = try Driver(button("p", status: "notDetermined"))
        driver.total = 1
        driver.begin()
        #expect(driver.press("s") == .nothing)
        driver.screen.dialogue.found(SearchResult(rows: Driver.rows(2..<3), total: 1, offset: 0))
        let answer = Answer(level: .limited, identifiers: ["r1"], lifetime: .session)
        #expect(driver.press("y") == .answer(answer))
    }

    @Test("The app changes its query until the person moves, marks or types")
    func followsQuery() throws {
        func updated(_ keys: String) throws -> String? {
            var driver = try Driver(button("p"))
            driver.begin()
            driver.press(keys)
            guard var dialogue = driver.screen.dialogue as? ButtonDialogue,
                case .search(let query, _, _, _) = dialogue.update(query: "other", on: driver.size)
            else { return nil }
            #expect(dialogue.place == .looking)
            return query
        }
        #expect(try updated("") == "other")
        for keys in ["↓", "⇥", "a", "⇟", "⏎"] { #expect(try updated(keys) == nil, "\(keys)") }
    }

    @Test("A new query of the app is shown, and an approving key has no effect at first")
    func updatedQuery() throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(button("a"))
        try fixture.see("[s] Share Ada Lovelace")
        fixture.broker.say(#"{"updated":"another","query":"gra"}"#)
        fixture.broker.say(#"{"updated":"cookie-1","query":"gra"}"#)
        try fixture.see("“mail” looks for “gra”.")
        try fixture.see("[s] Share Grace Hopper", thenPress: "s")
        #expect(try fixture.answer()?.identifiers == ["r2"])
    }

    @Test("A denied app's prompt takes one line until the person opens it")
    func quiet() throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        var prompt = button("ada", status: "denied")
        prompt.quiet = true
        fixture.ask(prompt)
        try fixture.see("“mail”, which you refused, asks again. Press o to open.")
        fixture.terminal.send("o")
        try fixture.see("“mail” looks for “ada”.")
        try fixture.see("[s] Share Ada Lovelace", thenPress: "s")
        try fixture.see("You have denied it access.")
        try fixture.see("[y] Share this contact", thenPress: "y")
        #expect(
            try fixture.answer()
                == BrokerStandIn.Answer(
                    cookie: "cookie-1", level: "limited", identifiers: ["r1"], lifetime: "session"))
    }
}
