import BrokerFormatting
import BrokerJSON
import BrokerModel
import PseudoTerminal
import Testing

@testable import contact_agent

@Suite("Prompts to pick contacts once")
struct PickTests {
    static let size = ScreenSize(columns: 80, rows: 24)

    static func dialogue(
        _ text: PromptText = PromptText(kind: "pick"), _ names: LocalizedNames = .inEnglish
    ) throws -> PickDialogue {
        PickDialogue(try #require(Prompt(JSONDocument(parsing: Array(text.json.utf8)).root)), names)
    }

    static func card(_ count: Int = 2) -> Card {
        var contact = Contact()
        contact.givenName = "Ada"
        contact.phoneNumbers = (1...count).map {
            LabeledString(identifier: $0, label: "_$!<Home>!$_", value: "+44 \($0)")
        }
        contact.birthday = "1815-12-10"
        return Card(contact, selectable: ["phoneNumbers"])
    }

    /// Thirty people: the third cannot be chosen, and choosing the second shows the card.
    static func press(
        _ keys: String, in dialogue: inout PickDialogue, isArmed: Bool = true, on size: ScreenSize = Self.size,
        card: Card = Self.card()
    ) -> Effect {
        var last = Effect.nothing
        for key in keys {
            last = dialogue.press(key == "\r" ? .enter : .character(key), on: size, isArmed: isArmed)
            switch last {
            case .search(_, let offset, let limit, _):
                let rows = (offset + 1..<min(30, offset + limit) + 1).map {
                    Row(
                        identifier: "r\($0)", name: "Person \($0)", detail: nil, isGranted: $0 == 1, isEnabled: $0 != 3,
                        reason: "has no phone number", returns: $0 != 2)
                }
                dialogue.found(SearchResult(rows: rows, total: 30, offset: offset))
            case .show: dialogue.shown(card)
            case .nothing, .tooEarly, .answer: break
            }
        }
        return last
    }

    static func picked(_ contact: String, _ key: String = "identifier", _ value: String? = nil) -> Answer.Pick {
        Answer.Pick(contact: contact, key: key, value: value)
    }

    @Test(
        "For one contact, each sequence of keys gives the expected answer",
        arguments: [
            ("\r", Answer.dismissed),
            ("d", .dismissed),
            ("N", Answer(neverAskAgain: true)),
            ("c\r\r", .dismissed),
            ("c\r1\r", .dismissed),
            ("c\r1y", Answer(picked: [picked("r1")])),
            ("c\r1b4y", Answer(picked: [picked("r4")])),
            ("c\rn1y", Answer(picked: [picked("r10")])),
            ("c\r22y", Answer(picked: [picked("r2", "phoneNumbers", "2")])),
            ("c\r22b1y", Answer(picked: [picked("r2", "phoneNumbers", "1")])),
            ("c\r22bb1y", Answer(picked: [picked("r1")])),
            ("c\r2b1y", Answer(picked: [picked("r1")])),
            ("c\r2\r", .dismissed),
        ])
    func one(keys: String, answer: Answer) throws {
        var dialogue = try Self.dialogue()
        #expect(Self.press(keys, in: &dialogue) == .answer(answer))
    }

    @Test(
        "For several contacts, each sequence of keys gives the expected answer",
        arguments: [
            ("c\r14cy", Answer(picked: [picked("r1"), picked("r4")])),
            ("c\r1n1cy", Answer(picked: [picked("r1"), picked("r10")])),
            (
                "c\r212b4cy",
                Answer(picked: [
                    picked("r4"), picked("r2", "phoneNumbers", "1"), picked("r2", "phoneNumbers", "2"),
                ])
            ),
            ("c\r2112cy", Answer(picked: [picked("r2", "phoneNumbers", "2")])),
            ("c\r14c\r", .dismissed),
        ])
    func several(keys: String, answer: Answer) throws {
        var dialogue = try Self.dialogue(PromptText(kind: "pick", multiple: true))
        #expect(Self.press(keys, in: &dialogue) == .answer(answer))
    }

    @Test(
        "No other key hands anything over",
        arguments: ["y", "cy", "c\ry", "c\rcy", "c\r3y", "c\r3cy", "c\r2y", "c\r23y", "c\r29y", "c1y", "c\r2cy"],
        [true, false])
    func nothing(keys: String, multiple: Bool) throws {
        var dialogue = try Self.dialogue(PromptText(kind: "pick", multiple: multiple))
        if case .answer(let answer) = Self.press(keys, in: &dialogue) { Issue.record("answered \(answer)") }
    }

    @Test("A pick cannot be confirmed until it has been visible long enough", arguments: ["c\r1y", "c\r21y"])
    func unarmed(keys: String) throws {
        var dialogue = try Self.dialogue()
        #expect(Self.press(keys, in: &dialogue, isArmed: false) == .tooEarly)
    }

    @Test("Each card is a stage of its own")
    func stages() throws {
        var dialogue = try Self.dialogue()
        var stages: Set<String> = []
        for key in "c\r21" {
            _ = Self.press(String(key), in: &dialogue)
            stages.insert(dialogue.stage)
        }
        #expect(stages.count == 3)
    }

    @Test(
        "Every screen fits into the smallest terminal",
        arguments: ["", "c", "c\r", "c\r3", "c\r1", "c\r2", "c\r2n", "c\r21", "c\r2123456c"], DialogueTests.languages)
    func fits(keys: String, language: String) throws {
        let names = LocalizedNames(languages: [language])
        for (strength, multiple) in [("unverified", true), ("claimed", false), ("sandboxed", true)] {
            let text = PromptText(
                kind: "pick", displayName: "an app with a very long name, which it chose", strength: strength,
                multiple: multiple)
            var dialogue = try Self.dialogue(text, names)
            _ = Self.press(keys, in: &dialogue, on: .minimum, card: Self.card(30))
            let lines = dialogue.lines(on: .minimum, isArmed: true)
            DialogueTests.expect(lines, fit: .minimum)
        }
    }

    @Test("A card's text cannot control the terminal")
    func hostileCard() {
        var contact = Contact()
        contact.givenName = "A\u{1B}[2J\u{202E}da"
        contact.note = "first\nsecond\u{9B}1m"
        contact.phoneNumbers = [LabeledString(identifier: 1, label: "\u{7}home\r", value: "1\u{0}2")]
        let card = Card(contact)
        for text in [card.name] + card.lines.flatMap({ [$0.label, $0.text] }) {
            #expect(text == Columns.harmless(text))
        }
    }

    // MARK: In a terminal

    static let people: [BrokerStandIn.Contact] = [
        .init(identifier: "r1", givenName: "Ada", familyName: "Lovelace", detail: "ada@example.org", isGranted: true),
        .init(
            identifier: "r2", givenName: "Grace", familyName: "Hopper", detail: "+1 555 0100", returns: false,
            card: """
                {"identifier":"r2","givenName":"Grace","familyName":"Hopper","phoneNumbers":[\
                {"identifier":"1","label":"_$!<Work>!$_","value":"+1 555 0100"},{"identifier":"2","value":"+1 555 0101"}],\
                "birthday":"1906-12-09"}
                """),
        .init(identifier: "r3", givenName: "Lin", familyName: "Lanying", detail: nil, reason: "has no e-mail address"),
    ]

    @Test("The person picks one contact, which may be one that the app sees already")
    func picksOne() throws {
        let fixture = try AgentFixture(["--once"], contacts: Self.people)
        try fixture.registered()
        fixture.ask(PromptText(kind: "pick", status: "limited", keys: ["givenName", "emailAddresses"]))
        try fixture.see("“mail” asks you for a contact, once.")
        #expect(fixture.terminal.screen.contains("It gets only what you pick: names, e-mail."))
        try fixture.see("[c] Continue", thenPress: "c")
        try fixture.see("1 [ ] Ada Lovelace")
        #expect(fixture.terminal.screen.contains("has no e-mail address"))
        try fixture.see("Return: pick from the list", thenPress: "\r")
        try fixture.see("[1–9] pick", thenPress: "1")
        try fixture.see("Give this to “mail”, once?")
        #expect(fixture.terminal.screen.contains("Ada Lovelace  ada@example.org"))
        try fixture.see("[y] Give it", thenPress: "y")
        #expect(
            try fixture.answer() == BrokerStandIn.Answer(cookie: "cookie-1", picked: ["r1/identifier"]))
        #expect(try fixture.exit() == .exited(0))
        #expect(fixture.terminal.screen.contains("You gave “mail” what you picked, once."))
    }

    @Test("The person picks one value of a card")
    func picksValue() throws {
        let fixture = try AgentFixture(["--once"], contacts: Self.people)
        try fixture.registered()
        fixture.ask(PromptText(kind: "pick"))
        try fixture.see("[c] Continue", thenPress: "c")
        try fixture.see("Return: pick from the list", thenPress: "\r")
        try fixture.see("[1–9] pick", thenPress: "2")
        try fixture.see("1 [ ] work         +1 555 0100")
        #expect(fixture.terminal.screen.contains("birthday     1906-12-09"))
        try fixture.see("2 [ ] phone        +1 555 0101", thenPress: "2")
        try fixture.see("Grace Hopper  phone: +1 555 0101")
        #expect(fixture.terminal.screen.contains("with the name, and nothing else"))
        try fixture.see("[y] Give it", thenPress: "y")
        #expect(
            try fixture.answer() == BrokerStandIn.Answer(cookie: "cookie-1", picked: ["r2/phoneNumbers/2"]))
    }

    @Test("If no row can be chosen, the picker is still shown and waits")
    func nobodyEnabled() throws {
        let fixture = try AgentFixture(["--once"], contacts: [Self.people[2]])
        try fixture.registered()
        fixture.ask(PromptText(kind: "pick"))
        try fixture.see("[c] Continue", thenPress: "c")
        try fixture.see("Return: pick from the list", thenPress: "\r")
        try fixture.see("[1–9] pick", thenPress: "1")
        try fixture.see("Lin Lanying cannot be chosen: has no e-mail address")
        #expect(fixture.broker.answers.isEmpty)
        fixture.terminal.send("\r")
        #expect(try fixture.answer() == BrokerStandIn.Answer(cookie: "cookie-1"))
        #expect(try fixture.exit() == .exited(1))
    }
}
