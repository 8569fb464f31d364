import BrokerFormatting
import BrokerModel
import Glibc
import PseudoTerminal
import Testing

@testable import contact_agent

@Suite("Prompts on a real terminal")
struct PromptTests {
    @Test("An app gets exactly the contact that was chosen, shown and confirmed")
    func choosesOne() throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(PromptText())
        try fixture.see("“mail” asks to see your contacts.")
        #expect(fixture.terminal.screen.isAlternate)
        #expect(fixture.terminal.screen.contains("an unverified program: /usr/bin/mail"))
        #expect(fixture.terminal.screen.contains("(not checked: any program can take its place)"))
        #expect(fixture.terminal.screen.contains("process 4711 on pts/3"))
        #expect(fixture.terminal.screen.contains("It says: “to fill in addresses”"))
        try fixture.see("[c] Choose contacts…", thenPress: "c")
        try fixture.see("› [ ] Ada Lovelace", thenPress: "gra")
        try fixture.see("› [ ] Grace Hopper", thenPress: "\t")
        try fixture.see("1 marked: Grace Hopper", thenPress: "\r")
        try fixture.see("Share this contact with “mail”?")
        #expect(fixture.terminal.screen.contains("Grace Hopper  +1 555 0100"))
        #expect(fixture.terminal.screen.contains("Gets: the whole card except notes   [k] Change"))
        #expect(fixture.terminal.screen.contains("Lasts: this terminal session   [t] Change"))
        try fixture.see("[y] Share this contact", thenPress: "y")
        let answer = try fixture.answer()
        #expect(
            answer
                == BrokerStandIn.Answer(
                    cookie: "cookie-1", level: "limited", identifiers: ["r2"], lifetime: "session"))
        #expect(try fixture.exit() == .exited(0))
        #expect(!fixture.terminal.screen.isAlternate)
        #expect(fixture.terminal.screen.contains("You shared Grace Hopper with “mail”."))
    }

    @Test("Sharing all contacts is confirmed, and includes notes only if they are turned on")
    func sharesAll() throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(PromptText(keys: ["givenName", "note"]))
        try fixture.see("Asks for: names, notes")
        try fixture.see("[a] Share all 3 contacts…", thenPress: "a")
        try fixture.see("Let “mail” see all 3 contacts?")
        try fixture.see("It will see contacts that you add later.")
        try fixture.see("Gets: names   [k]", thenPress: "k")
        try fixture.see("› [x] names", thenPress: "\u{1B}[F")
        try fixture.see("› [ ] notes", thenPress: " ")
        try fixture.see("› [x] notes", thenPress: "\r")
        try fixture.see("Gets: names, notes")
        try fixture.see("notes: yes   [n] Change", thenPress: "t")
        try fixture.see("Lasts: until you revoke it")
        try fixture.see("[y] Share all", thenPress: "y")
        let answer = try fixture.answer()
        #expect(answer?.level == "full")
        #expect(answer?.lifetime == "untilRevoked")
        #expect(answer?.keys?.contains("note") == true)
        #expect(answer?.keys?.contains("extraProperties") == false)
        #expect(try fixture.exit() == .exited(0))
    }

    @Test("Groups are granted only if the app asked for them")
    func groups() throws {
        var driver = try Driver(PromptText(keys: ContactKeySet.all.subtracting(.named).union(.groups).grantNames))
        #expect(driver.shows("Asks for: the whole card, including groups"))
        driver.press("c⇥⏎k")
        #expect(driver.shows("[x] groups"))
        guard case .answer(let answer) = driver.press("⏎y") else {
            Issue.record("no answer")
            return
        }
        #expect(answer.level == .limited)
        #expect(answer.keys?.contains("groups") == true)
        #expect(answer.keys?.contains("givenName") == true)
        #expect(answer.keys?.contains("note") == false)
    }

    @Test("The agent does not offer what the policy forbids, and shows the limits that the policy puts on a grant")
    func keepsToPolicy() throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(
            PromptText(
                lifetimes: ["untilRevoked"], maximumLevel: "limited", maximumKeys: ["givenName", "phoneNumbers"],
                endsAt: "2099-02-03T04:05:06Z"))
        try fixture.see("Your administrator lets it have single contacts only.")
        #expect(!fixture.terminal.screen.contains("[a]"))
        #expect(fixture.terminal.screen.contains("Your administrator lets it read only: names, phone numbers"))
        // The first key, `a`, has no effect; the second has its usual one.
        try fixture.see("[c] Choose contacts…", thenPress: "ac")
        try fixture.see("› [ ] Ada Lovelace", thenPress: "\r")
        try fixture.see("Gets: names, phone numbers")
        #expect(fixture.terminal.screen.contains("Lasts: until you revoke it, at most until Feb 3, 2099"))
        try fixture.see("[y] Share this contact", thenPress: "y")
        #expect(try fixture.answer()?.level == "limited")
        #expect(try fixture.exit() == .exited(0))
    }

    @Test(
        "Escape refuses at every stage, after a question if contacts are marked",
        arguments: ["", "c", "a", "ak", "c\t"])
    func refuses(before: String) throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(PromptText())
        try fixture.see("[c] Choose contacts…")
        let shown: [Character: String] = ["c": "› [ ] Ada", "a": "[k] Change", "k": "› [x] names", "\t": "1 marked"]
        for step in before {
            fixture.terminal.send(String(step))
            try fixture.see(shown[step] ?? "")
        }
        fixture.terminal.send("\u{1B}")
        if before == "c\t" { try fixture.see("Leave without sharing?", thenPress: "\u{1B}") }
        #expect(try fixture.answer() == BrokerStandIn.Answer(cookie: "cookie-1", level: "denied"))
        #expect(try fixture.exit() == .exited(1))
    }

    @Test("A key that approves within half a second after its stage appeared shares nothing")
    func tooEarly() throws {
        for _ in 0..<20 { if try wasTooEarly() { return } }
        Issue.record("no key arrived within half a second")
    }

    /// Returns `false` if the key arrived more than half a second after the stage appeared, as on a busy machine. A key
    /// that arrives earlier must have no effect.
    private func wasTooEarly() throws -> Bool {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(PromptText())
        try fixture.see("[a] Share all")
        let start = ContinuousClock.now
        fixture.terminal.send("a")
        try fixture.see("Let “mail” see all 3 contacts?")
        try fixture.see("] Share all")
        let isMarked = fixture.terminal.screen.contains("[ ] Share all")
        fixture.terminal.send("y")
        try fixture.wait(for: "what came of it") {
            !fixture.broker.answers.isEmpty || fixture.terminal.screen.contains("Too soon")
        }
        guard isMarked, fixture.broker.answers.isEmpty else {
            #expect(ContinuousClock.now - start >= .milliseconds(500))
            return false
        }
        try fixture.see("[y] Share all", thenPress: "y")
        #expect(try fixture.answer()?.level == "full")
        return true
    }

    @Test("Keys that were typed before the prompt appeared do not answer it")
    func typedAhead() throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        // A stopped program cannot read, so the keys are in the terminal when the prompt arrives.
        fixture.terminal.signal(SIGSTOP)
        fixture.terminal.send("caycay\r\r\ryyy\u{1B}")
        fixture.ask(PromptText())
        fixture.terminal.signal(SIGCONT)
        try fixture.see("[a] Share all 3 contacts…", thenPress: "a")
        try fixture.see("[y] Share all")
        #expect(fixture.broker.answers.isEmpty)
    }

    @Test("Keys that are typed together answer one prompt only")
    func typedTogether() throws {
        let fixture = try AgentFixture()
        try fixture.registered()
        fixture.ask(PromptText())
        fixture.ask(PromptText(cookie: "cookie-2", displayName: "chat"))
        try fixture.see("1 more waiting")
        fixture.terminal.send("\u{1B}\u{1B}q\r")
        try fixture.see("“chat” asks to see your contacts.")
        // Once this key has an effect, the program has read all keys before it.
        try fixture.see("[c] Choose contacts…", thenPress: "c")
        try fixture.see("What may “chat” see?")
        #expect(fixture.broker.answers == [.init(cookie: "cookie-1", level: "denied")])
    }

    /// The time this many seconds from now, in the format that the broker sends.
    private static func moment(in seconds: Int) -> String {
        var moment = time(nil) + seconds
        var parts = tm()
        gmtime_r(&moment, &parts)
        func two(_ number: CInt) -> String { (number < 10 ? "0" : "") + String(number) }
        return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
            + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
    }

    @Test("A prompt shows the time left, and an expired prompt is closed")
    func runsOut() throws {
        let fixture = try AgentFixture()
        try fixture.registered()
        fixture.ask(PromptText(expires: Self.moment(in: 45)))
        try fixture.see("40 s left")
        fixture.ask(PromptText(cookie: "cookie-2", displayName: "chat", expires: "2020-01-01T00:00:00Z"))
        try fixture.see("1 more waiting")
        fixture.broker.say(#"{"withdrawn":"cookie-1"}"#)
        try fixture.see("The request of “chat” closed, because nobody answered.")
        try fixture.see("The request of “mail” was closed or answered elsewhere.")
        #expect(fixture.broker.answers.isEmpty)
    }

    @Test("A prompt warns before it closes, and a key keeps it open", arguments: [80, 60])
    func keptOpen(columns: Int) throws {
        let fixture = try AgentFixture(columns: columns, rows: columns == 60 ? 12 : 24)
        try fixture.registered()
        fixture.ask(PromptText(expires: Self.moment(in: 300)))
        try fixture.see("[c] Choose contacts…", thenPress: "x")
        fixture.broker.say(#"{"extended":"another","expires":"\#(Self.moment(in: 10))"}"#)
        // The agent made no call, because the prompt had much time left. It ignored the other prompt's end.
        fixture.broker.say(#"{"extended":"cookie-1","expires":"\#(Self.moment(in: 19))"}"#)
        try fixture.see("Closes soon. Press any key to keep it open.")
        #expect(fixture.broker.keptOpen.isEmpty)
        #expect(fixture.terminal.screen.contains("[c] Choose contacts…"))
        fixture.terminal.send("x")
        try fixture.wait(for: "the agent's call") { fixture.broker.keptOpen == ["cookie-1"] }
        fixture.broker.say(#"{"extended":"cookie-1","expires":"\#(Self.moment(in: 135))"}"#)
        try fixture.see("130 s left")
        #expect(!fixture.terminal.screen.contains("Closes soon"))
        #expect(fixture.broker.answers.isEmpty)
    }

    @Test("A prompt beyond the crowd's limit is shown as one line, which does not say that the app was refused")
    func crowd() throws {
        let fixture = try AgentFixture()
        try fixture.registered()
        fixture.ask(PromptText(quiet: true))
        try fixture.see("“mail” asks too, after many others. Press o to open.")
        fixture.terminal.send("o")
        try fixture.see("“mail” asks to see your contacts.")
        fixture.terminal.send("\u{1B}")
        #expect(try fixture.answer()?.level == "denied")
    }

    @Test("A withdrawn prompt is closed, and the next one is shown")
    func withdrawn() throws {
        let fixture = try AgentFixture()
        try fixture.registered()
        fixture.ask(PromptText())
        fixture.ask(PromptText(cookie: "cookie-2", displayName: "chat"))
        try fixture.see("1 more waiting")
        fixture.broker.say(#"{"withdrawn":"cookie-1"}"#)
        try fixture.see("“chat” asks to see your contacts.")
        fixture.broker.say(#"{"withdrawn":"cookie-2"}"#)
        try fixture.see("The request of “chat” was closed or answered elsewhere.")
        #expect(fixture.terminal.screen.contains("The request of “mail” was closed or answered elsewhere."))
        #expect(fixture.broker.answers.isEmpty)
    }

    @Test("An app's text cannot control the terminal, span lines or change the text's direction")
    func hostileWords() throws {
        let fixture = try AgentFixture(
            contacts: [
                .init(
                    identifier: "r1", givenName: "Eve\u{1B}[2J", familyName: "\u{202E}\r\nlive",
                    detail: "a\u{200B}b\u{7}")
            ])
        try fixture.registered()
        fixture.ask(
            PromptText(
                displayName: "ma\u{1B}[31mil” is verified", executable: "/tmp/\u{1B}]0;x\u{7}\n\n[c] fine",
                purpose: "good\r\n\u{1B}[H\u{202E}reason\u{2028}line\u{200B}\u{9B}2J"))
        try fixture.see("asks to see your contacts.")
        let words = fixture.terminal.screen.text
        #expect(words.contains("“ma[31mil is verified” asks"))
        #expect(words.contains("It says: “good [Hreason line2J”"))
        try fixture.see("[c] Choose contacts…", thenPress: "c")
        try fixture.see("Eve[2J live")
        let drawn = fixture.terminal.text()
        for hostile in ["\u{202E}", "\u{200B}", "\u{9B}", "\u{7}", "\u{2028}", "[31m"] {
            #expect(!drawn.contains(hostile) || hostile == "[31m" && !drawn.contains("\u{1B}[31m"))
        }
    }

    @Test(
        "An app whose name imitates the agent's keys or another alphabet gets a warning, and the imitation is not shown",
        arguments: [
            ("mail［k］", "mailU+FF3BkU+FF3D", "(name looks like a key)"),
            ("mail [y] Share", "mail U+005ByU+005D Share", "(name looks like a key)"),
            ("Маil", "U+041CU+0430il", "(name mixes alphabets)"),
        ])
    func lookalike(name: String, shown: String, warning: String) throws {
        for kind in ["access", "button", "manage", "pick", "propose", "keys"] {
            let prompt = PromptText(
                kind: kind, displayName: name, strength: "claimed", executable: "/tmp/" + name, keys: ["note"],
                query: "ada", proposed: ProposeTests.card)
            var driver = try Driver(prompt)
            // A button with several matches begins with their list.
            driver.total = 1
            driver.begin()
            let words = driver.lines.map(\.text).joined(separator: "\n")
            #expect(words.contains("“\(shown)”"), "\(kind): \(words)")
            #expect(words.contains(warning), "\(kind): \(words)")
            #expect(!words.contains(name), "\(kind): \(words)")
        }
        let grant = AppGrant(app: "x", displayName: name, strength: .claimed, status: "full")
        let lines = GrantsTable.lines([grant], 0..<1, current: 0, columns: 120, .inEnglish).map(\.text)
        #expect(lines[1].contains("“\(shown)”"))
    }

    @Test(
        "The prompt explains each identity strength, also in the smallest terminal",
        arguments: [
            ("labelled", "confined by the system as", "(no other program can take this name)"),
            ("sandboxed", "a sandboxed app:", "outside a sandbox can)"),
            ("service", "a system service:", "(your administrator runs it; no program can take its name)"),
            ("installed", "an installed program:", "(your other programs can imitate it)"),
            ("claimed", "calls itself", "(not checked: any program can take this name)"),
            ("unverified", "an unverified program:", "(not checked: any program can take its place)"),
            ("sworn", "an unverified program:", "(not checked: any program can take its place)"),
        ])
    func sureness(strength: String, words: String, worth: String) throws {
        let fixture = try AgentFixture(columns: 60, rows: 12)
        try fixture.registered()
        fixture.ask(PromptText(strength: strength, keys: ["givenName", "phoneNumbers"]))
        try fixture.see("[N] Don't allow, and never ask again")
        #expect(fixture.terminal.screen.contains(words))
        #expect(fixture.terminal.screen.contains(worth))
    }

    @Test("An interpreter's prompt names the process, not an app")
    func interpreter() throws {
        let fixture = try AgentFixture()
        try fixture.registered()
        fixture.ask(
            PromptText(
                displayName: "python3", executable: "/usr/bin/python3", lifetimes: ["process", "session"],
                interpreter: true))
        try fixture.see("an unverified interpreter: /usr/bin/python3")
        #expect(fixture.terminal.screen.contains("(this python3 process only: it can run any program)"))
        try fixture.see("[a] Share all 3 contacts…", thenPress: "a")
        try fixture.see("Lasts: this python3 process only   [t] Change", thenPress: "t")
        try fixture.see("Lasts: all python3 programs in this terminal session   [t] Change")
    }

    @Test("One key refuses and prevents further prompts")
    func neverAskAgain() throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(PromptText())
        try fixture.see("[N] Don't allow, and never ask again", thenPress: "N")
        #expect(
            try fixture.answer() == BrokerStandIn.Answer(cookie: "cookie-1", level: "denied", neverAskAgain: true))
    }

    @Test(
        "A prompt of an unknown kind is dismissed, and the agent says so",
        arguments: ["novel", ""])
    func unsupported(kind: String) throws {
        let fixture = try AgentFixture(["--once"])
        try fixture.registered()
        fixture.ask(PromptText(kind: kind))
        try fixture.see("This version of contact-agent cannot show the request.", thenPress: "\r")
        #expect(try fixture.answer() == BrokerStandIn.Answer(cookie: "cookie-1"))
        #expect(try fixture.exit() == .exited(1))
    }
}
