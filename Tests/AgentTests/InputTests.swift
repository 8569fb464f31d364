import BrokerFormatting
import Testing

@testable import contact_agent

@Suite("Keys, lines and columns")
struct InputTests {
    /// The keys of these bytes, after which no input comes.
    private func keys(_ bytes: some Sequence<UInt8>) -> [Key] {
        var sequence = KeySequence()
        let keys = bytes.flatMap { sequence.take(CInt($0)) }
        return keys + sequence.settle()
    }

    @Test(
        "Bytes that are no key of the terminal's terminfo entry become keys",
        arguments: [
            ("a", [Key.character("a")]), ("\r", [.enter]), ("\n", [.enter]), ("\u{7F}", [.backspace]),
            ("\u{15}", [.erase]), ("\t", [.tab]), ("\u{1}", [.other]), ("é", [.character("é")]),
            ("語😀", [.character("語"), .character("😀")]),
            ("\u{1B}[A\u{1B}[B", [.up, .down]), ("\u{1B}OC\u{1B}OD", [.right, .left]),
            ("\u{1B}[1;5Aa", [.other, .character("a")]), ("\u{1B}OP", [.other]),
            ("\u{1B}O5Py", [.other, .character("y")]),
            ("\u{1B}[[Ay", [.other, .character("y")]), ("\u{1B}[Z", [.backTab]), ("\u{1B}[3~", [.delete]),
            ("\u{1B}", [.escape]), ("\u{1B}\u{1B}", [.escape, .escape]), ("\u{1B}y", [.other]),
            ("\u{1B}\u{1B}[Ay", [.escape, .up, .character("y")]),
            ("\u{1B}[200~yes\u{1B}[201~y", [.paste("yes"), .character("y")]),
            ("\u{1B}[200~a\u{1B}[A\u{1B}[201~", [.paste("a\u{1B}[A")]),
            ("\u{1B}[200~\u{1B}[20\u{1B}[201~", [.paste("\u{1B}[20")]),
            ("\u{1B}[<0;5;3My", [.click(row: 2, column: 4), .character("y")]), ("\u{1B}[<0;5;3m", []),
            ("\u{1B}[<64;1;1M\u{1B}[<65;1;1M", [.scrollUp, .scrollDown]), ("\u{1B}[<2;1;1M", []),
            ("\u{1B}[<20;200;60M", [.click(row: 59, column: 199)]), ("\u{1B}[<0;0;0M", []), ("\u{1B}[<0;1M", [.other]),
            ("\u{1B}[<0;99999999999999999999;1M", [.other]),
            ("\u{1B}[M %#y", [.click(row: 2, column: 4), .character("y")]),
        ])
    func decoding(text: String, expected: [Key]) {
        #expect(keys(text.utf8) == expected)
    }

    @Test(
        "What a terminal reports is one key without a meaning, whatever letters are in it",
        arguments: [
            "\u{1B}]ly\u{1B}\\", "\u{1B}]11;rgb:dddd/aaaa/yyyy\u{7}", "\u{1B}P1$ry\u{1B}\\", "\u{1B}_Gd\u{1B}\\",
            "\u{1B}[12;40R", "\u{1B}[?62;c", "\u{1B}[>0;276;0c", "\u{1B}]dady",
        ])
    func reports(text: String) {
        #expect(keys(text.utf8) == [.other])
    }

    @Test("A sequence without an end, and invalid UTF-8, become unknown keys")
    func nonsense() {
        let endless = Array("\u{1B}[".utf8) + Array(repeating: UInt8(ascii: "1"), count: KeySequence.maximumLength)
        #expect(keys(endless) == [.other])
        #expect(keys(endless + [UInt8(ascii: "y")]) == [.other, .character("y")])
        #expect(keys(Array("\u{1B}[12".utf8)) == [.other])
        #expect(keys([0xE8, 0xAA]) == [.other])
        #expect(keys([0xFF, 0xC0, 0xE2, 0x28, 0xA1]) == [.other, .other, .other, .character("("), .other])
        #expect(keys([0xED, 0xA0, 0x80, 0xF4, 0x90, 0x80, 0x80]) == [.other, .other])
    }

    @Test("A long paste is cut at its limit")
    func longPaste() {
        let text = String(repeating: "x", count: 10 * KeySequence.maximumPaste)
        let pasted = keys("\u{1B}[200~\(text)\u{1B}[201~".utf8)
        #expect(pasted == [.paste(String(repeating: "x", count: KeySequence.maximumPaste))])
    }

    @Test("The rest of a paste whose beginning was discarded is discarded, up to its end or a pause")
    func discardedPaste() {
        let start = ContinuousClock.now
        for (rest, delay, expected) in [
            ("yy\u{1B}[201~y", Duration.zero, [Key.character("y")]), ("yy", .zero, []),
            ("y", KeySequence.pasteTime, [.character("y")]),
        ] {
            var sequence = KeySequence()
            for byte in "\u{1B}[200~y".utf8 { _ = sequence.take(CInt(byte), at: start) }
            sequence.discard()
            let found = rest.utf8.flatMap { sequence.take(CInt($0), at: start + delay) }
            #expect(found == expected)
        }
    }

    @Test("A line takes letters up to its limit, and deletes them one by one or all at once")
    func editing() {
        var editor = LineEditor()
        for _ in 0...LineEditor.maximumLength { _ = editor.press(.character("é")) }
        #expect(editor.text.count == LineEditor.maximumLength)
        for (key, changes, length) in [
            (Key.backspace, true, LineEditor.maximumLength - 1), (.erase, true, 0), (.backspace, false, 0),
            (.paste("a\nb\u{1B}c"), true, 3), (.enter, false, 3),
        ] {
            let changed = editor.press(key)
            #expect(changed == changes)
            #expect(editor.text.count == length)
        }
        #expect(editor.text == "abc")
    }

    @Test(
        "Text is cut to the given number of columns",
        arguments: [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("語語", 4, "語語"), ("語語", 3, "語…"), ("abc", 0, "")])
    func clipping(text: String, columns: Int, clipped: String) {
        #expect(Columns.clip(text, to: columns) == clipped)
    }

    @Test("A path that is cut keeps both ends")
    func clippingInTheMiddle() {
        #expect(Columns.clipMiddle("/usr/bin/mail", to: 13) == "/usr/bin/mail")
        #expect(Columns.clipMiddle("/usr/local/bin/mail", to: 11) == "/usr/…/mail")
    }

    @Test(
        "Untrusted text is shown as one harmless line",
        arguments: [
            ("plain", "“plain”"), ("a\r\nb\tc", "“a b c”"), ("say \"x\"", "“say x”"), ("\u{1B}[2Jx", "“[2Jx”"),
            ("a\u{202E}b\u{2066}c", "“abc”"),
            ("a\u{200B}b\u{FEFF}", "“ab”"), ("x” is verified", "“x is verified”"), ("", "“”"), ("\u{9B}2J", "“2J”"),
        ])
    func shown(text: String, line: String) {
        #expect(ShownText.quoted(text, columns: 40, .inEnglish) == line)
    }

    @Test("A line is drawn without control characters, even if the agent's own text has some")
    func lastDoor() {
        let line = StyledLine("a\u{1B}b\u{202E}c\nd").clipped(columns: 20)
        #expect(line == [.init(text: "a\u{FFFD}b\u{FFFD}c\u{FFFD}d", style: .plain)])
        #expect(StyledLine.bold("ab").clipped(columns: 1) == [.init(text: "…", style: .bold)])
        #expect(StyledLine.bold("ab").clipped(columns: 2) == [.init(text: "ab", style: .bold)])
    }
}
