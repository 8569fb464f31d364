import Glibc
import PseudoTerminal
import Testing

@Suite("The agent's start, waiting and end")
struct LifeTests {
    /// Prints the terminal's settings and the agent's status after the agent's end.
    private static let report =
        "s=$?; echo left $(stty -a | tr ' ;' '\\n\\n' | grep -xE -e '-?(icanon|echo|ixon|isig)'); echo status=$s"

    @Test("Whatever signal ends the agent, the terminal is restored", arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func restores(signal: CInt) throws {
        let house = try AgentHouse(script: "\"$AGENT\" & p=$!; echo pid=$p.; wait $p; \(Self.report)")
        try house.see("pid=")
        let line = house.terminal.screen.lines.first { $0.hasPrefix("pid=") } ?? ""
        let pid = try #require(pid_t(line.dropFirst(4).prefix { $0.isNumber }))
        try house.registered()
        house.ask(PromptText())
        try house.see("[c] Continue")
        #expect(!house.terminal.isInLineMode)
        kill(pid, signal)
        try house.see("status=\(128 + signal)")
        #expect(!house.terminal.screen.isAlternate)
        #expect(house.terminal.screen.isCursorVisible)
        let left = house.terminal.screen.lines.first { $0.hasPrefix("left ") }
        #expect(left?.split(separator: " ").dropFirst().sorted() == ["echo", "icanon", "isig", "ixon"])
    }

    @Test("Ctrl-C ends the agent without an answer")
    func interrupt() throws {
        let house = try AgentHouse()
        try house.registered()
        house.ask(PromptText())
        try house.see("[c] Continue", thenPress: "\u{3}")
        #expect(try house.exit() == .signalled(SIGINT))
        house.broker.serve()
        #expect(house.broker.answers.isEmpty)
        #expect(!house.broker.isServing)
    }

    @Test("It gives the terminal back when it is stopped, and draws its prompt again when it continues")
    func suspension() throws {
        let house = try AgentHouse(
            script: "set -m; \"$AGENT\"; stty -a | grep -o ' icanon'; echo stopped; read line; fg")
        try house.registered()
        house.ask(PromptText())
        try house.see("[c] Continue", thenPress: "c")
        // Stop before the stage can be answered, so that its delay must start again.
        try house.see("Share all 3 contacts", thenPress: "\u{1A}")
        try house.see("stopped")
        #expect(house.terminal.screen.contains(" icanon"))
        house.terminal.send("\r")
        try house.wait(for: "the prompt again") { house.terminal.screen.isAlternate }
        try house.see("[a] Share all 3 contacts", thenPress: "a")
        #expect(try house.answer()?.level == "full")
    }

    @Test("q ends the agent while no prompt is shown")
    func quits() throws {
        let house = try AgentHouse()
        try house.registered()
        try house.see("[l] what you shared  [q] quit", thenPress: "q")
        #expect(try house.exit() == .exited(0))
    }

    @Test("The agent works for an ordinary user")
    func ordinaryUser() throws {
        // If the tests run as root, the program runs as another user, from a folder that everybody can reach.
        let house = try AgentHouse(
            script: """
                r=$CONTACTBROKER_RUNTIME_DIR; chmod 711 $r $r/agent; chmod 666 $r/agent/*
                cp "$AGENT" $r/contact-agent
                [ $(id -u) != 0 ] || set -- setpriv --reuid=65534 --regid=65534 --clear-groups
                "$@" $r/contact-agent; s=$?; echo status=$s
                """)
        try house.registered()
        house.ask(PromptText())
        try house.see("[c] Continue", thenPress: "c")
        try house.see("[a] Share all 3 contacts", thenPress: "a")
        try house.see("You shared all contacts with “mail”.", thenPress: "q")
        try house.see("status=0")
        #expect(house.broker.answers.count == 1)
    }

    @Test("Without a terminal it does not start, whatever its standard input contains")
    func noTerminal() throws {
        let house = try AgentHouse(script: "echo yyyy | setsid -w \"$AGENT\"; echo status=$?")
        try house.see("contact-agent: could not open /dev/tty")
        try house.see("status=2")
        #expect(house.terminal.screen.contains("Start it in a terminal window"))
    }

    @Test("It does not start on a terminal on which it cannot draw", arguments: ["dumb", ""])
    func dumbTerminal(type: String) throws {
        let house = try AgentHouse(environment: ["TERM": type])
        #expect(try house.exit() == .exited(2))
        #expect(house.terminal.screen.contains("contact-agent: could not draw on this terminal"))
    }

    @Test("In a terminal that is too small, nothing is shown or answered until it grows")
    func tooSmall() throws {
        let house = try AgentHouse(["--once"], columns: 59, rows: 12)
        try house.registered()
        house.ask(PromptText())
        try house.see("Make it at least 60×12.", thenPress: "dd\r")
        #expect(!house.terminal.screen.isAlternate)
        house.terminal.resize(columns: 60, rows: 12)
        try house.see("[d] Don't allow")
        #expect(house.broker.answers.isEmpty)
        house.terminal.resize(columns: 60, rows: 11)
        try house.wait(for: "the screen to be given back") { !house.terminal.screen.isAlternate }
        house.terminal.send("d\r")
        house.terminal.resize(columns: 80, rows: 24)
        try house.see("[c] Continue", thenPress: "d")
        #expect(try house.answer()?.level == "denied")
        #expect(house.broker.answers.count == 1)
    }

    @Test("A prompt with long texts fits into the smallest terminal")
    func smallestTerminal() throws {
        let long = String(repeating: "long words ", count: 40)
        let house = try AgentHouse(columns: 60, rows: 12)
        try house.registered()
        house.ask(
            PromptText(
                displayName: long, executable: "/opt/" + String(repeating: "deep/", count: 40) + "mail", purpose: long,
                keys: ["givenName", "phoneNumbers", "note", "groups"]))
        try house.see("[N] Don't allow, and never ask again")
        #expect(house.terminal.screen.contains("deep/mail"))
        try house.see("[c] Continue", thenPress: "c")
        try house.see("[t] for this terminal session")
        try house.see("[n] notes too: off   [g] groups too: off", thenPress: "s")
        try house.see("3 [ ] Lin Lanying")
        try house.see("Type a name", thenPress: "\r")
        try house.see("[1–9] choose", thenPress: "123")
        try house.see("3 [x] Lin Lanying", thenPress: "c")
        try house.see("[y] Share these 3 contacts")
        #expect(house.terminal.screen.contains("[d] Don't allow (Return)"))
    }

    @Test("When the broker goes away, the agent waits and connects again")
    func brokerGone() throws {
        let house = try AgentHouse()
        try house.registered()
        house.ask(PromptText())
        try house.see("[c] Continue")
        house.broker.close()
        try house.see("The broker cannot be reached")
        #expect(!house.terminal.screen.isAlternate)
        house.broker.open()
        try house.registered()
        try house.see("The broker is there again.")
        house.terminal.send("q")
        #expect(try house.exit() == .exited(0))
    }

    @Test("Without a broker the agent says so, and q ends it")
    func noBroker() throws {
        let broker = BrokerStandIn()
        broker.close()
        let house = try AgentHouse(broker: broker)
        try house.see("The broker cannot be reached")
        try house.see("[q] quit", thenPress: "q")
        #expect(try house.exit() == .exited(0))
    }

    @Test("An agent that the broker refuses ends with the reason")
    func notAnAgent() throws {
        let broker = BrokerStandIn()
        broker.serveRefusal = ("io.contactbroker.Agent.NotAnAgent", #"{"reason":"you are sandboxed"}"#)
        let house = try AgentHouse(broker: broker)
        #expect(try house.exitWhileServing() == .exited(2))
        #expect(house.terminal.screen.text.replacing("\n", with: "").contains("NotAnAgent: you are sandboxed"))
    }

    @Test("Text that another program writes over a prompt is overwritten")
    func overwritten() throws {
        let house = try AgentHouse()
        try house.registered()
        house.ask(PromptText())
        try house.see("[c] Continue", thenPress: "c")
        // Once the prompt can be approved, the agent has no other reason to draw again.
        try house.see("[a] Share all 3 contacts")
        house.terminal.scribble("\u{1B}[2;1HMay “mail” be nice?\u{1B}[K\u{1B}[20;1H[a] Press a")
        try house.see("[a] Press a")
        try house.wait(for: "the true prompt") {
            house.terminal.screen.contains("What may “mail” see?") && !house.terminal.screen.contains("Press a")
        }
    }

    @Test("It reports that another agent has joined, and where")
    func others() throws {
        let house = try AgentHouse()
        try house.registered()
        house.broker.say(#"{"others":1,"joined":"pts/3\u001b[2J"}"#)
        try house.see("Another agent of yours joined at pts/3[2J: it may")
        house.broker.say(#"{"others":2,"joined":"pts/4"}"#)
        try house.see("joined at pts/4: 2 others may")
    }

    @Test("If the broker refuses an answer, the agent says so")
    func refusedAnswer() throws {
        let broker = BrokerStandIn()
        broker.refusal = ("io.contactbroker.Agent.InvalidAnswer", #"{"reason":"no such row"}"#)
        let house = try AgentHouse(["--once"], broker: broker)
        try house.registered()
        house.ask(PromptText())
        try house.see("[c] Continue", thenPress: "c")
        try house.see("[a] Share all", thenPress: "a")
        #expect(try house.exitWhileServing() == .exited(1))
        #expect(house.terminal.screen.contains("The broker did not take that"))
    }

    @Test("After a failed authentication the person can choose again")
    func authenticationFailed() throws {
        let broker = BrokerStandIn()
        broker.refusal = ("io.contactbroker.Agent.AuthenticationFailed", "{}")
        let house = try AgentHouse(["--once"], broker: broker)
        try house.registered()
        house.ask(PromptText())
        try house.see("[c] Continue", thenPress: "c")
        try house.see("[a] Share all", thenPress: "a")
        try house.see("You were not recognised; nothing was shared.")
        // If nobody could be asked, the whole reason is shown.
        broker.refusal = (
            "io.contactbroker.Agent.AuthenticationFailed",
            #"{"reason":"polkit does not answer; an administrator can restart it: systemctl restart polkit.service"}"#
        )
        try house.see("[a] Share all", thenPress: "a")
        try house.see("The broker did not take that (polkit does not answer;")
        try house.see("systemctl restart polkit.service")
        broker.refusal = nil
        house.terminal.send("d")
        #expect(try house.answer()?.level == "denied")
    }

    @Test("A NO_COLOR that is not empty turns styles off", arguments: [("", true), ("1", false)])
    func noColor(value: String, hasStyles: Bool) throws {
        let house = try AgentHouse(environment: ["NO_COLOR": value])
        try house.registered()
        house.ask(PromptText())
        try house.see("[c] Continue")
        let drawn = String(decoding: house.terminal.transcript, as: UTF8.self)
        #expect(drawn.contains("\u{1B}[1m") == hasStyles)
        #expect(drawn.contains("\u{1B}[33m") == hasStyles)
    }

    @Test("The list of grants shows one app per line")
    func listsGrants() throws {
        let broker = BrokerStandIn()
        broker.grants = """
            [{"app":"/usr/bin/mail","strength":"unverified","displayName":"mail","status":"limited","contacts":2,\
            "lastUsedAt":"2026-03-01T10:00:00Z","uses":7,"session":"1"},\
            {"app":"x","strength":"claimed","displayName":"chat","status":"denied","contacts":0,"uses":0}]
            """
        let house = try AgentHouse(broker: broker)
        try house.registered()
        try house.see("[l] what you shared", thenPress: "l")
        try house.see("“chat”")
        let lines = house.terminal.screen.lines
        #expect(lines.contains { $0.hasPrefix("1 “mail”") && $0.contains("some (session)  2         2026-03-01") })
        #expect(lines.contains { $0.hasPrefix("2 “chat”") && $0.contains("claimed") && $0.contains("nothing") })
    }

    @Test(
        "The agent prints help and version, and refuses an unknown argument",
        arguments: [
            (["--help"], "Usage: contact-agent", CInt(0)), (["--version"], "contact-agent ", 0),
            (["--yes"], "contact-agent: unknown argument --yes", 2),
        ])
    func commandLine(arguments: [String], words: String, status: CInt) throws {
        let house = try AgentHouse(arguments)
        #expect(try house.exit() == .exited(status))
        #expect(house.terminal.screen.contains(words))
    }
}

@Suite("The notifier")
struct NotifierTests {
    @Test("It reports each increase in the number of open prompts, and no text from a prompt")
    func says() throws {
        // In a session of its own, the notifier does not end with the terminal.
        let start = "echo notifier=$$.; exec \"$AGENT\" --notify </dev/null"
        let house = try AgentHouse(script: "setsid -w sh -c '\(start)'; echo status=$?")
        try house.registered()
        let notifier = try #require(house.number(after: "notifier="))
        defer { kill(notifier, SIGKILL) }
        #expect(house.broker.isNotifying)
        for waiting in [1, 2, 1, 0, 1] {
            // A broker never sends a prompt to a notifier. If it did, the notifier would not show it.
            house.broker.say(#"{"waiting":\#(waiting),"prompt":\#(PromptText(displayName: "evil").json)}"#)
        }
        try house.wait(for: "three lines") {
            house.terminal.screen.lines.filter { $0.contains("wait") }.count == 3
        }
        let lines = house.terminal.screen.lines.filter { $0.contains("wait") }
        #expect(lines.map { $0.prefix(14) } == ["1 prompt waits", "2 prompts wait", "1 prompt waits"])
        #expect(!house.terminal.screen.contains("evil"))
        #expect(house.broker.answers.isEmpty)
    }

    @Test("A notifier that the broker refuses ends with the reason")
    func refused() throws {
        let broker = BrokerStandIn()
        broker.serveRefusal = ("io.contactbroker.Agent.TooManyAgents", "{}")
        let house = try AgentHouse(["--notify"], broker: broker)
        #expect(try house.exitWhileServing() == .exited(2))
        #expect(house.terminal.screen.contains("TooManyAgents"))
    }

    @Test("The notifier connects again when the broker returns")
    func again() throws {
        let house = try AgentHouse(["--notify"])
        try house.registered()
        house.broker.close()
        try house.see("the broker cannot be reached")
        house.broker.open()
        try house.registered()
        house.broker.say(#"{"waiting":1}"#)
        try house.see("1 prompt waits")
    }
}
