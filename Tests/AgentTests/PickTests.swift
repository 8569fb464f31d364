import BrokerModel
import PseudoTerminal
import Testing

@testable import contact_agent

@Suite("Prompts to pick contacts once")
struct PickTests {
    /// Thirty people: the third cannot be chosen, and choosing the second shows the card.
    static func driver(_ text: PromptText = PromptText(kind: "pick"), card: Card = Self.card()) throws -> Driver {
        var driver = try Driver(text)
        driver.row = {
            $1.isGranted = $0 == 1
            $1.isEnabled = $0 != 3
            $1.returns = $0 != 2
        }
        driver.card = card
        return driver
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

    static func picked(_ contact: String, _ key: String = "identifier", _ value: String? = nil) -> Answer.Pick {
        Answer.Pick(contact: contact, key: key, value: value)
    }

    @Test(
        "For one contact, each sequence of keys gives the expected answer",
        arguments: [
            ("⎋", Answer.dismissed),
            ("N", Answer(neverAskAgain: true)),
            ("c⎋", .dismissed),
            ("c⏎⎋⎋", .dismissed),
            ("c⏎y", Answer(picked: [picked("r1")])),
            ("⏎⏎⏎", Answer(picked: [picked("r1")])),
            ("c⇥⏎y", Answer(picked: [picked("r1")])),
            ("c⏎b↓↓↓⏎y", Answer(picked: [picked("r4")])),
            ("c⇟↓⏎y", Answer(picked: [picked("r20")])),
            ("c↓⏎↓⏎y", Answer(picked: [picked("r2", "phoneNumbers", "2")])),
            ("c↓⏎↓⏎←↑⏎y", Answer(picked: [picked("r2", "phoneNumbers", "1")])),
            ("c↓⏎↓⏎bb←↑⏎y", Answer(picked: [picked("r1")])),
            ("c↓⏎←↑⏎y", Answer(picked: [picked("r1")])),
            ("csag⏎y", Answer(picked: [picked("r1")])),
        ])
    func one(keys: String, answer: Answer) throws {
        var driver = try Self.driver()
        #expect(driver.press(keys) == .answer(answer))
    }

    @Test(
        "For several contacts, each sequence of keys gives the expected answer",
        arguments: [
            ("c⇥↓↓↓⇥⏎y", Answer(picked: [picked("r1"), picked("r4")])),
            ("c⇥⇟⇥⏎y", Answer(picked: [picked("r1"), picked("r19")])),
            (
                "c↓⏎ ↓ ←↓↓⇥⏎y",
                Answer(picked: [
                    picked("r4"), picked("r2", "phoneNumbers", "1"), picked("r2", "phoneNumbers", "2"),
                ])
            ),
            ("c↓⏎ ↓ ↑ ⏎y", Answer(picked: [picked("r2", "phoneNumbers", "2")])),
            ("c⇥↓↓↓⇥⏎⎋⎋", .dismissed),
        ])
    func several(keys: String, answer: Answer) throws {
        var driver = try Self.driver(PromptText(kind: "pick", multiple: true))
        #expect(driver.press(keys) == .answer(answer))
    }

    @Test(
        "With a limit, the person cannot pick more contacts and values than the app takes",
        arguments: [
            ("c⇥↓↓↓⇥↓⇥⏎y", Answer(picked: [picked("r1"), picked("r4")])),
            ("c⇥↓↓↓⇥↓⇥↑⇥↓⇥⏎y", Answer(picked: [picked("r1"), picked("r5")])),
            ("c⇥↓↓↓⇥↓⇥⏎b⇥⏎y", Answer(picked: [picked("r1"), picked("r4")])),
            ("c⇥↓⇥↓ ⏎y", Answer(picked: [picked("r1"), picked("r2", "phoneNumbers", "2")])),
            ("c⇥↓↓↓⇥↑↑⇥ ", nil),
            ("c↓⏎ ↓ ←↑⇥⏎y", Answer(picked: [picked("r2", "phoneNumbers", "1"), picked("r2", "phoneNumbers", "2")])),
            // Return does not add the highlighted contact to others.
            ("c⇥zoe⏎y", Answer(picked: [picked("r1")])),
        ])
    func limited(keys: String, answer: Answer?) throws {
        var driver = try Self.driver(PromptText(kind: "pick", multiple: true, limit: 2))
        driver.names = ["z": "zoe", "zo": "zoe", "zoe": "zoe"]
        let effect = driver.press(keys)
        if let answer {
            #expect(effect == .answer(answer))
        } else {
            #expect(effect == .nothing)
            #expect(driver.shows("At most 2 can be picked. Unmark one first."))
        }
    }

    @Test(
        "No other key hands anything over",
        arguments: ["y", "cy", "c⇥y", "c↓↓⏎y", "c↓↓⇥⏎y", "c↓⏎y", "c↓⏎↓↓⏎y", "c↓⇥y", "c⇥⇥y", "cyyy"], [true, false])
    func nothing(keys: String, multiple: Bool) throws {
        var driver = try Self.driver(PromptText(kind: "pick", multiple: multiple))
        driver.names = ["y": "none", "yyy": "none"]
        if case .answer(let answer) = driver.press(keys) { Issue.record("answered \(answer)") }
    }

    @Test("A pick cannot be confirmed until it has been visible long enough", arguments: ["c⏎y", "c↓⏎⏎y"])
    func unarmed(keys: String) throws {
        var driver = try Self.driver()
        driver.isArmed = false
        #expect(driver.press(keys) == .tooEarly)
    }

    @Test("Each card is a stage of its own")
    func stages() throws {
        var driver = try Self.driver()
        var stages: Set<String> = []
        for key in "c↓⏎⏎" {
            driver.press(String(key))
            stages.insert(driver.screen.stage)
        }
        #expect(stages.count == 3)
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
        .init(
            identifier: "r3", givenName: "Lin", familyName: "Lanying", detail: nil, problem: "lacksKey emailAddresses"),
    ]

    @Test("The person picks one contact, which may be one that the app sees already")
    func picksOne() throws {
        let fixture = try AgentFixture(["--once"], contacts: Self.people)
        try fixture.registered()
        fixture.ask(PromptText(kind: "pick", status: "limited", keys: ["givenName", "emailAddresses"]))
        try fixture.see("“mail” asks you for one contact, once.")
        #expect(fixture.terminal.screen.contains("It gets only what you pick: names, e-mail"))
        try fixture.see("[c] Pick from your contacts…", thenPress: "c")
        try fixture.see("› [ ] Ada Lovelace")
        #expect(fixture.terminal.screen.contains("missing: e-mail"))
        fixture.terminal.send("\r")
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
        try fixture.see("[c] Pick from your contacts…", thenPress: "c")
        try fixture.see("› [ ] Ada Lovelace", thenPress: "\u{1B}[B")
        try fixture.see("› [ ] Grace Hopper", thenPress: "\r")
        try fixture.see("› [ ] work         +1 555 0100")
        #expect(fixture.terminal.screen.contains("birthday     1906-12-09"))
        fixture.terminal.send("\u{1B}[B")
        try fixture.see("› [ ] phone        +1 555 0101", thenPress: "\r")
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
        try fixture.see("[c] Pick from your contacts…", thenPress: "c")
        try fixture.see("› [ ] Lin Lanying", thenPress: "\r")
        try fixture.see("Lin Lanying cannot be chosen: missing: e-mail")
        #expect(fixture.broker.answers.isEmpty)
        fixture.terminal.send("\u{1B}")
        #expect(try fixture.answer() == BrokerStandIn.Answer(cookie: "cookie-1"))
        #expect(try fixture.exit() == .exited(1))
    }
}
