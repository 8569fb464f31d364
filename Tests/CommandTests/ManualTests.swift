import BrokerJSON
import Glibc
import Testing

@Suite("Manual pages")
struct ManualTests {
    @Test(
        "A manual names every command and option", arguments: ["contactbook.1", "contactctl.1", "contactbrokerd.8"])
    func namesAll(_ page: String) throws {
        let program = String(page.prefix { $0 != "." })
        let words = try words(of: program)
        let manual = try text(of: page)
        let missing = words.filter { !manual.contains($0) }
        #expect(words.count > 3)
        #expect(missing.isEmpty, "\(page) lacks \(missing)")
    }

    @Test(
        "No line of a manual is wider than a terminal of 80 columns", .enabled(if: access("/usr/bin/groff", X_OK) == 0),
        arguments: ["contactbook.1", "contact-agent.1", "contactctl.1", "contactbrokerd.8", "contactbroker-policy.5"])
    func width(_ page: String) throws {
        let arguments = ["-mdoc", "-Tascii", "-rLL=78n", "-P-cbou", "\(Self.root)/Documentation/man/\(page)"]
        let shown = try RunningProgram("/usr/bin/groff", arguments, runtime: "/nonexistent").finish()
        let lines = shown.output.split(separator: "\n")
        #expect(lines.count > 20, "\(shown.error)")
        let wide = lines.filter { $0.count > 80 }
        #expect(wide.isEmpty, "\(wide)")
    }

    @Test("The completions of contact-agent offer every option of its help, and no other")
    func agentCompletions() throws {
        let help = try RunningProgram("contact-agent", ["--help"], runtime: "/nonexistent").finish().output
        func options(_ text: String, _ mark: String) -> Set<Substring> {
            Set(text.split { !$0.isLetter && $0 != "-" }.filter { $0.hasPrefix(mark) && $0.count > 2 })
        }
        let expected = options(help, "--")
        #expect(expected.count == 5)
        for script in ["contact-agent", "_contact-agent"] {
            #expect(options(try text(at: "packaging/completions/\(script)"), "--") == expected)
        }
        let fish = try text(at: "packaging/completions/contact-agent.fish")
        #expect(Set(fish.matches(of: #/ -l ([a-z]+)/#).map { "--\($0.1)"[...] }) == expected)
    }

    /// The mdoc words that a program's manual page must contain.
    private func words(of program: String) throws -> [String] {
        guard program == "contactbrokerd" else {
            let said = try RunningProgram(program, ["--experimental-dump-help"], runtime: "/nonexistent").finish()
            return words(try #require(try JSONDocument(parsing: Array(said.output.utf8)).root["command"]))
        }
        // contactbrokerd has no parser that lists its options, so the test takes them from its help.
        let help = try RunningProgram(program, ["--help"], runtime: "/nonexistent").finish().output
        return Set(help.split { !$0.isLetter && $0 != "-" }.filter { $0.hasPrefix("--") && $0.count > 2 }).sorted().map
        { "Fl -\($0.dropFirst(2))" }
    }

    /// The mdoc forms of a command's options and of its subcommands.
    private func words(_ command: JSONValue) -> [String] {
        var words: [String] = []
        for argument in command["arguments"]?.elements.map(Array.init) ?? []
        where argument["shouldDisplay"]?.bool != false {
            for name in argument["names"]?.elements.map(Array.init) ?? [] where name["kind"]?.string == "long" {
                words.append("Fl -\(name["name"]?.string ?? "?")")
            }
        }
        for below in command["subcommands"]?.elements.map(Array.init) ?? [] where below["commandName"]?.string != "help"
        {
            words.append(".It Cm \(below["commandName"]?.string ?? "?")")
            words += self.words(below)
        }
        return words
    }

    private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

    private func text(of page: String) throws -> String { try text(at: "Documentation/man/\(page)") }

    /// The text of a file of this project.
    private func text(at place: String) throws -> String {
        let file = try #require(fopen("\(Self.root)/\(place)", "r"), "there is no \(place)")
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 262_144)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
