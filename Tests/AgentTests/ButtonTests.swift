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
        let house = try AgentHouse(["--once"])
        try house.registered()
        house.ask(button("ada"))
        try house.see("“mail” looks for “ada”.")
        #expect(house.terminal.screen.contains("Ada Lovelace  ada@example.org"))
        #expect(house.terminal.screen.contains("an unverified program: /usr/bin/mail"))
        try house.see("[s] Share Ada Lovelace with “mail”", thenPress: "s")
        #expect(
            try house.answer() == BrokerStandIn.Answer(cookie: "cookie-1", level: "limited", identifiers: ["r1"]))
        #expect(try house.exit() == .exited(0))
    }

    @Test("Return, Escape and d share nothing", arguments: ["\r", "\u{1B}", "d"], ["ada", "l", "nobody"])
    func refuses(key: String, query: String) throws {
        let house = try AgentHouse(["--once"])
        try house.registered()
        house.ask(button(query))
        try house.see("“mail” looks for “\(query)”.", thenPress: key)
        #expect(try house.answer() == BrokerStandIn.Answer(cookie: "cookie-1"))
        #expect(try house.exit() == .exited(1))
    }

    @Test("Keys that are pressed during the search do not answer the prompt")
    func typedWhileLooking() throws {
        let house = try AgentHouse(["--once"])
        try house.registered()
        house.broker.holdsSearch = true
        house.ask(button("ada"))
        try house.wait(for: "the search") { !house.broker.searches.isEmpty }
        house.terminal.send("\r\rs")
        house.broker.releaseSearch()
        try house.see("[s] Share Ada Lovelace with “mail”", thenPress: "s")
        #expect(try house.answer()?.identifiers == ["r1"])
    }

    @Test("An app without a grant needs a second confirmation", arguments: [("y", ["r1"]), ("\r", nil)])
    func firstTime(key: String, identifiers: [String]?) throws {
        let house = try AgentHouse(["--once"])
        try house.registered()
        house.ask(button("ada", status: "notDetermined"))
        try house.see("[s] Share Ada Lovelace", thenPress: "s")
        try house.see("“mail” never had a contact of you before.")
        #expect(house.terminal.screen.contains("Only this contact: Ada Lovelace"))
        #expect(house.terminal.screen.contains("It says: “to fill in addresses”"))
        #expect(house.terminal.screen.contains("[t] for this terminal session"))
        try house.see("[y] Yes, share", thenPress: key)
        let answer = try house.answer()
        #expect(answer?.identifiers == identifiers)
        #expect(answer?.lifetime == (identifiers == nil ? nil : "session"))
        #expect(try house.exit() == .exited(identifiers == nil ? 1 : 0))
    }

    @Test("Of several matches, only the chosen ones are shared")
    func several() throws {
        let house = try AgentHouse(["--once"])
        try house.registered()
        house.ask(button("l"))
        try house.see("2 [ ] Lin Lanying")
        try house.see("[1–9] choose whom to share", thenPress: "2")
        try house.see("[s] Share Lin Lanying with “mail”", thenPress: "s")
        #expect(try house.answer()?.identifiers == ["r3"])
    }

    @Test("If nothing matches, the agent says so and shares nothing")
    func noMatch() throws {
        let house = try AgentHouse(["--once"])
        try house.registered()
        house.ask(button("nobody"))
        try house.see("No contact matches")
        try house.see("Press any key.", thenPress: "s")
        #expect(try house.answer() == BrokerStandIn.Answer(cookie: "cookie-1"))
    }

    @Test("Choosing a disabled row shows the reason")
    func disabledRow() throws {
        let house = try AgentHouse(contacts: [
            .init(identifier: "r1", givenName: "Ada", familyName: "Lovelace", detail: "x", reason: "has no address"),
            .init(identifier: "r2", givenName: "Ada", familyName: "Yonath", detail: "y"),
        ])
        try house.registered()
        house.ask(button("ada"))
        try house.see("has no address", thenPress: "1s")
        try house.see("Ada Lovelace cannot be chosen: has no address")
        #expect(house.broker.answers.isEmpty)
    }

    @Test("A denied app's prompt takes one line until the person opens it")
    func quiet() throws {
        let house = try AgentHouse(["--once"])
        try house.registered()
        var prompt = button("ada", status: "denied")
        prompt.quiet = true
        house.ask(prompt)
        try house.see("“mail”, which you refused, asks again. Press o to open.")
        #expect(!house.terminal.screen.isAlternate)
        house.terminal.send("o")
        try house.see("“mail” looks for “ada”.")
        #expect(house.terminal.screen.isAlternate)
        try house.see("[s] Share Ada Lovelace", thenPress: "s")
        try house.see("You refused “mail” before.")
        try house.see("[y] Yes, share", thenPress: "y")
        #expect(
            try house.answer()
                == BrokerStandIn.Answer(
                    cookie: "cookie-1", level: "limited", identifiers: ["r1"], lifetime: "session"))
    }
}
