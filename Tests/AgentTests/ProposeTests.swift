import BrokerFormatting
import BrokerJSON
import PseudoTerminal
import Testing

@testable import contact_agent

@Suite("Prompts with a proposed card")
struct ProposeTests {
    static let size = ScreenSize(columns: 80, rows: 24)

    static let card = """
        {"givenName":"Emmy","familyName":"Noether","organizationName":"Bryn Mawr","note":"from your mail",\
        "phoneNumbers":[{"label":"_$!<Work>!$_","value":"+1 555 0200"}],"emailAddresses":[{"value":"emmy@example.org"}]}
        """

    static func dialogue(
        _ text: PromptText = PromptText(kind: "propose", proposed: card), _ names: LocalizedNames = .inEnglish
    ) throws -> ProposeDialogue {
        let prompt = try JSONDocument(parsing: Array(text.json.utf8)).root
        return ProposeDialogue(try #require(Prompt(prompt, names)), names)
    }

    static func press(
        _ keys: String, in dialogue: inout ProposeDialogue, isArmed: Bool = true, on size: ScreenSize = Self.size
    ) -> Effect {
        var last = Effect.nothing
        for key in keys {
            last = dialogue.press(key == "\r" ? .enter : .character(key), on: size, isArmed: isArmed)
            if case .search(_, let offset, let limit, _) = last {
                let rows = (offset + 1..<min(30, offset + limit) + 1).map {
                    Row(identifier: "r\($0)", name: "Person \($0)", isGranted: $0 == 1, isEnabled: true)
                }
                dialogue.found(SearchResult(rows: rows, total: 30, offset: offset))
            }
        }
        return last
    }

    @Test(
        "Each sequence of keys gives the expected answer",
        arguments: [
            ("\r", Answer.dismissed), ("d", .dismissed), ("N", Answer(neverAskAgain: true)), ("c\r", .dismissed),
            ("ca", Answer(addProposed: true)), ("cm\r2y", Answer(mergeInto: "r2")), ("cm\r1y", Answer(mergeInto: "r1")),
            ("cm\r2b3y", Answer(mergeInto: "r3")), ("cm\rba", Answer(addProposed: true)), ("cm\r\r", .dismissed),
            ("cm\rn1y", Answer(mergeInto: "r10")), ("cm\r2\r", .dismissed),
        ])
    func answers(keys: String, answer: Answer) throws {
        var dialogue = try Self.dialogue()
        #expect(Self.press(keys, in: &dialogue) == .answer(answer))
    }

    @Test("No other key saves the card", arguments: ["a", "y", "cy", "cm", "cma", "cm\ry", "cm\r2a", "cm\ra"])
    func nothing(keys: String) throws {
        var dialogue = try Self.dialogue()
        if case .answer(let answer) = Self.press(keys, in: &dialogue) { Issue.record("answered \(answer)") }
    }

    @Test("A card cannot be accepted until it has been visible long enough", arguments: ["ca", "cm\r2y"])
    func unarmed(keys: String) throws {
        var dialogue = try Self.dialogue()
        #expect(Self.press(keys, in: &dialogue, isArmed: false) == .tooEarly)
    }

    @Test(
        "Every screen fits into the smallest terminal", arguments: ["", "c", "cn", "cm", "cm\r", "cm\r2"],
        DialogueTests.languages)
    func fits(keys: String, language: String) throws {
        let names = LocalizedNames(languages: [language])
        let long = String(repeating: "long ", count: 60)
        let numbers = (1...20).map { #"{"value":"\#($0) \#(long)"}"# }.joined(separator: ",")
        for strength in ["unverified", "claimed", "sandboxed"] {
            var dialogue = try Self.dialogue(
                PromptText(
                    kind: "propose", displayName: "an app with a very long name, which it chose", strength: strength,
                    purpose: long, proposed: #"{"givenName":"\#(long)","phoneNumbers":[\#(numbers)]}"#), names)
            _ = Self.press(keys, in: &dialogue, on: .minimum)
            let lines = dialogue.lines(on: .minimum, isArmed: true)
            DialogueTests.expect(lines, fit: .minimum)
        }
    }

    // MARK: In a terminal

    @Test("The person looks at a card and adds it")
    func adds() throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(PromptText(kind: "propose", proposed: Self.card))
        try fixture.see("“mail” offers you a card.")
        #expect(fixture.terminal.screen.contains("It says: “to fill in addresses”"))
        try fixture.see("[c] Look at it", thenPress: "c")
        try fixture.see("“Emmy Noether”")
        for line in ["work         +1 555 0200", "e-mail       emmy@example.org", "note         from your mail"] {
            #expect(fixture.terminal.screen.contains(line))
        }
        try fixture.see("[a] Add as a new card", thenPress: "a")
        #expect(try fixture.answer() == BrokerStandIn.Answer(cookie: "cookie-1", addProposed: true))
        #expect(try fixture.exit() == .exited(0))
        #expect(fixture.terminal.screen.contains("The card that “mail” offered is in your address book."))
    }

    @Test("The person merges a card into the chosen contact")
    func merges() throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(PromptText(kind: "propose", proposed: Self.card))
        try fixture.see("[c] Look at it", thenPress: "c")
        try fixture.see("[m] Merge into…", thenPress: "m")
        try fixture.see("1 [ ] Ada Lovelace", thenPress: "gra\r")
        try fixture.see("[1–9] choose", thenPress: "1")
        try fixture.see("Merge into this contact?")
        #expect(fixture.terminal.screen.contains("Grace Hopper"))
        try fixture.see("[y] Merge", thenPress: "y")
        #expect(try fixture.answer() == BrokerStandIn.Answer(cookie: "cookie-1", mergeInto: "r2"))
    }

    @Test("Return declines at every stage", arguments: ["", "c", "cm\r"])
    func declines(before: String) throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(PromptText(kind: "propose", proposed: Self.card))
        let words = ["": "[c] Look at it", "c": "Merge into…", "cm\r": "[1–9] choose"]
        try fixture.see("[c] Look at it")
        if before != "" { fixture.terminal.send("c") }
        if before == "cm\r" {
            try fixture.see("[m] Merge into…", thenPress: "m")
            try fixture.see("1 [ ] Ada Lovelace", thenPress: "\r")
        }
        try fixture.see(words[before] ?? "", thenPress: "\r")
        #expect(try fixture.answer() == BrokerStandIn.Answer(cookie: "cookie-1"))
        #expect(try fixture.exit() == .exited(1))
    }
}
