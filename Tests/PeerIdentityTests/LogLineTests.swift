import Testing

@testable import contactbrokerd

@Suite("Lines on the broker's standard error")
struct LogLineTests {
    @Test("No character of an app's text begins a line, hides text or changes its direction")
    func oneLine() {
        #expect("a\n\u{9B}b\u{202E}c\u{2066}\u{200B}\u{2028}é".onOneLine == #"a  b\u{202E}c\u{2066}\u{200B}\u{2028}é"#)
    }

    @Test("A long line is broken between words, and no word is changed", arguments: [21, 40, 80, 400])
    func wrapped(columns: Int) {
        let line =
            "contactbrokerd: session mode cannot protect a user from their own programs: any of them outside a sandbox"
        let rows = line.wrapped(to: columns).split(separator: "\n")
        #expect(rows.allSatisfy { $0.count <= columns } && (rows.count > 1) == (line.count > columns))
        #expect(rows.joined(separator: " ").split(separator: " ") == line.split(separator: " "))
    }
}
