import PseudoTerminal
import Testing

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

    @Test("Return, Escape and d share nothing", arguments: ["\r", "\u{1B}", "d"], ["ada", "l", "nobody"])
    func refuses(key: String, query: String) throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(button(query))
        try fixture.see("“mail” looks for “\(query)”.", thenPress: key)
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

    @Test("An app without a grant needs a second confirmation", arguments: [("y", ["r1"]), ("\r", nil)])
    func firstTime(key: String, identifiers: [String]?) throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(button("ada", status: "notDetermined"))
        try fixture.see("[s] Share Ada Lovelace", thenPress: "s")
        try fixture.see("“mail” never had a contact of you before.")
        #expect(fixture.terminal.screen.contains("Only this contact: Ada Lovelace"))
        #expect(fixture.terminal.screen.contains("It says: “to fill in addresses”"))
        #expect(fixture.terminal.screen.contains("[t] for this terminal session"))
        try fixture.see("[y] Yes, share", thenPress: key)
        let answer = try fixture.answer()
        #expect(answer?.identifiers == identifiers)
        #expect(answer?.lifetime == (identifiers == nil ? nil : "session"))
        #expect(try fixture.exit() == .exited(identifiers == nil ? 1 : 0))
    }

    @Test("Of several matches, only the chosen ones are shared")
    func several() throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(button("l"))
        try fixture.see("2 [ ] Lin Lanying")
        try fixture.see("[1–9] choose whom to share", thenPress: "2")
        try fixture.see("[s] Share Lin Lanying with “mail”", thenPress: "s")
        #expect(try fixture.answer()?.identifiers == ["r3"])
    }

    @Test("If nothing matches, the agent says so and shares nothing")
    func noMatch() throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(button("nobody"))
        try fixture.see("No contact matches")
        try fixture.see("Press any key.", thenPress: "s")
        #expect(try fixture.answer() == BrokerStandIn.Answer(cookie: "cookie-1"))
    }

    @Test("Choosing a disabled row shows the reason")
    func disabledRow() throws {
        let fixture = try AgentFixture(contacts: [
            .init(identifier: "r1", givenName: "Ada", familyName: "Lovelace", detail: "x", reason: "has no address"),
            .init(identifier: "r2", givenName: "Ada", familyName: "Yonath", detail: "y"),
        ])
        try fixture.registered()
        fixture.ask(button("ada"))
        try fixture.see("has no address", thenPress: "1s")
        try fixture.see("Ada Lovelace cannot be chosen: has no address")
        #expect(fixture.broker.answers.isEmpty)
    }

    @Test("A denied app's prompt takes one line until the person opens it")
    func quiet() throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        var prompt = button("ada", status: "denied")
        prompt.quiet = true
        fixture.ask(prompt)
        try fixture.see("“mail”, which you refused, asks again. Press o to open.")
        #expect(!fixture.terminal.screen.isAlternate)
        fixture.terminal.send("o")
        try fixture.see("“mail” looks for “ada”.")
        #expect(fixture.terminal.screen.isAlternate)
        try fixture.see("[s] Share Ada Lovelace", thenPress: "s")
        try fixture.see("You refused “mail” before.")
        try fixture.see("[y] Yes, share", thenPress: "y")
        #expect(
            try fixture.answer()
                == BrokerStandIn.Answer(
                    cookie: "cookie-1", level: "limited", identifiers: ["r1"], lifetime: "session"))
    }
}
