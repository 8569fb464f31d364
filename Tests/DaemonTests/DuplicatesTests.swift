import PseudoTerminal
import Testing

@Suite("Finding duplicates with contactbook")
struct DuplicatesTests {
    private let fixture: DaemonFixture

    init() throws {
        fixture = try DaemonFixture.withContactbook()
    }

    private func add(_ given: String, _ family: String, _ more: String...) throws {
        let added = try Command(
            DaemonFixture.programs + "/contactbook", ["add", "--given", given, "--family", family] + more, in: fixture)
        #expect(added.end == .exited(0), "\(added.errors)")
    }

    private func twins() throws {
        try add("Ada", "Lovelace", "--email", "ada@example.org", "--title", "Countess", "--phone", "+44 20 7946 0001")
        try add("Bob", "Babbage", "--phone", "+44 20 7946 0002")
        try add("Cleo", "Nile")
        try add("Ada", "Lovelace", "--email", "ada@example.org", "--title", "Writer", "--phone", "+44 20 7946 0003")
        try add("Bob", "Babbage", "--phone", "+44 20 7946 0002", "--nickname", "Bobby")
    }

    private func terminal() throws -> PseudoTerminal {
        try PseudoTerminal(
            DaemonFixture.programs + "/contactbook", arguments: ["duplicates"],
            environment: [
                "TERM": "xterm", "CONTACTBROKER_RUNTIME_DIR": fixture.runtime, "PATH": "/usr/bin:/bin",
                "XDG_STATE_HOME": fixture.folder + "/own-state",
            ], columns: 120)
    }

    @Test(
        "Cards of one container are not linked automatically, and duplicates --list lists them with their identifiers")
    func listing() throws {
        let none = try fixture.contactbook("duplicates", "--list")
        #expect(none.end == .exited(1) && none.output.isEmpty)
        #expect(none.errors.contains("no contacts seem to be one person"))
        try twins()
        #expect(try fixture.contactbook("list").output.split(separator: "\n").count == 6)
        let listed = try fixture.contactbook("duplicates", "--list")
        let lines = listed.output.split(separator: "\n")
        #expect(listed.end == .exited(0) && lines.count == 6, "\(listed.output) \(listed.errors)")
        #expect(lines.contains("Ada Lovelace: the same name and a common e-mail address"))
        #expect(lines.contains("Bob Babbage: the same name and a common phone number"))
        let refused = try fixture.contactbook("duplicates")
        #expect(refused.end == .exited(2) && refused.errors.contains("contactbook duplicates --list"))
    }

    @Test("On a terminal, one key merges two cards or links them, what is lost is named, and undo restores them")
    func deciding() throws {
        try twins()
        let before = try fixture.book()
        let terminal = try terminal()
        try terminal.wait(for: "1 of 2: Bob Babbage seems to be there twice: the same name and a common phone number.")
        try terminal.see("[m] merge: one card stays:", thenPress: "l")
        try terminal.wait(for: "2 of 2: Ada Lovelace seems to be there twice")
        try terminal.wait(for: "loses of the second: job title.")
        try terminal.wait(for: "the second question") { screen in
            screen.text.split(separator: "\n").last { $0.contains("one card stays:") }?.last { $0 != " " } == ":"
        }
        terminal.send("m")
        try terminal.wait(for: "1 linked, 1 merged; to revert: contactbook undo")
        #expect(try terminal.waitForExit() == .exited(0))
        #expect(try fixture.contactbook("list").output.split(separator: "\n").count == 4)
        let ada = try fixture.contactbook("show", "ada").output
        #expect(ada.contains("7946 0001") && ada.contains("7946 0003") && ada.contains("Countess"), "\(ada)")
        #expect(!ada.contains("Writer"))
        #expect(try fixture.contactbook("show", "bob").output.contains("Bobby"))
        #expect(try fixture.contactbook("show", "--cards", "bob").output.contains("Babbage"))
        // Each decision is one step.
        #expect(try fixture.contactbook("undo").output.hasPrefix("undone: merge two cards of Ada Lovelace"))
        #expect(try fixture.contactbook("undo").output.hasPrefix("undone: link two cards of Bob Babbage"))
        #expect(try fixture.book() == before)
    }

    @Test("Return leaves the cards as they are, and linked cards cannot be merged")
    func leaving() throws {
        try add("Ada", "Lovelace", "--email", "ada@example.org")
        try add("Ada", "Lovelace", "--email", "ada@example.org")
        try add("Countess", "Lovelace", "--email", "c@example.org")
        let before = try fixture.book()
        let first = try terminal()
        try first.see("[m] merge: one card stays:", thenPress: "\r")
        try first.wait(for: "0 linked, 0 merged")
        #expect(try first.waitForExit() == .exited(0))
        #expect(try fixture.book() == before)
        let cards = try fixture.contactbook("list", "--identifiers").output.split(separator: "\n")
        let ada = try #require(cards.first { $0.contains("Ada") }?.split(separator: " ").last)
        #expect(try fixture.contactbook("link", String(ada), "countess").end == .exited(0))
        let second = try terminal()
        try second.wait(for: "They cannot be merged: one of them consists of linked cards.")
        try second.see("s, l or q:", thenPress: "l")
        try second.wait(for: "1 linked, 0 merged")
        #expect(try second.waitForExit() == .exited(0))
        #expect(try fixture.contactbook("list").output.split(separator: "\n").count == 2)
    }
}
