import BrokerFormatting
import BrokerJSON
import PseudoTerminal
import Testing

@testable import contact_agent

@Suite("Prompts to manage an app's granted set")
struct ManageTests {
    static let size = ScreenSize(columns: 80, rows: 24)

    /// A page of thirty people, of whom the app sees the first twelve.
    static func page(_ effect: Effect) -> SearchResult? {
        guard case .search(_, let offset, let limit, let sharedOnly) = effect else { return nil }
        let total = sharedOnly ? 12 : 30
        let rows = (offset + 1..<min(total, offset + limit) + 1).map {
            Row(
                identifier: "r\($0)", name: "Person \($0)", detail: nil, isGranted: $0 <= 12, isEnabled: true,
                reason: nil)
        }
        return SearchResult(rows: rows, total: total, offset: offset)
    }

    static func dialogue(
        status: String = "limited", granted: Int = 12, isOwn: Bool = false, on size: ScreenSize = Self.size
    ) throws -> ManageDialogue {
        let text = PromptText(kind: "manage", status: status, totalContacts: 30, grantedContacts: granted)
        var prompt = try #require(Prompt(JSONDocument(parsing: Array(text.json.utf8)).root))
        prompt.isOwn = isOwn
        var dialogue = ManageDialogue(prompt)
        if let page = page(dialogue.begin(on: size)) { dialogue.found(page) }
        return dialogue
    }

    static func press(
        _ keys: String, in dialogue: inout ManageDialogue, isArmed: Bool = true, on size: ScreenSize = Self.size
    ) -> Effect {
        var last = Effect.nothing
        for key in keys {
            last = dialogue.press(key == "\r" ? .enter : .character(key), on: size, isArmed: isArmed)
            if let page = page(last) { dialogue.found(page) }
        }
        return last
    }

    @Test(
        "Each sequence of keys gives the expected answer",
        arguments: [
            ("\r", Answer.dismissed),
            ("d", .dismissed),
            ("N", Answer(neverAskAgain: true)),
            ("c\r", .dismissed),
            ("c1cy", Answer(level: .limited, identifiers: [], removed: ["r1"])),
            ("c1n2cy", Answer(level: .limited, identifiers: [], removed: ["r1", "r11"])),
            ("csnn2cy", Answer(level: .limited, identifiers: ["r20"])),
            ("c2snn2s1cy", Answer(level: .limited, identifiers: ["r20"], removed: ["r2", "r1"])),
            ("c12c\r", .dismissed),
            ("c1cb\r", .dismissed),
            ("cxy", Answer(level: .denied)),
            ("cx\r\r", .dismissed),
            ("c/a\r1cy", Answer(level: .limited, identifiers: [], removed: ["r1"])),
        ])
    func answers(keys: String, answer: Answer) throws {
        var dialogue = try Self.dialogue()
        #expect(Self.press(keys, in: &dialogue) == .answer(answer))
    }

    @Test("No other key changes the grant", arguments: ["y", "cy", "c1y", "c1", "c11cy", "cx", "cxx", "c0cy"])
    func changesNothing(keys: String) throws {
        var dialogue = try Self.dialogue()
        if case .answer(let answer) = Self.press(keys, in: &dialogue) { Issue.record("answered \(answer)") }
    }

    @Test("A change cannot be confirmed until it has been visible long enough")
    func unarmed() throws {
        var dialogue = try Self.dialogue()
        #expect(Self.press("c1cy", in: &dialogue, isArmed: false) == .tooEarly)
    }

    @Test(
        "For an app with full access or none, the person makes a new selection",
        arguments: [("full", "13cy", ["r1", "r3"]), ("denied", "3cy", ["r3"])])
    func anew(status: String, keys: String, identifiers: [String]) throws {
        var dialogue = try Self.dialogue(status: status, granted: 0, isOwn: true)
        #expect(
            Self.press(keys, in: &dialogue) == .answer(Answer(level: .limited, identifiers: identifiers)))
    }

    @Test(
        "Every screen fits into the smallest terminal",
        arguments: ["", "c", "c/a", "c/a\r", "c1234", "c123456c", "cx"], DialogueTests.languages)
    func fits(keys: String, language: String) throws {
        let names = LocalizedNames(languages: [language])
        for (strength, status) in [("unverified", "limited"), ("claimed", "full"), ("sandboxed", "denied")] {
            let text = PromptText(
                kind: "manage", displayName: "an app with a very long name, which it chose", strength: strength,
                status: status, totalContacts: 100_000, grantedContacts: 12_345)
            var dialogue = ManageDialogue(
                try #require(Prompt(JSONDocument(parsing: Array(text.json.utf8)).root)), names)
            _ = Self.press(keys, in: &dialogue, on: .minimum)
            let lines = dialogue.lines(on: .minimum, isArmed: true)
            DialogueTests.expect(lines, fit: .minimum)
        }
    }

    // MARK: - In a terminal

    static let people: [BrokerStandIn.Contact] = [
        .init(identifier: "r1", givenName: "Ada", familyName: "Lovelace", detail: "ada@example.org", isGranted: true),
        .init(identifier: "r2", givenName: "Grace", familyName: "Hopper", detail: "+1 555 0100"),
        .init(identifier: "r3", givenName: "Lin", familyName: "Lanying", detail: nil),
    ]

    @Test("One answer adds a contact and removes another")
    func addsAndRemoves() throws {
        let fixture = try AgentFixture(["--once"], contacts: Self.people)
        try fixture.registered()
        fixture.ask(PromptText(kind: "manage", status: "limited", grantedContacts: 1))
        try fixture.see("Look through what “mail” may see?")
        #expect(fixture.terminal.screen.contains("It asks you to. It sees 1 contact of 3."))
        try fixture.see("[c] Continue", thenPress: "c")
        try fixture.see("1 [x] Ada Lovelace", thenPress: "1")
        #expect(!fixture.terminal.screen.contains("Grace"))
        try fixture.see("1 [−] Ada Lovelace", thenPress: "s")
        try fixture.see("2 [ ] Grace Hopper", thenPress: "2")
        try fixture.see("2 [+] Grace Hopper", thenPress: "c")
        try fixture.see("“mail” sees 1 more, 1 no longer:")
        #expect(fixture.terminal.screen.contains("+ Grace Hopper"))
        #expect(fixture.terminal.screen.contains("− Ada Lovelace"))
        try fixture.see("[y] Yes, change that", thenPress: "y")
        #expect(
            try fixture.answer()
                == BrokerStandIn.Answer(cookie: "cookie-1", level: "limited", identifiers: ["r2"], removed: ["r1"]))
        #expect(try fixture.exit() == .exited(0))
        #expect(fixture.terminal.screen.contains("“mail” sees 1 more, 1 no longer."))
    }

    @Test("Return, Escape and d change nothing", arguments: ["\r", "\u{1B}", "d"])
    func leaves(key: String) throws {
        let fixture = try AgentFixture(["--once"], contacts: Self.people)
        try fixture.registered()
        fixture.ask(PromptText(kind: "manage", status: "limited", grantedContacts: 1))
        try fixture.see("[c] Continue", thenPress: key)
        #expect(try fixture.answer() == BrokerStandIn.Answer(cookie: "cookie-1"))
        #expect(try fixture.exit() == .exited(1))
    }

    @Test("A number in the list of grants opens a grant, and the person can revoke all of it")
    func opens() throws {
        let fixture = try AgentFixture(contacts: Self.people)
        fixture.broker.grants = """
            [{"app":"x","strength":"claimed","displayName":"chat","status":"denied","contacts":0,"uses":0},\
            {"app":"/usr/bin/mail h","strength":"unverified","displayName":"mail","status":"limited","contacts":1,\
            "uses":7,"session":"terminal session of process 7"}]
            """
        fixture.broker.managed = PromptText(cookie: "own", kind: "manage", status: "limited", grantedContacts: 1)
        try fixture.registered()
        try fixture.see("[l] what you shared", thenPress: "l")
        try fixture.see("[1–2] look through what one may see", thenPress: "2")
        try fixture.see("1 [x] Ada Lovelace")
        #expect(fixture.broker.opened == ["/usr/bin/mail h", "unverified", "terminal session of process 7"])
        try fixture.see("[x] Take all back", thenPress: "x")
        try fixture.see("Take all back from “mail”?")
        try fixture.see("[y] Take all back", thenPress: "y")
        #expect(try fixture.answer() == BrokerStandIn.Answer(cookie: "own", level: "denied"))
        try fixture.see("“mail” sees nothing any more.")
    }

    @Test("A grant that has ended since the list was shown cannot be opened")
    func ended() throws {
        let fixture = try AgentFixture()
        fixture.broker.grants =
            #"[{"app":"x","strength":"claimed","displayName":"chat","status":"limited","contacts":1,"uses":0}]"#
        try fixture.registered()
        try fixture.see("[l] what you shared", thenPress: "l")
        try fixture.see("[1–1] look through", thenPress: "1")
        try fixture.see("“chat” has nothing any more.")
        #expect(!fixture.terminal.screen.isAlternate)
    }
}
