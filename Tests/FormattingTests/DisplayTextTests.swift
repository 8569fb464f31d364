import BrokerModel
import Testing

@testable import BrokerFormatting

@Suite("Text for a line of a terminal")
struct DisplayTextTests {
    @Test(
        "Printable text is kept",
        arguments: [
            "Ada Lovelace", "José Núñez", "Łukasz", "王小明", "Иван", "محمد", "कुमार", "O’Brien", "x²—“y”", "e\u{301}", "🙂",
        ])
    func kept(text: String) {
        #expect(DisplayText.line(text) == text)
    }

    @Test(
        "Characters that could rewrite the line or hide text are made harmless",
        arguments: [
            ("a\u{1B}[2Jb", "a[2Jb"), ("a\u{9B}31mb", "a31mb"), ("a\u{7}\u{8}\u{0}b", "ab"), ("a\u{7F}b", "ab"),
            ("a\nb\r\nc\u{85}d", "a b c d"), ("a\u{2028}b\u{2029}c", "a b c"), ("a\u{B}\u{C}b", "a b"),
            ("  a \t  b  ", "a b"),
            ("a\u{202E}b\u{202C}c\u{202A}\u{202B}\u{202D}", "abc"), ("a\u{2066}b\u{2067}c\u{2068}\u{2069}", "abc"),
            ("a\u{200E}b\u{200F}c\u{61C}", "abc"), ("a\u{200B}b\u{200C}c\u{200D}d\u{2060}\u{FEFF}\u{AD}", "abcd"),
            ("a\u{E0041}\u{E0001}b", "ab"), ("a\u{FFF9}b\u{FFFB}", "ab"), ("a\u{FE0F}\u{FE00}\u{E0100}b", "ab"),
            ("a\u{180E}\u{180B}\u{34F}b", "ab"), ("a\u{115F}\u{1160}\u{3164}\u{FFA0}b", "ab"), ("a\u{2800}b", "a b"),
            ("a\u{E000}\u{F0000}\u{10FFFF}\u{378}b", "ab"), ("a\u{A0}\u{3000}\u{2003}b", "a b"), ("\u{301}a", "a"),
            ("a \u{301}b", "a b"), ("\u{202E}\n", ""), ("", ""),
        ])
    func stripped(text: String, line: String) {
        #expect(DisplayText.line(text) == line)
    }

    @Test("Every remaining character is visible, and none is a line break")
    func everyCharacter() {
        // The planes with characters, and a few code points of empty and private ones.
        let values = Array(0...0x3_2FFF as ClosedRange<UInt32>) + Array(0xE_0000...0xE_0FFF) + [0xF_0000, 0x10_FFFF]
        for value in values {
            guard let scalar = Unicode.Scalar(value) else { continue }
            for kept in DisplayText.line("a\(Character(scalar))b").unicodeScalars {
                switch kept.properties.generalCategory {
                case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
                    Issue.record("U+\(String(value, radix: 16)) is kept")
                case .spaceSeparator: if kept != " " { Issue.record("U+\(String(value, radix: 16)) is a space") }
                default:
                    if kept.properties.isDefaultIgnorableCodePoint {
                        Issue.record("U+\(String(value, radix: 16)) hides")
                    }
                }
            }
        }
    }

    @Test("The number of combining marks on a letter is bounded")
    func marks() {
        let text = "a" + String(repeating: "\u{301}", count: 50) + "b"
        #expect(Array(DisplayText.line(text).unicodeScalars).count == 6)
    }

    @Test(
        "A line is truncated to its columns; wide characters count two",
        arguments: [
            ("Lovelace", 8, "Lovelace"), ("Lovelace", 7, "Lovela…"), ("Lovelace", 1, "…"), ("Lovelace", 0, ""),
            ("", 0, ""),
            ("Ada Lovelace", 5, "Ada…"), ("王小明", 6, "王小明"), ("王小明", 5, "王小…"), ("王小明", 4, "王…"), ("王小明", 2, "…"),
            ("Ａb", 3, "Ａb"), ("e\u{301}e\u{301}", 2, "e\u{301}e\u{301}"), ("🙂🙂", 3, "🙂…"), ("a\nb", 3, "a b"),
            ("abc", -1, ""),
        ])
    func clipped(text: String, columns: Int, line: String) {
        #expect(DisplayText.line(text, columns: columns) == line)
        #expect(DisplayText.columns(of: DisplayText.line(text, columns: columns)) <= max(0, columns))
    }

    @Test("A cell is padded or truncated to its width")
    func cells() {
        #expect(DisplayText.cell("Ada", columns: 5) == "Ada  ")
        #expect(DisplayText.cell("王小明", columns: 5) == "王小…")
        #expect(DisplayText.cell("王小明", columns: 6) == "王小明")
        #expect(DisplayText.cell("王小明", columns: 4) == "王… ")
    }

    @Test("Only the beginning of a text of a million characters is read")
    func long() {
        #expect(DisplayText.line(String(repeating: "x", count: 1_000_000)).count == DisplayText.inputSize)
    }
}
