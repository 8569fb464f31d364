import PseudoTerminal
import Testing

@Suite("The screen model of the tests")
struct ScreenTests {
    private func screen(_ text: String, columns: Int = 10, rows: Int = 3) -> Screen {
        var screen = Screen(columns: columns, rows: rows)
        screen.draw(text.utf8)
        return screen
    }

    @Test(
        "It shows what a terminal would show",
        arguments: [
            ("abc", ["abc", "", ""]), ("a\r\nb", ["a", "b", ""]), ("a\nb", ["a", " b", ""]),
            ("abc\rx", ["xbc", "", ""]),
            ("abc\u{8}x", ["abx", "", ""]), ("0123456789ab", ["0123456789", "ab", ""]),
            ("\u{1B}[?7l0123456789ab", ["012345678b", "", ""]), ("1\r\n2\r\n3\r\n4", ["2", "3", "4"]),
            ("abc\u{1B}[2J\u{1B}[Hx", ["x", "", ""]), ("abc\u{1B}[2D\u{1B}[Kx", ["ax", "", ""]),
            ("\u{1B}[2;3Hx", ["", "  x", ""]), ("\u{1B}[1;31mab\u{1B}[0m", ["ab", "", ""]),
            ("\u{1B}]0;title\u{7}ab", ["ab", "", ""]), ("\u{1B}]0;title\u{1B}\\ab", ["ab", "", ""]),
            ("鄧麗x", ["鄧麗x", "", ""]), ("e\u{301}x", ["e\u{301}x", "", ""]),
            ("ab\u{1B}[?1049hcd", ["  cd", "", ""]), ("ab\u{1B}[?1049hcd\u{1B}[?1049le", ["abe", "", ""]),
        ])
    func shows(text: String, lines: [String]) {
        #expect(screen(text).lines == lines)
    }

    @Test("Invalid UTF-8 and positions outside the screen do no harm")
    func bounds() {
        let far = screen("\u{1B}[99;99Hx\u{1B}[99A\u{1B}[99Dy\u{1B}[;;;Hz\u{1B}[999999999999999999999Bw")
        #expect(far.lines == ["z", " w", "         x"])
        var torn = Screen(columns: 10, rows: 3)
        torn.draw([0xFF, 0xE9, 0x82, 0x41])
        #expect(torn.lines[0] == "\u{FFFD}A")
    }

    @Test("It keeps what fits when it shrinks")
    func resizing() {
        var small = screen("abcdef\r\nx")
        small.resize(columns: 3, rows: 1)
        #expect(small.lines == ["abc"])
        small.draw("\rz".utf8)
        #expect(small.lines == ["zbc"])
    }
}
