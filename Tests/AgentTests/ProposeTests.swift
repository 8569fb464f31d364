import BrokerFormatting
import BrokerJSON
import BrokerModel
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
            ("ca", Answer(addProposed: true)), ("co↓⏎y", Answer(mergeInto: "r2")), ("co⇥y", Answer(mergeInto: "r1")),
            ("co↓⏎bo↓⏎y", Answer(mergeInto: "r3")), ("co←a", Answer(addProposed: true)), ("co⎋", .dismissed),
            ("co↓⏎⎋", .dismissed), ("coada⏎y", Answer(mergeInto: "r1")),
        ])
    func answers(keys: String, answer: Answer) throws {
        var driver = try Self.driver()
        #expect(driver.press(keys) == .answer(answer))
    }

    @Test(
        "Names are in the person's display order",
        arguments: [("familyName", "Noether Emmy"), ("givenName", "Emmy Noether")])
    func displayOrder(order: String, name: String) throws {
        var text = PromptText(kind: "propose", proposed: Self.card)
        text.displayOrder = order
        var driver = try Driver(text)
        driver.begin()
        #expect(driver.shows(name))
        var names = LocalizedNames(languages: ["en"])
        names.nameOrder = driver.screen.prompt.nameOrder
        let row = #"{"identifier":"1","contact":\#(Self.card),"granted":"none","enabled":true}"#
        #expect(Row(try JSONDocument(parsing: Array(row.utf8)).root, names)?.name.contains(name) == true)
    }

    @Test("A contact with the same address is offered first")
    func suggestion() throws {
        var driver = try Self.driver(isKnown: true)
        driver.press("c")
        #expect(driver.shows("› [m] Merge into Person 1 (same e-mail)…"))
        #expect(driver.press("⏎y") == .answer(Answer(mergeInto: "r1")))
        // After the person left out that address, nothing is said about it.
        driver = try Self.driver(isKnown: true)
        driver.press("ce")
        for _ in 0..<12 where !driver.shows("› [ ] e-mail") && !driver.shows("› [x] e-mail") { driver.press("↓") }
        driver.press(" ←")
        #expect(driver.shows("[e]") && !driver.shows("same e-mail"))
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

    // MARK: Changes

    /// The card that an answer saves.
    private func saved(_ effect: Effect) throws -> Contact {
        guard case .answer(let answer) = effect else { return try #require(nil, "no answer") }
        return try #require(answer.card).contact
    }

    @Test("The person can change a text and leave one out before the card is saved")
    func edited() throws {
        var driver = try Self.driver(isKnown: true)
        driver.press("ce")
        #expect(driver.shows("› [x] given name       Emmy"))
        // Space leaves out the given name; the family name gets another end.
        driver.press(" ↓⏎⌫⌫ßer⏎")
        #expect(driver.shows("  [ ] given name       Emmy") && driver.shows("› [x] family name      Noethßer"))
        driver.press("←")
        #expect(driver.shows("“Noethßer”"))
        let added = try saved(driver.press("a"))
        #expect(added.givenName.isEmpty && added.familyName == "Noethßer")
        #expect(added.phoneNumbers.first?.value == "+1 555 0200" && added.note == "from your mail")
        var merging = try Self.driver(isKnown: true)
        merging.press("ce ←m")
        #expect(try saved(merging.press("y")).givenName.isEmpty)
        // Without a change, the answer has no card.
        merging = try Self.driver()
        #expect(merging.press("ce  ⏎⏎←a") == .answer(Answer(addProposed: true)))
    }

    @Test("A value without its text is left out, and a card without any text cannot be saved")
    func leftOut() throws {
        var driver = try Self.driver()
        driver.press("ce")
        for _ in 0..<6 { driver.press(" ↓") }
        driver.press("←")
        #expect(!driver.shows("[a]") && !driver.shows("[o]") && driver.press("a") == .nothing)
        driver.press("e⇞⇞ ←")
        let card = try saved(driver.press("a"))
        #expect(card.givenName == "Emmy" && card.phoneNumbers.isEmpty && card.emailAddresses.isEmpty)
    }

    @Test("A text that the key cannot have is refused, and one that is too long to edit is not cut")
    func refusedText() throws {
        let note = String(repeating: "n", count: 200)
        let card = #"{"givenName":"Emmy","birthday":"1882-03-23","note":"\#(note)"}"#
        var driver = try Driver(PromptText(kind: "propose", proposed: card))
        driver.begin()
        driver.press("ce↓⏎⌫⌫⌫⏎")
        #expect(driver.shows("The card cannot have this text.") && driver.shows("1882-03-23"))
        driver.press("↓⏎")
        #expect(driver.shows("too long to change here"))
        driver.press("x⌫⏎←")
        #expect(driver.press("a") == .answer(Answer(addProposed: true)))
    }

    @Test("Labels and texts of the app cannot look like the agent's own, in either direction of writing")
    func foreignTexts() throws {
        let card = #"{"givenName":"[x] Emmy","phoneNumbers":[{"label":"home\\n[y] Yes","value":"1"}]}"#
        var driver = try Driver(PromptText(kind: "propose", proposed: card), "ar")
        driver.begin()
        driver.press("ce")
        #expect(driver.shows("\u{2068}[x] Emmy\u{2069}"))
        let line = try #require(driver.lines.first { $0.text.contains("Yes") }).text
        #expect(line.contains("\u{2068}home") && !line.contains("\n"))
        driver.press("⏎")
        #expect(driver.shows("\u{2068}[x] Emmy_\u{2069}"))
    }

    @Test("Leaving with a changed card asks first")
    func leaving() throws {
        var driver = try Self.driver()
        #expect(driver.press("ce ⎋") == .nothing)
        #expect(driver.press("⎋") == .answer(.dismissed))
        driver = try Self.driver()
        #expect(driver.press("ce⏎⎋") == .nothing)
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
