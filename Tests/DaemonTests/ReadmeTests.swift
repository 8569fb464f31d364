import Glibc
import Testing

@Suite("What the README says")
struct ReadmeTests {
    private static let top = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }

    /// The lines of a section's blocks that call a program, without the prompt sign.
    private static func commands(of section: String, calling program: String) throws -> [String] {
        let lines = DaemonFixture.text(of: top + "/README.md").split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0 == "## \(section)" }, "no section \(section)")
        var commands: [String] = []
        var isBlock = false
        for line in lines[(start + 1)...].prefix(while: { !$0.hasPrefix("## ") }) {
            if line.hasPrefix("```") { isBlock.toggle() }
            let command = line.hasPrefix("$ ") ? line.dropFirst(2) : line
            if isBlock, command.hasPrefix(program + " ") { commands.append(String(command)) }
        }
        return commands
    }

    @Test("Every command of the third session works as it stands there, on the book of the first")
    func thirdSession() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        // Without notes: who shares everything as the first session does has not turned them on.
        let imported = try fixture.contactbook("import", Self.top + "/Examples/sample.vcf") {
            try person.answer(try person.prompt(), #""level":"full","lifetime":"untilRevoked""#)
        }
        #expect(imported.end == .exited(0), "\(imported.errors)")
        try #require(mkdir(fixture.folder + "/Downloads", 0o700) == 0)
        try DaemonFixture.write(
            Array("First Name,Last Name,E-mail 1 - Value\nAda,Lovelace,ada@example.org\n".utf8),
            to: fixture.folder + "/Downloads/contacts.csv")
        let commands = try Self.commands(of: "A third session", calling: "contactbook")
        #expect(commands.count > 10)
        for command in commands {
            let done = try Command(
                "/bin/sh", ["-c", "cd '\(fixture.folder)' && \(command)"], in: fixture,
                environment: [
                    "PATH": DaemonFixture.programs + ":/usr/bin:/bin", "HOME": fixture.folder, "EDITOR": "true",
                ])
            #expect(done.end == .exited(0), "\(command): \(done.output)\(done.errors)")
        }
    }
}
