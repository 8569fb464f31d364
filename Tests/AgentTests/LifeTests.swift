import Glibc
import PseudoTerminal
import Testing

@Suite("The agent's start, waiting and end")
struct LifeTests {
    /// Prints the terminal's settings and the agent's exit status after the agent has ended.
    private static let report =
        "s=$?; echo left $(stty -a | tr ' ;' '\\n\\n' | grep -xE -e '-?(icanon|echo|ixon|isig)'); echo status=$s"

    @Test("Whatever signal ends the agent, the terminal is restored", arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func restores(signal: CInt) throws {
        let fixture = try AgentFixture(script: "\"$AGENT\" & p=$!; echo pid=$p.; wait $p; \(Self.report)")
        try fixture.see("pid=")
        let line = fixture.terminal.screen.lines.first { $0.hasPrefix("pid=") } ?? ""
        let pid = try #require(pid_t(line.dropFirst(4).prefix { $0.isNumber }))
        try fixture.registered()
        fixture.ask(PromptText())
        try fixture.see("[c] Choose contacts…")
        #expect(!fixture.terminal.isInLineMode)
        kill(pid, signal)
        try fixture.see("status=\(128 + signal)")
        #expect(!fixture.terminal.screen.isAlternate)
        #expect(fixture.terminal.screen.isCursorVisible)
        let left = fixture.terminal.screen.lines.first { $0.hasPrefix("left ") }
        #expect(left?.split(separator: " ").dropFirst().sorted() == ["echo", "icanon", "isig", "ixon"])
    }

    @Test("Ctrl-C ends the agent without an answer")
    func interrupt() throws {
        let fixture = try AgentFixture()
        try fixture.registered()
        fixture.ask(PromptText())
        try fixture.see("[c] Choose contacts…", thenPress: "\u{3}")
        #expect(try fixture.exit() == .signalled(SIGINT))
        fixture.broker.serve()
        #expect(fixture.broker.answers.isEmpty)
        #expect(!fixture.broker.isServing)
    }

    @Test("It gives the terminal back when it is stopped, and draws its prompt again when it continues")
    func suspension() throws {
        let fixture = try AgentFixture(
            script: "set -m; \"$AGENT\"; stty -a | grep -o ' icanon'; echo stopped; read line; fg")
        try fixture.registered()
        fixture.ask(PromptText())
        try fixture.see("[a] Share all 3 contacts…", thenPress: "a")
        // Stop before the stage can be answered, so that its delay must start again.
        try fixture.see("Let “mail” see all 3 contacts?", thenPress: "\u{1A}")
        try fixture.see("stopped")
        #expect(fixture.terminal.screen.contains(" icanon"))
        fixture.terminal.send("\r")
        try fixture.wait(for: "the prompt again") { fixture.terminal.screen.isAlternate }
        try fixture.see("[y] Share all", thenPress: "y")
        #expect(try fixture.answer()?.level == "full")
    }

    @Test("q ends the agent while no prompt is shown")
    func quits() throws {
        let fixture = try AgentFixture()
        try fixture.registered()
        try fixture.see("[q] Quit", thenPress: "q")
        #expect(try fixture.exit() == .exited(0))
    }

    @Test("It writes to the terminal only, not to its standard output")
    func standardOutput() throws {
        let fixture = try AgentFixture(
            script: "o=$CONTACTBROKER_RUNTIME_DIR/out; \"$AGENT\" >$o; echo size=$(stat -c %s $o).; rm $o")
        try fixture.registered()
        fixture.ask(PromptText())
        try fixture.see("[c] Choose contacts…", thenPress: "\u{1B}")
        _ = try fixture.answer()
        try fixture.see("[q] Quit", thenPress: "q")
        try fixture.see("size=0.")
    }

    @Test("The agent works for an ordinary user")
    func ordinaryUser() throws {
        // If the tests run as root, the program runs as another user, from a folder that everybody can reach.
        let fixture = try AgentFixture(
            script: """
                r=$CONTACTBROKER_RUNTIME_DIR; chmod 711 $r $r/agent; chmod 666 $r/agent/*
                cp "$AGENT" $r/contact-agent
                [ $(id -u) != 0 ] || set -- setpriv --reuid=65534 --regid=65534 --clear-groups
                "$@" $r/contact-agent; s=$?; echo status=$s
                """)
        try fixture.registered()
        fixture.ask(PromptText())
        try fixture.see("[a] Share all 3 contacts…", thenPress: "a")
        try fixture.see("[y] Share all", thenPress: "y")
        try fixture.see("You shared all contacts with “mail”.", thenPress: "q")
        try fixture.see("status=0")
        #expect(fixture.broker.answers.count == 1)
    }

    @Test("Without a terminal it does not start, whatever its standard input contains")
    func noTerminal() throws {
        let fixture = try AgentFixture(script: "echo yyyy | setsid -w \"$AGENT\"; echo status=$?")
        try fixture.see("contact-agent: could not open /dev/tty")
        try fixture.see("status=2")
        #expect(fixture.terminal.screen.contains("Start it in a terminal window"))
    }

    @Test("At full screen it does not start on a terminal on which it cannot draw", arguments: ["dumb", ""])
    func dumbTerminal(type: String) throws {
        let fixture = try AgentFixture(environment: ["TERM": type])
        #expect(try fixture.exit() == .exited(2))
        #expect(fixture.terminal.screen.contains("contact-agent: could not draw on this terminal"))
    }

    @Test("In a terminal that is too small, nothing is shown or answered until it grows")
    func tooSmall() throws {
        let fixture = try AgentFixture(["--once"], columns: 59, rows: 12)
        try fixture.registered()
        fixture.ask(PromptText())
        try fixture.see("Make it at least 60×12.", thenPress: "cay\r\u{1B}")
        fixture.terminal.resize(columns: 60, rows: 12)
        try fixture.see("[Esc] Not now")
        #expect(fixture.broker.answers.isEmpty)
        fixture.terminal.resize(columns: 60, rows: 11)
        try fixture.see("Make it at least 60×12.", thenPress: "\u{1B}\r")
        fixture.terminal.resize(columns: 80, rows: 24)
        try fixture.see("[c] Choose contacts…", thenPress: "\u{1B}")
        #expect(try fixture.answer()?.level == "denied")
        #expect(fixture.broker.answers.count == 1)
    }

    @Test("It waits without using the processor, also behind a prompt and in a terminal that is too small")
    func idle() throws {
        let fixture = try AgentFixture()
        try fixture.registered()
        fixture.ask(PromptText())
        try fixture.see("[c] Choose contacts…")
        // This changes the main screen, which is not shown now.
        fixture.broker.say(#"{"others":1,"joined":"pts/3"}"#)
        try expectIdle(fixture)
        fixture.terminal.resize(columns: 59, rows: 12)
        try fixture.see("Make it at least 60×12.")
        // The screen is drawn once a second, so an older time of drawing shows only after that.
        for _ in 0..<3 { try expectIdle(fixture) }
    }

    /// Expects that the agent uses less than a twentieth of a processor for as long as a person reads a screen.
    private func expectIdle(_ fixture: AgentFixture) throws {
        func used() throws -> Duration {
            var clock = clockid_t()
            try #require(clock_getcpuclockid(fixture.terminal.pid, &clock) == 0)
            var time = timespec()
            clock_gettime(clock, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
        let (before, begun) = (try used(), ContinuousClock.now)
        try fixture.waitForQuiet()
        #expect(try used() - before < (ContinuousClock.now - begun) / 20)
    }

    @Test("A prompt with long texts fits into the smallest terminal")
    func smallestTerminal() throws {
        let long = String(repeating: "long words ", count: 40)
        let fixture = try AgentFixture(columns: 60, rows: 12)
        try fixture.registered()
        fixture.ask(
            PromptText(
                displayName: long, executable: "/opt/" + String(repeating: "deep/", count: 40) + "mail", purpose: long,
                keys: ["givenName", "phoneNumbers", "note", "groups"]))
        try fixture.see("[N] Don't allow, and never ask again")
        #expect(fixture.terminal.screen.contains("deep/mail"))
        try fixture.see("[c] Choose contacts…", thenPress: "c")
        try fixture.see("  [ ] Lin Lanying", thenPress: "\t\u{1B}[B\t\u{1B}[B\t")
        try fixture.see("3 marked:", thenPress: "\r")
        try fixture.see("[y] Share these 3 contacts")
        #expect(fixture.terminal.screen.contains("Lasts: this terminal session   [t] Change"))
        #expect(fixture.terminal.screen.contains("[Esc] Don't allow"))
    }

    @Test("When the broker goes away, the agent waits and connects again")
    func brokerGone() throws {
        let fixture = try AgentFixture()
        try fixture.registered()
        fixture.ask(PromptText())
        try fixture.see("[c] Choose contacts…")
        fixture.broker.close()
        try fixture.see("Cannot reach the broker:")
        fixture.broker.open()
        try fixture.registered()
        try fixture.see("Connected to the broker again.")
        fixture.terminal.send("q")
        #expect(try fixture.exit() == .exited(0))
    }

    @Test("Without a broker the agent says so, and q ends it")
    func noBroker() throws {
        let broker = BrokerStandIn()
        broker.close()
        let fixture = try AgentFixture(broker: broker)
        try fixture.see("Cannot reach the broker")
        try fixture.see("[q] Quit", thenPress: "q")
        #expect(try fixture.exit() == .exited(0))
    }

    @Test("An agent that the broker refuses ends with the reason")
    func notAnAgent() throws {
        let broker = BrokerStandIn()
        broker.serveRefusal = ("io.contactbroker.Agent.NotAnAgent", #"{"reason":"you are sandboxed"}"#)
        let fixture = try AgentFixture(broker: broker)
        #expect(try fixture.exitWhileServing() == .exited(2))
        #expect(fixture.terminal.screen.text.replacing("\n", with: "").contains("for you (you are sandboxed)"))
    }

    @Test("Text that another program writes over a prompt is overwritten")
    func overwritten() throws {
        let fixture = try AgentFixture()
        try fixture.registered()
        fixture.ask(PromptText())
        try fixture.see("[a] Share all 3 contacts…", thenPress: "a")
        // Once the prompt can be approved, the agent has no other reason to draw again.
        try fixture.see("[y] Share all")
        fixture.terminal.scribble("\u{1B}[2;1HMay “mail” be nice?\u{1B}[K\u{1B}[20;1H[a] Press a")
        try fixture.see("[a] Press a")
        try fixture.wait(for: "the true prompt") {
            fixture.terminal.screen.contains("Let “mail” see all 3 contacts?")
                && !fixture.terminal.screen.contains("Press a")
        }
    }

    @Test("It reports that another agent has joined, and where")
    func others() throws {
        let fixture = try AgentFixture()
        try fixture.registered()
        fixture.broker.say(#"{"others":1,"joined":"pts/3\u001b[2J"}"#)
        try fixture.see("Another contact-agent started at pts/3[2J. It can")
        fixture.broker.say(#"{"others":2,"joined":"pts/4"}"#)
        try fixture.see("started at pts/4. 2 others can")
    }

    @Test("If the broker refuses an answer, the agent says so")
    func refusedAnswer() throws {
        let broker = BrokerStandIn()
        broker.refusal = ("io.contactbroker.Agent.InvalidAnswer", #"{"reason":"no such row"}"#)
        let fixture = try AgentFixture(["--once"], broker: broker)
        try fixture.registered()
        fixture.ask(PromptText())
        try fixture.see("[a] Share all 3 contacts…", thenPress: "a")
        try fixture.see("[y] Share all", thenPress: "y")
        #expect(try fixture.exitWhileServing() == .exited(1))
        #expect(fixture.terminal.screen.contains("The broker refused this:"))
    }

    @Test("After a failed authentication the person can choose again")
    func authenticationFailed() throws {
        let broker = BrokerStandIn()
        broker.refusal = ("io.contactbroker.Agent.AuthenticationFailed", "{}")
        let fixture = try AgentFixture(["--once"], broker: broker)
        try fixture.registered()
        fixture.ask(PromptText())
        try fixture.see("[a] Share all 3 contacts…", thenPress: "a")
        try fixture.see("[y] Share all", thenPress: "y")
        try fixture.see("The password was wrong, or nobody typed it. Nothing was shared.")
        // If nobody could be asked, the whole reason is shown.
        broker.refusal = (
            "io.contactbroker.Agent.AuthenticationFailed",
            #"{"reason":"polkit does not answer; an administrator can restart it: systemctl restart polkit.service"}"#
        )
        try fixture.see("[y] Share all", thenPress: "y")
        try fixture.see("The broker refused this: polkit does not answer;")
        try fixture.see("systemctl restart polkit.service")
        broker.refusal = nil
        fixture.terminal.send("\u{1B}")
        #expect(try fixture.answer()?.level == "denied")
    }

    @Test(
        "A NO_COLOR that is not empty turns colours off, and keeps the other styles", arguments: [("", 3), ("1", nil)])
    func noColor(value: String, colour: Int?) throws {
        let fixture = try AgentFixture(environment: ["NO_COLOR": value])
        try fixture.registered()
        fixture.ask(PromptText())
        try fixture.see("(not checked: any program can take its place)")
        let style = fixture.terminal.screen.style(of: "(not checked:")
        #expect(style?.colour == colour)
        #expect(style?.isBold == true)
        #expect(fixture.terminal.screen.style(of: "[c] Choose")?.isReverse == true)
        let drawn = fixture.terminal.text()
        #expect(drawn.contains("\u{1B}[33m") == (colour != nil))
    }

    @Test("The main screen shows one app per line")
    func listsGrants() throws {
        let broker = BrokerStandIn()
        broker.grants = """
            [{"app":"/usr/bin/mail","strength":"unverified","displayName":"mail","status":"limited","contacts":2,\
            "lastUsedAt":"2026-03-01T10:00:00Z","uses":7,"session":"1"},\
            {"app":"x","strength":"claimed","displayName":"chat","status":"denied","contacts":0,"uses":0}]
            """
        let fixture = try AgentFixture(broker: broker)
        try fixture.registered()
        try fixture.see("“chat”")
        let lines = fixture.terminal.screen.lines
        #expect(
            lines.contains { $0.hasPrefix("  “mail”") && $0.contains("limited (session)         2        Mar 1, 2026") }
        )
        #expect(lines.contains { $0.hasPrefix("› “chat”") && $0.contains("claimed") && $0.contains("denied") })
    }

    @Test(
        "The agent prints help and version, and refuses an unknown argument",
        arguments: [
            (["--help"], "Usage: contact-agent", CInt(0)), (["--version"], "contact-agent ", 0),
            (["--yes"], "contact-agent: unknown argument --yes", 2),
        ])
    func commandLine(arguments: [String], words: String, status: CInt) throws {
        let fixture = try AgentFixture(arguments)
        #expect(try fixture.exit() == .exited(status))
        #expect(fixture.terminal.screen.contains(words))
    }
}

@Suite("The notify-only agent")
struct NotifierTests {
    @Test("It reports each increase in the number of open prompts, and no text from a prompt")
    func says() throws {
        // In a session of its own, the notify-only agent does not end with the terminal.
        let start = "echo notifier=$$.; exec \"$AGENT\" --notify </dev/null"
        let fixture = try AgentFixture(script: "setsid -w sh -c '\(start)'; echo status=$?")
        try fixture.registered()
        let notifier = try #require(fixture.number(after: "notifier="))
        defer { kill(notifier, SIGKILL) }
        #expect(fixture.broker.isNotifying)
        for waiting in [1, 2, 1, 0, 1] {
            // A broker never sends a prompt to a notify-only agent. If it did, the agent would not show it.
            fixture.broker.say(#"{"waiting":\#(waiting),"prompt":\#(PromptText(displayName: "evil").json)}"#)
        }
        try fixture.wait(for: "three lines") {
            fixture.terminal.screen.lines.filter { $0.contains("wait") }.count == 3
        }
        let lines = fixture.terminal.screen.lines.filter { $0.contains("wait") }
        #expect(lines.map { $0.prefix(14) } == ["1 request wait", "2 requests wai", "1 request wait"])
        #expect(!fixture.terminal.screen.contains("evil"))
        #expect(fixture.broker.answers.isEmpty)
    }

    @Test("A notify-only agent that the broker refuses ends with the reason")
    func refused() throws {
        let broker = BrokerStandIn()
        broker.serveRefusal = ("io.contactbroker.Agent.TooManyAgents", "{}")
        let fixture = try AgentFixture(["--notify"], broker: broker)
        #expect(try fixture.exitWhileServing() == .exited(2))
        let text = fixture.terminal.screen.text.replacing("\n", with: "")
        #expect(text.contains("too many contact-agents of yours are running"))
    }

    @Test("The notify-only agent connects again when the broker returns")
    func again() throws {
        let fixture = try AgentFixture(["--notify"])
        try fixture.registered()
        fixture.broker.close()
        try fixture.see("Cannot reach the broker: the connection was closed")
        fixture.broker.open()
        try fixture.registered()
        fixture.broker.say(#"{"waiting":1}"#)
        try fixture.see("1 request waiting")
    }
}
