import PseudoTerminal
import Testing

@testable import contact_agent

@Suite("Prompts with a proposed card")
struct ProposeTests {
    static let card = """
        {"givenName":"Emmy","familyName":"Noether","organizationName":"Bryn Mawr","note":"from your mail",\
        "phoneNumbers":[{"label":"_$!<Work>!$_","value":"+1 555 0200"}],"emailAddresses":[{"value":"emmy@example.org"}]}
        """

    /// Thirty people, of whom the first has the same e-mail address if `isKnown` is set.
    static func driver(isKnown: Bool = false) throws -> Driver {
        var driver = try Driver(PromptText(kind: "propose", proposed: card))
        driver.row = { $1.match = $0 == 1 && isKnown ? "email" : nil }
        driver.begin()
        return driver
    }

    @Test(
        "Each sequence of keys gives the expected answer",
        arguments: [
            ("⎋", Answer.dismissed), ("N", Answer(neverAskAgain: true)), ("c⎋", .dismissed),
            ("ca", Answer(addProposed: true)), ("co↓⏎y", Answer(mergeInto: "r2")), ("co y", Answer(mergeInto: "r1")),
            ("co↓⏎bo↓⏎y", Answer(mergeInto: "r3")), ("co←a", Answer(addProposed: true)), ("co⎋", .dismissed),
            ("co↓⏎⎋", .dismissed), ("coada⏎y", Answer(mergeInto: "r1")),
        ])
    func answers(keys: String, answer: Answer) throws {
        var driver = try Self.driver()
        #expect(driver.press(keys) == .answer(answer))
    }

    @Test("A contact with the same address is offered first")
    func suggestion() throws {
        var driver = try Self.driver(isKnown: true)
        driver.press("c")
        #expect(driver.shows("› [m] Merge into Person 1 (same e-mail)…"))
        #expect(driver.press("⏎y") == .answer(Answer(mergeInto: "r1")))
        driver = try Self.driver(isKnown: false)
        driver.press("c")
        #expect(!driver.shows("[m]"))
        #expect(driver.press("m") == .nothing)
    }

    @Test("Before a merge, the person sees what the contact has and what is added")
    func comparison() throws {
        var driver = try Self.driver(isKnown: true)
        var line = Card.Line(key: "emailAddresses", label: "e-mail", text: "emmy@example.org", canChoose: false)
        driver.card = Card(name: "Person 1", lines: [line])
        line.text = "old@example.org"
        driver.card.lines.append(line)
        driver.press("cm")
        #expect(driver.shows("Merge into Person 1?"))
        #expect(driver.shows(" + work         +1 555 0200"))
        #expect(driver.shows("   e-mail       old@example.org"))
        #expect(driver.shows("   e-mail       emmy@example.org"))
        #expect(!driver.shows(" + e-mail"))
    }

    @Test("No other key saves the card", arguments: ["a", "y", "cy", "co", "coa", "co⏎a", "cm", "cmy"])
    func nothing(keys: String) throws {
        var driver = try Self.driver()
        var last = Effect.nothing
        for key in keys { last = driver.press(String(key)) }
        if case .answer(let answer) = last, answer != .dismissed { Issue.record("answered \(answer)") }
    }

    @Test("A card cannot be accepted until it has been visible long enough", arguments: ["ca", "co⏎y"])
    func unarmed(keys: String) throws {
        var driver = try Self.driver()
        driver.isArmed = false
        #expect(driver.press(keys) == .tooEarly)
    }

    // MARK: In a terminal

    @Test("The person looks at a card and adds it")
    func adds() throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(PromptText(kind: "propose", proposed: Self.card))
        try fixture.see("“mail” offers you a contact.")
        #expect(fixture.terminal.screen.contains("It says: “to fill in addresses”"))
        try fixture.see("[c] Look at it", thenPress: "c")
        try fixture.see("[o] Merge into another contact…")
        for line in ["work         +1 555 0200", "e-mail       emmy@example.org", "note         from your mail"] {
            #expect(fixture.terminal.screen.contains(line))
        }
        try fixture.see("[a] Add as a new contact", thenPress: "a")
        #expect(try fixture.answer() == BrokerStandIn.Answer(cookie: "cookie-1", addProposed: true))
        #expect(try fixture.exit() == .exited(0))
        #expect(fixture.terminal.screen.contains("The contact that “mail” offered is in your address book."))
    }

    @Test("The person merges a card into the chosen contact")
    func merges() throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(PromptText(kind: "propose", proposed: Self.card))
        try fixture.see("[c] Look at it", thenPress: "c")
        try fixture.see("[o] Merge into another contact…", thenPress: "o")
        try fixture.see("› [ ] Ada Lovelace", thenPress: "gra")
        try fixture.see("› [ ] Grace Hopper", thenPress: "\r")
        try fixture.see("Merge into Grace Hopper?")
        try fixture.see("[y] Merge", thenPress: "y")
        #expect(try fixture.answer() == BrokerStandIn.Answer(cookie: "cookie-1", mergeInto: "r2"))
    }

    @Test("Escape declines at every stage", arguments: ["", "c", "co", "co\r"])
    func declines(before: String) throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(PromptText(kind: "propose", proposed: Self.card))
        let shown = ["[c] Look at it", "[o] Merge into", "› [ ] Ada Lovelace", "[y] Merge"]
        for (text, key) in zip(shown, before) { try fixture.see(text, thenPress: String(key)) }
        try fixture.see(shown[before.count], thenPress: "\u{1B}")
        #expect(try fixture.answer() == BrokerStandIn.Answer(cookie: "cookie-1"))
        #expect(try fixture.exit() == .exited(1))
    }
}
