import BrokerFormatting
import BrokerJSON
import PseudoTerminal
import Testing

@testable import contact_agent

@Suite("Screens of a right-to-left language")
struct MirroringTests {
    @Test(
        "Parts are drawn from the last to the first, aligned right",
        arguments: [
            ("", ""),
            ("\u{2067}عنوان\u{2069}", "\u{2067}عنوان\u{2069}"),
            ("› [c] \u{2067}اختر\u{2069}", "\u{2067}اختر\u{2069} [c] ‹"),
            ("  [ ] \u{2068}Ada Lovelace\u{2069}", "\u{2068}Ada Lovelace\u{2069} [ ]  "),
            (
                "[↑ ↓] \u{2067}نعم\u{2069}   [Esc] \u{2067}لا\u{2069}",
                "\u{2067}لا\u{2069} [Esc]   \u{2067}نعم\u{2069} [↑ ↓]"
            ),
            ("\u{2067}سطر\u{2069}: \u{2067}قيمة\u{2069}", "\u{2067}قيمة\u{2069} :\u{2067}سطر\u{2069}"),
            // Words of one text keep their order, and columns do not.
            ("Ada B  +1 555 0100", "+1 555 0100  Ada B"),
            ("\u{2068}鄧麗君\u{2069}  \u{2068}x\u{2069}", "\u{2068}x\u{2069}  \u{2068}鄧麗君\u{2069}"),
            ("[x] \u{2068}e\u{301}👩🏽‍🚀\u{2069}", "\u{2068}e\u{301}👩🏽‍🚀\u{2069} [x]"),
            // An isolate in an isolate stays where it is.
            (
                "a \u{2067}ب \u{2068}b\u{2069} ج\u{2069} c",
                "c \u{2067}ب \u{2068}b\u{2069} ج\u{2069} a"
            ),
            // A text without an isolate must not turn the line around it.
            ("[x] محمد", "\u{2068}محمد\u{2069} [x]"),
            // What looks like the agent's own marks is text in an isolate.
            ("[ ] \u{2068}x [y] › y\u{2069}", "\u{2068}x [y] › y\u{2069} [ ]"),
        ])
    func order(line: String, drawn: String) {
        let mirrored = StyledLine(line).mirrored(columns: 24).map(\.text).joined()
        #expect(mirrored == String(repeating: " ", count: 24 - Columns.width(drawn)) + drawn)
    }

    @Test("A line that is too wide loses its end, which is on the left, and column 1 has no direction mark")
    func cutting() {
        #expect(text("› [x] \u{2068}abcdefghij\u{2069}", 12) == " \u{2068}abcd…\u{2069} [x] ‹")
        #expect(text("› [x] abcdefghij", 12) == "abcde… [x] ‹")
        #expect(text("\u{2068}鄧麗君鄧麗君\u{2069}", 6) == " \u{2068}鄧麗…\u{2069}")
        #expect(text("\u{2068}abc\u{2069}", 1) == " ")
        #expect(text("\u{2068}abc\u{2069}", 0) == "")
    }

    private func text(_ line: String, _ columns: Int) -> String {
        StyledLine(line).mirrored(columns: columns).map(\.text).joined()
    }

    @Test("Styles stay with their text, and a highlighted row is highlighted from its left end")
    func styles() {
        let matched = StyledLine("› [x] ", .highlighted) + Matches.line("\u{2068}محمد\u{2069}", "مح", .plain)
        #expect(
            matched.mirrored(columns: 12) == [
                .init(text: "  ", style: .highlighted), .init(text: "\u{2068}", style: .plain),
                .init(text: "مح", style: .match), .init(text: "مد\u{2069}", style: .plain),
                .init(text: " ", style: .highlighted), .init(text: "[x]", style: .highlighted),
                .init(text: " ", style: .highlighted), .init(text: "‹", style: .highlighted),
            ])
        #expect(
            StyledLine("a").mirrored(columns: 2) == [.init(text: " ", style: .plain), .init(text: "a", style: .plain)])
    }

    @Test("A match in an isolate leaves no stray direction mark, in any language")
    func matches() {
        let line = Matches.line("\u{2068}محمد\u{2069}", "مح", .plain) + "x"
        #expect(line.clipped(columns: 20).map(\.text).joined() == " \u{2068}محمد\u{2069}x")
        for columns in 0...8 {
            for drawn in [line.clipped(columns: columns), line.mirrored(columns: columns)] {
                let drawn = drawn.map(\.text).joined()
                #expect(Isolates.open(in: drawn).isEmpty && !drawn.contains("\u{FFFD}"), "\(drawn)")
            }
        }
    }

    @Test("Every line of an Arabic prompt fills its row exactly", arguments: AgentScreens.sizes.prefix(2))
    func prompts(size: ScreenSize) throws {
        for kind in ["access", "button", "manage", "pick", "keys", "notice"] {
            var driver = try Driver(
                PromptText(kind: kind, displayName: "鄧麗君 😀 مدير", keys: ["note", "groups"]), on: size, "ar")
            driver.row = { number, row in if number == 2 { row.name = "\u{2068}محمد الأحمد\u{2069}" } }
            driver.begin()
            for key in ["", "c", "?"] {
                driver.press(key)
                for line in driver.lines + [Hint.line(driver.screen.hints, columns: size.columns)] {
                    for columns in [size.columns, 7] {
                        let drawn = line.mirrored(columns: columns).map(\.text).joined()
                        #expect(Columns.width(drawn) == columns)
                        #expect(Isolates.open(in: drawn).isEmpty, "\(drawn)")
                        let first = try #require(drawn.unicodeScalars.first)
                        #expect(!Isolates.starts(first), "\(drawn)")
                    }
                }
            }
        }
    }

    @Test("A click anywhere in a row does what the row says")
    func clicks() throws {
        let fixture = try AgentFixture(environment: ["LANG": "ar_EG.UTF-8"])
        try fixture.registered()
        fixture.ask(PromptText())
        try fixture.see("[c] ‹")
        let row = try #require(fixture.terminal.screen.lines.firstIndex { $0.hasSuffix("[c] ‹") })
        fixture.terminal.send("\u{1B}[<0;78;\(row + 1)M")
        try fixture.see("Lovelace\u{2069} [ ] ‹")
        let third = try #require(fixture.terminal.screen.lines.firstIndex { $0.contains("Lanying") })
        fixture.terminal.send("\u{1B}[<0;1;\(third + 1)M")
        try fixture.see("Lanying\u{2069} [x] ‹")
        fixture.terminal.send("\u{1B}")
        try fixture.see("هل تغادر دون مشاركة؟")
        fixture.terminal.send("\u{1B}")
        #expect(try fixture.answer()?.level == "denied")
    }
}
