import Glibc
import PseudoTerminal
import Testing

@Suite("The agent's terminal")
struct AgentTerminalTests {
    @Test(
        "A prompt looks the same on each terminal, and keys answer it",
        arguments: ["xterm", "xterm-256color", "screen", "tmux", "linux", "vt100"], [(60, 12), (200, 60)])
    func terminals(type: String, size: (columns: Int, rows: Int)) throws {
        func lines(_ type: String) throws -> [String] {
            let fixture = try AgentFixture(columns: size.columns, rows: size.rows, environment: ["TERM": type])
            try fixture.registered()
            fixture.ask(PromptText(displayName: "鄧麗君 😀 e\u{301} مدير", purpose: "日本語の目的"))
            try fixture.see("鄧麗君 😀 e\u{301}")
            try fixture.see("[N] Don't allow")
            let lines = fixture.terminal.screen.lines
            fixture.terminal.send("\u{1B}")
            #expect(try fixture.answer()?.level == "denied")
            return lines
        }
        #expect(try lines(type) == lines("xterm"))
    }

    /// The broker's stand-in and an agent that shows a prompt.
    private func prompted(script: String? = nil) throws -> AgentFixture {
        let fixture = try AgentFixture(script: script)
        try fixture.registered()
        fixture.ask(PromptText())
        try fixture.see("[N] Don't allow")
        return fixture
    }

    @Test(
        "Sequences that are no key of the terminal, pastes and reports answer nothing",
        arguments: [
            "\u{1B}[99N", "\u{1B}ON", "\u{1B}N", "\u{1B}[200~N\rN\u{1B}[201~", "\u{1B}]lN\u{1B}\\",
            "\u{1B}[<0;1;1M\u{1B}[<0;1;1m",
            "\u{1B}OA\u{1B}OB\u{1B}[5~\u{1B}[3~\t\u{1B}[Z", "\u{1B}[1;5A",
        ])
    func harmlessInput(text: String) throws {
        let fixture = try prompted()
        // The key after the sequence shows that the sequence was read.
        fixture.terminal.send(text + "c")
        try fixture.see("What may “mail” see?")
        #expect(fixture.broker.answers.isEmpty)
        fixture.terminal.send("\u{1B}")
        #expect(try fixture.answer()?.level == "denied")
    }

    @Test("After it was stopped and another program used the terminal, it draws its prompt again")
    func stopped() throws {
        let fixture = try prompted()
        fixture.terminal.signal(SIGSTOP)
        var status: siginfo_t = siginfo_t()
        waitid(P_PID, id_t(fixture.terminal.pid), &status, WSTOPPED | WNOWAIT)
        var settings = termios()
        tcgetattr(fixture.terminal.fileDescriptor, &settings)
        settings.c_lflag |= tcflag_t(ICANON | ECHO)
        tcsetattr(fixture.terminal.fileDescriptor, TCSANOW, &settings)
        fixture.terminal.scribble("\u{1B}[2J\u{1B}[8m\u{1B}(0junk")
        try fixture.see("────")
        #expect(!fixture.terminal.screen.contains("Don't allow"))
        fixture.terminal.signal(SIGCONT)
        try fixture.see("[N] Don't allow")
        try fixture.wait(for: "no junk") { !fixture.terminal.screen.contains("────") }
        #expect(!fixture.terminal.isInLineMode)
        #expect(fixture.terminal.screen.style(of: "“mail”")?.isConcealed == false)
        fixture.terminal.send("\u{1B}")
        #expect(try fixture.answer()?.level == "denied")
    }

    @Test("Ctrl-S does not freeze the screen, and Ctrl-Q is no key")
    func flowControl() throws {
        let fixture = try prompted()
        fixture.terminal.send("\u{13}\u{11}c")
        try fixture.see("What may “mail” see?", thenPress: "\u{1B}")
        #expect(try fixture.answer()?.level == "denied")
    }

    @Test("It ends without an answer if its terminal is closed", arguments: [true, false])
    func lost(isPrompted: Bool) throws {
        // Without SIGHUP, only the terminal itself shows that it is gone.
        let start = "trap '' HUP; \"$AGENT\"; echo $? >\"$CONTACTBROKER_RUNTIME_DIR/status\""
        let fixture = try isPrompted ? prompted(script: start) : AgentFixture(script: start)
        try fixture.registered()
        try fixture.see(isPrompted ? "[N] Don't allow" : "[q] Quit")
        let path = fixture.broker.runtimeDirectory + "/status"
        defer { unlink(path) }
        fixture.terminal.hangUp()
        #expect(try fixture.exit() == .exited(0))
        let file = try #require(fopen(path, "re"))
        defer { fclose(file) }
        var text = [CChar](repeating: 0, count: 16)
        fgets(&text, 16, file)
        #expect(text.starts(with: "129\n".utf8CString.dropLast()))
        fixture.broker.serve()
        #expect(fixture.broker.answers.isEmpty)
    }

    @Test("A resize to any size draws the prompt again")
    func resizes() throws {
        let fixture = try prompted()
        for (columns, rows) in [(200, 60), (60, 12), (100, 30)] {
            fixture.terminal.resize(columns: columns, rows: rows)
            fixture.terminal.scribble("\u{1B}[2J")
            try fixture.see("[N] Don't allow")
            #expect(fixture.terminal.screen.lines[0].hasPrefix("contact-agent"))
        }
        fixture.terminal.send("\u{1B}")
        #expect(try fixture.answer()?.level == "denied")
    }

    /// Compiles a description of a terminal, "evil", which only the user's folder contains.
    private static let evil = """
        t=$CONTACTBROKER_RUNTIME_DIR/terminfo; trap 'rm -r $t' EXIT; mkdir -p $t/.terminfo
        infocmp -x xterm | sed 's/^xterm[^ ,]*|.*,$/evil|a description of the user,/' >$t/evil
        tic -x -o $t/.terminfo $t/evil
        """

    @Test(
        "No variable makes it use the user's terminal descriptions",
        arguments: ["TERMINFO=$t/.terminfo", "TERMINFO_DIRS=$t/.terminfo", "HOME=$t", "TERMCAP=$t/evil"])
    func descriptions(variable: String) throws {
        let fixture = try AgentFixture(
            script: Self.evil + """

                export \(variable) TERM=evil
                tput cup 0 0 >/dev/null && echo usable.
                "$AGENT"; echo status=$?
                """)
        // This shows that the variable works for other programs. ncurses ignores TERMCAP.
        if !variable.hasPrefix("TERMCAP") { try fixture.see("usable.") }
        try fixture.see("contact-agent: could not draw on this terminal")
        try fixture.see("status=2")
    }

    @Test("No variable changes the size, the encoding or the delays")
    func variables() throws {
        let fixture = try AgentFixture(
            environment: [
                "LINES": "3", "COLUMNS": "10", "ESCDELAY": "100000", "NCURSES_NO_UTF8_ACS": "1",
                "NCURSES_NO_PADDING": "1",
                "LC_ALL": "C", "NCURSES_ASSUMED_COLORS": "1,1",
            ])
        try fixture.registered()
        fixture.ask(PromptText(displayName: "鄧麗君"))
        try fixture.see("“鄧麗君” asks to see your contacts.")
        try fixture.see("[N] Don't allow", thenPress: "\u{1B}")
        #expect(try fixture.answer()?.level == "denied")
    }
}
