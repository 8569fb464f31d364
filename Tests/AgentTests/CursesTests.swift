import CBrokerCurses
import Glibc
import PseudoTerminal
import Testing

@testable import contact_agent

/// ncurses has one screen at a time, so these tests run one after the other.
@Suite("The terminal, drawn and read by ncurses", .serialized)
struct CursesTests {
    private static let types = ["xterm", "xterm-256color", "screen", "tmux", "linux", "vt100"]

    private static let texts: [StyledLine] = [
        "plain text", StyledLine("[ ] ") + Matches.line("\u{2068}محمد الأحمد\u{2069}", "مح", .plain),
        .bold("bold") + " and " + StyledLine("key", .match), "鄧麗君 テレサ・テン 한국어",
        "emoji 😀 👩 🎉 and after", "combining e\u{301}a\u{308}\u{323}o\u{302} x",
        StyledLine("\u{2067}שלום עולם\u{2069} after"), "in \u{2068}محمد الأحمد\u{2069} between",
        StyledLine("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), "", "x       x            x", .dim("dim"),
    ]

    @Test("Each terminal shows the same lines, small and large", arguments: types, [(60, 12), (200, 60)])
    func drawing(type: String, size: (columns: Int, rows: Int)) throws {
        let fixture = try CursesFixture(type, columns: size.columns, rows: size.rows)
        let wide = (0..<size.rows).map { StyledLine(String(repeating: "語x", count: $0) + "é") }
        for lines in [Self.texts, wide, Self.texts.reversed(), []] {
            for clearing in [true, false] {
                try fixture.draw(lines, clearing: clearing)
                let shown = fixture.screen.lines
                for row in 0..<size.rows {
                    let line = row < lines.count ? lines[row].clipped(columns: size.columns).map(\.text).joined() : ""
                    #expect(shown[row] == String(line.reversed().drop { $0 == " " }.reversed()))
                }
            }
        }
    }

    @Test("Each terminal shows the same lines of a right-to-left language", arguments: types, [(60, 12), (200, 60)])
    func mirrored(type: String, size: (columns: Int, rows: Int)) throws {
        let fixture = try CursesFixture(type, columns: size.columns, rows: size.rows)
        let lines = Self.texts + [StyledLine("› [x] \u{2068}محمد\u{2069}", .highlighted)]
        for lines in [lines, lines.reversed(), []] {
            try fixture.draw(lines, isMirrored: true)
            for (row, shown) in fixture.screen.lines.enumerated() {
                let line = row < lines.count ? lines[row].mirrored(columns: size.columns).map(\.text).joined() : ""
                #expect(shown == String(line.reversed().drop { $0 == " " }.reversed()))
            }
        }
        try fixture.draw([StyledLine("› [x] \u{2068}محمد\u{2069}", .highlighted)], isMirrored: true)
        let row = fixture.screen.styledLines[0]
        #expect(row.hasPrefix("⟦  ") && row.hasSuffix("\u{2068}محمد\u{2069} [x] ‹⟧"))
    }

    @Test("A line that is too wide is cut, and moves no other line")
    func cutting() throws {
        let fixture = try CursesFixture("xterm", columns: 10, rows: 4)
        try fixture.draw(["0123456789", "abcdefghijkl", "語語語語語語", "last"])
        #expect(fixture.screen.lines == ["0123456789", "abcdefghi…", "語語語語…", "last"])
        // A width that ncurses and the agent do not agree on must not make a line longer than the screen.
        let scalars: [UInt32] = Array(repeating: 0x8A9E, count: 9)
        let end = ccurses_put(fixture.curses, 3, 5, scalars, scalars.count, CCURSES_PLAIN)
        #expect(end == 9)
    }

    @Test("No control character reaches the terminal, even past the agent's own check")
    func controls() throws {
        let fixture = try CursesFixture("xterm", columns: 20, rows: 4)
        ccurses_erase(fixture.curses)
        let scalars: [UInt32] = [0x61, 0x1B, 0x5B, 0x0A, 0x0, 0x9B, 0x7F, 0x09, 0x62]
        _ = ccurses_put(fixture.curses, 1, 0, scalars, scalars.count, CCURSES_PLAIN)
        ccurses_show(fixture.curses, false)
        try fixture.takeOutput()
        #expect(fixture.screen.lines[1].first == "a" && fixture.screen.lines[1].contains("["))
        #expect(fixture.screen.lines[1].hasSuffix("\u{FFFD}b"))
    }

    @Test("A cell with too many marks keeps its isolates")
    func marks() throws {
        let fixture = try CursesFixture("xterm", columns: 20, rows: 2)
        try fixture.draw(["a\u{2068}e\u{301}\u{302}\u{303}\u{304}\u{2069}\u{2068}x\u{2069}"])
        #expect(fixture.screen.lines[0] == "a\u{2068}e\u{301}\u{302}\u{2069}\u{2068}x\u{2069}")
    }

    @Test("Styles are attributes, and only a warning has a colour", arguments: [true, false])
    func styles(colours: Bool) throws {
        let fixture = try CursesFixture("xterm-256color", columns: 40, rows: 6, colours: colours)
        let styles: [(StyledLine.Style, String)] = [
            (.bold, "bold"), (.dim, "dim"), (.warning, "warning"), (.match, "match"),
        ]
        try fixture.draw(styles.map { StyledLine($0.1, $0.0) })
        for (style, text) in styles {
            let drawn = try #require(fixture.screen.style(of: text))
            #expect(drawn.isDim == (style == .dim))
            #expect(drawn.isBold == (style != .dim))
            #expect(drawn.isUnderlined == (style == .match))
            #expect(drawn.colour == (style == .warning && colours ? 3 : nil))
            #expect(drawn.background == nil)
        }
    }

    @Test("A highlighted row is reverse up to its end", arguments: types)
    func highlighted(type: String) throws {
        let fixture = try CursesFixture(type, columns: 12, rows: 4)
        try fixture.draw(["one", StyledLine("two", .highlighted), "th" + StyledLine("ree", .highlighted), "four"])
        let reverse = ["one", "⟦two         ⟧", "th⟦ree       ⟧", "four"]
        #expect(fixture.screen.styledLines == reverse)
        try fixture.draw(["one", "two", "three", "four"])
        #expect(fixture.screen.styledLines == ["one", "two", "three", "four"])
    }

    @Test(
        "A redraw overwrites what another program has written or set",
        arguments: types,
        [
            "junk", "\u{1B}[2J\u{1B}[Hjunk", "\u{1B}[5;5H\u{1B}[8mjunk", "\u{1B}[2;4rjunk\r\n\r\n\r\n\r\n",
            "\u{1B}[4hjunk\r",
            "\u{1B}(0junk", "\u{1B}[31;45mjunk\u{1B}[K",
        ])
    func redrawing(type: String, junk: String) throws {
        let fixture = try CursesFixture(type, columns: 60, rows: 12)
        try fixture.draw(Self.texts)
        let lines = fixture.screen.lines
        try fixture.scribble(junk)
        #expect(fixture.screen.lines != lines)
        try fixture.draw(Self.texts)
        #expect(fixture.screen.lines == lines)
        let style = fixture.screen.style(of: "plain text")
        #expect(style == CellStyle())
    }

    @Test("A redraw marks pastes again if another program has turned that off")
    func marksPastes() throws {
        let fixture = try CursesFixture("xterm")
        #expect(fixture.screen.marksPastes && fixture.screen.reportsMouse)
        try fixture.scribble("\u{1B}[?2004l\u{1B}[?1006l")
        try fixture.draw([])
        #expect(fixture.screen.marksPastes && fixture.screen.reportsMouse)
        try fixture.leave()
        #expect(!fixture.screen.reportsMouse)
        ccurses_take_keys(fixture.curses, false)
        try fixture.takeOutput()
        #expect(!fixture.screen.marksPastes)
    }

    @Test(
        "Keys have the same meaning on each terminal",
        arguments: [
            ("xterm", "\u{1B}OA\u{1B}OB\u{1B}OC\u{1B}OD"), ("xterm", "\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D"),
            ("screen", "\u{1B}OA\u{1B}OB\u{1B}OC\u{1B}OD"), ("tmux", "\u{1B}OA\u{1B}OB\u{1B}OC\u{1B}OD"),
            ("linux", "\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D"), ("vt100", "\u{1B}OA\u{1B}OB\u{1B}OC\u{1B}OD"),
        ])
    func arrows(type: String, text: String) throws {
        #expect(try CursesFixture(type).keys(text) == [.up, .down, .right, .left])
    }

    @Test(
        "Sequences are single keys",
        arguments: [
            ("\u{1B}[5~\u{1B}[6~", [Key.pageUp, .pageDown]), ("\u{1B}OH\u{1B}OF", [.home, .end]),
            ("\t\u{1B}[Z", [.tab, .backTab]),
            ("\u{1B}[3~\u{7F}", [.delete, .backspace]), ("\u{1B}OM\r", [.enter, .enter]),
            ("\u{1B}OPd\u{1B}[1;5Ad", [.other, .character("d"), .other, .character("d")]),
            ("\u{1B}[99dd", [.other, .character("d")]), ("\u{1B}[1;99ydd", [.other, .character("d"), .character("d")]),
            ("\u{1B}", [.escape]), ("\u{1B}\u{1B}", [.escape, .escape]), ("\u{1B}d", [.other]),
            ("é語", [.character("é"), .character("語")]),
            ("\u{1B}[<0;5;3M\u{1B}[<0;5;3m", [.click(row: 2, column: 4)]), ("\u{1B}[<64;5;3M", [.scrollUp]),
            ("\u{1B}[<65;5;3M", [.scrollDown]), ("\u{1B}[<", [.other]),
            ("\u{1B}[200~dady\u{1B}OA\r\u{1B}[201~x", [.paste("dady\r"), .character("x")]),
            ("\u{1B}]ldady\u{1B}\\x", [.other, .character("x")]),
        ])
    func sequences(text: String, keys: [Key]) throws {
        let fixture = try CursesFixture("xterm")
        #expect(fixture.keys(text) == keys)
        #expect(fixture.keys("z") == [.character("z")])
    }

    @Test("Clicks are read in both encodings, also if one is incomplete", arguments: types)
    func clicks(type: String) throws {
        let fixture = try CursesFixture(type)
        #expect(fixture.keys("\u{1B}[<0;5;3M\u{1B}[<0;5;3m") == [.click(row: 2, column: 4)])
        #expect(fixture.keys("\u{1B}[M %#\u{1B}[M#%#x") == [.click(row: 2, column: 4), .character("x")])
        #expect(fixture.keys("\u{1B}[M ") == [.other])
        #expect(fixture.keys("\u{1B}[<0;5") == [.other])
        #expect(fixture.keys("x") == [.character("x")])
    }

    @Test("A sequence that arrives in parts is one key, unless a part is late")
    func parts() throws {
        let fixture = try CursesFixture("xterm")
        // The first part counts as an incomplete sequence after 50 ms.
        #expect(fixture.keys("\u{1B}[1;9") == [.other])
        #expect(fixture.keys("\u{1B}[200~da") == [])
        #expect(fixture.keys("dy\u{1B}[20") == [])
        #expect(fixture.keys("1~x") == [.paste("dady"), .character("x")])
        #expect(fixture.keys("é") == [.character("é")])
    }

    @Test("After a resize all cells are drawn, and no key appears")
    func resizing() throws {
        let fixture = try CursesFixture("xterm", columns: 60, rows: 12)
        try fixture.draw(["first", "second"])
        for (columns, rows) in [(200, 60), (60, 12), (80, 24), (20, 3)] {
            fixture.resize(columns: columns, rows: rows)
            // Not all are wide: the kernel keeps only a few kilobytes that nobody reads, and drawing would wait.
            let lines = (0..<rows).map { row in
                StyledLine("row \(row) " + String(repeating: "語", count: row % 8 == 0 ? columns : 2))
            }
            try fixture.draw(lines, clearing: true)
            #expect(fixture.screen.lines == lines.map { $0.clipped(columns: columns).map(\.text).joined() })
            #expect(fixture.keys("") == [])
        }
    }

    @Test("Leaving and entering the screen restores and redraws it")
    func leaving() throws {
        let fixture = try CursesFixture("xterm", columns: 30, rows: 4)
        try fixture.draw(["prompt"])
        #expect(fixture.screen.isAlternate && !fixture.screen.isCursorVisible)
        try fixture.leave()
        #expect(!fixture.screen.isAlternate && fixture.screen.isCursorVisible)
        ccurses_say(fixture.curses, "said", 4, CCURSES_WARNING)
        ccurses_say_line_end(fixture.curses)
        // Keys are read without showing the screen.
        #expect(fixture.keys("q\u{1B}OA") == [.character("q"), .up])
        try fixture.takeOutput()
        #expect(fixture.screen.lines.first == "said")
        #expect(fixture.screen.style(of: "said")?.colour == 3)
        ccurses_say(fixture.curses, "again", 5, CCURSES_PLAIN)
        try fixture.takeOutput()
        #expect(fixture.screen.style(of: "again") == CellStyle())
        ccurses_enter(fixture.curses)
        try fixture.draw(["prompt"])
        #expect(fixture.screen.isAlternate)
        #expect(fixture.screen.text == "prompt")
    }

    @Test("ncurses catches no signal")
    func signals() throws {
        /// The signals that this process catches.
        func caught() throws -> String {
            let status = try #require(fopen("/proc/self/status", "re"))
            defer { fclose(status) }
            var line = [CChar](repeating: 0, count: 256)
            while fgets(&line, CInt(line.count), status) != nil {
                let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                if text.hasPrefix("SigCgt:") { return text }
            }
            return ""
        }
        let before = try caught()
        let fixture = try CursesFixture("xterm")
        try fixture.draw(["x"])
        #expect(try caught() == before)
        try fixture.leave()
        ccurses_enter(fixture.curses)
        #expect(try caught() == before)
    }

    @Test("If the terminal is gone, drawing and reading end at once")
    func lost() throws {
        let fixture = try CursesFixture("xterm")
        fixture.terminal.hangUp()
        ccurses_enter(fixture.curses)
        ccurses_show(fixture.curses, true)
        #expect(ccurses_next(fixture.curses, 0) == -1)
        ccurses_leave(fixture.curses)
        ccurses_say(fixture.curses, "x", 1, CCURSES_BOLD)
    }

    @Test(
        "A terminal that is unknown or cannot move its cursor is refused",
        arguments: ["dumb", "no-such-terminal", "../x/xterm", "/usr/share/terminfo/x/xterm", ".", "unknown"])
    func refused(type: String) {
        do {
            _ = try CursesFixture(type)
            Issue.record("opened \(type)")
        } catch {
            #expect((error as? CursesFixture.Failure)?.code == CCURSES_TOO_SIMPLE.rawValue)
        }
    }
}
