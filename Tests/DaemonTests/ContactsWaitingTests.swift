import Glibc
import PseudoTerminal
import Testing

/// Tests what the Contacts library tells the person whose answer a program needs.
@Suite("What a program that uses the Contacts library says while it waits, and after")
struct ContactsWaitingTests {
    private static let probe = DaemonFixture.programs + "/ContactsProbe"
    private static let line = "Waiting for your answer: open contact-agent in another terminal."

    /// - Parameter name: of the program's copy, which makes it an app of its own.
    private func terminal(_ word: String, as name: String, in fixture: DaemonFixture) throws -> PseudoTerminal {
        let path = fixture.folder + "/" + name
        try DaemonFixture.copy(Self.probe, to: path)
        let words = fixture.prefix + [path, word]
        return try PseudoTerminal(
            words[0], arguments: Array(words.dropFirst()),
            environment: ["TERM": "xterm", "CONTACTBROKER_RUNTIME_DIR": fixture.runtime, "PATH": "/usr/bin:/bin"])
    }

    @Test("At a terminal a program says once where to answer, and a program that does not want this says nothing")
    func line() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let mute = try terminal("mute", as: "quiet", in: fixture)
        let prompt = try person.prompt()
        let speaking = try terminal("speak", as: "loud", in: fixture)
        // The mute program has waited for longer than the other one when the line appears.
        try speaking.wait(for: Self.line)
        try person.answer(prompt, #""level":"full""#)
        try person.answer(.everything)
        for terminal in [mute, speaking] {
            #expect(try terminal.waitForExit() == .exited(0))
            #expect(terminal.text().split(separator: "\r\n").filter { $0 == "counted 4" }.count == 2)
        }
        #expect(speaking.text().split(separator: Self.line, omittingEmptySubsequences: false).count == 2)
        #expect(!mute.text().contains(Self.line))
    }

    @Test("A request for access and a picker say where to answer, too", arguments: ["request", "pick", "offer"])
    func kinds(word: String) throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let program = try terminal(word, as: "app", in: fixture)
        try program.wait(for: Self.line)
        try person.answer(.dismissed)
        #expect(try program.waitForExit() == .exited(0))
    }

    @Test("If standard error is no terminal, the library writes nothing to it")
    func file() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let program = try Command(Self.probe, ["request"], in: fixture) {
            let prompt = try person.prompt()
            // The program has waited for longer than another one when the line of that appears.
            try terminal("request", as: "other", in: fixture).wait(for: Self.line)
            try person.answer(prompt, #""level":"full""#)
        }
        #expect(program.output == "true\n3\n" && program.errors.isEmpty)
    }

    @Test("The description of an error says what to do if no agent runs, or if nobody answers")
    func descriptions() throws {
        let fixture = try DaemonFixture()
        let withoutAgent = try Command(Self.probe, ["explained"], in: fixture)
        #expect(
            withoutAgent.output == """
                This app may not access contacts: nothing can ask the person, because contact-agent is not running; \
                open contact-agent in another terminal, then retry and answer there

                """)
        let person = try fixture.person()
        let unanswered = try Command(Self.probe, ["explained"], in: fixture) { try person.answer(.dismissed) }
        #expect(
            unanswered.output == """
                This app may not access contacts: the person did not answer the prompt; \
                open contact-agent in another terminal, then retry and answer there

                """)
    }
}
