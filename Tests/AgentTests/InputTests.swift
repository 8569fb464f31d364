import Testing

@testable import contact_agent

@Suite("Keys, lines and columns")
struct InputTests {
    @Test(
        "Bytes become keys, also if they arrive one by one",
        arguments: [
            ("a", [Key.character("a")]), ("\r", [.enter]), ("\n", [.enter]), ("\u{7F}", [.backspace]),
            ("\u{15}", [.erase]), ("\u{1}", [.other]), ("é", [.character("é")]),
            ("語😀", [.character("語"), .character("😀")]),
            ("\u{1B}[A", [.other]), ("\u{1B}[1;5Aa", [.other, .character("a")]), ("\u{1B}OP", [.other]),
            ("\u{1B}y", [.other]), ("\u{1B}\u{1B}[Ay", [.escape, .other, .character("y")]),
            ("\u{1B}[200~yes\u{1B}[201~y", [.paste("yes"), .character("y")]),
            ("\u{1B}[200~a\u{1B}[A\u{1B}[201~", [.paste("a\u{1B}[A")]),
        ])
    func decoding(text: String, keys: [Key]) {
        var whole = KeyDecoder()
        #expect(whole.keys(from: Array(text.utf8)) == keys)
        var cut = KeyDecoder()
        var found: [Key] = []
        for byte in text.utf8 { found += cut.keys(from: [byte]) }
        #expect(found == keys)
        #expect(!cut.isUndecided)
    }

    @Test("A lone ESC is the Escape key only if nothing follows it")
    func loneEscape() {
        var decoder = KeyDecoder()
        do {
            let keys = decoder.keys(from: [0x1B])
            #expect(keys.isEmpty)
        }
        #expect(decoder.isUndecided)
        let settled = decoder.settle()
        #expect(settled == [.escape])
        do {
            let keys = decoder.keys(from: Array("[A".utf8))
            #expect(keys == [.character("["), .character("A")])
        }
    }

    @Test("An endless sequence and invalid UTF-8 become unknown keys")
    func nonsense() {
        var decoder = KeyDecoder()
        let endless = Array("\u{1B}[".utf8) + Array(repeating: UInt8(ascii: "1"), count: KeyDecoder.maximumSequence)
        do {
            let keys = decoder.keys(from: endless)
            #expect(keys == [.other])
        }
        #expect(!decoder.isUndecided)
        do {
            let keys = decoder.keys(from: [0xFF, 0xC0, 0xE2, 0x28, 0xA1])
            #expect(keys == [.other, .other, .other])
        }
    }

    @Test("A long paste is cut at its limit")
    func longPaste() {
        var decoder = KeyDecoder()
        let text = String(repeating: "x", count: 10 * KeyDecoder.maximumPaste)
        let keys = decoder.keys(from: Array("\u{1B}[200~\(text)\u{1B}[201~".utf8))
        #expect(keys == [.paste(String(repeating: "x", count: KeyDecoder.maximumPaste))])
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
        #expect(ShownText.quoted(text, columns: 40) == line)
    }

    @Test("A line is drawn without control characters, even if the agent's own text has some")
    func lastDoor() {
        #expect(
            StyledLine("a\u{1B}b\u{202E}c\nd").drawn(columns: 20, withStyles: true) == "a\u{FFFD}b\u{FFFD}c\u{FFFD}d")
        #expect(StyledLine.bold("ab").drawn(columns: 1, withStyles: true) == "\u{1B}[1m…\u{1B}[0m")
        #expect(StyledLine.bold("ab").drawn(columns: 2, withStyles: false) == "ab")
    }
}
