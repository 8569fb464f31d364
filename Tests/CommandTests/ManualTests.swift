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

    private func text(of page: String) throws -> String {
        let here = #filePath
        let root = here.split(separator: "/").dropLast(3).joined(separator: "/")
        let file = try #require(fopen("/\(root)/Documentation/man/\(page)", "r"), "there is no \(page)")
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 262_144)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
