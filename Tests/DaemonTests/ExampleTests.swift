import BrokerJSON
import Glibc
import Testing

@Suite("The example scripts")
struct ExampleTests {
    /// A Python that has the `varlink` package: `CONTACTBROKER_PYTHON`, or the first on `PATH`.
    private static let python: String? = {
        let folders = getenv("PATH").map { String(cString: $0) }?.split(separator: ":").map(String.init) ?? []
        let named = getenv("CONTACTBROKER_PYTHON").map { String(cString: $0) }
        let candidates = (named.map { [$0] } ?? []) + folders.map { $0 + "/python3" }
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nothing) }
        return candidates.first { path in
            guard access(path, X_OK) == 0 else { return false }
            let program = try? ChildProcess(
                path, ["-c", "import varlink"], environment: environment,
                descriptors: [(0, nothing), (1, nothing), (2, nothing)])
            return (try? program?.waitForEnd()) == .exited(0)
        }
    }()

    private static let environment = ["PATH", "HOME", "PYENV_ROOT"].reduce(into: [String: String]()) {
        $0[$1] = getenv($1).map { String(cString: $0) }
    }

    private static let script = Document.top + "/Examples/ask.py"

    @Test("ask.py has at most ten lines")
    func ten() {
        #expect(
            DaemonFixture.text(of: Self.script).split(separator: "\n", omittingEmptySubsequences: false).count <= 11)
        #expect(DaemonFixture.text(of: Self.script).contains("import os, sys, varlink\n"))
    }

    @Test(
        "ask.py, with Python and the varlink package alone, reads a contact once the person agrees",
        .enabled(if: python != nil, "no Python with the package varlink; CONTACTBROKER_PYTHON names one"))
    func asks() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let python = try #require(Self.python)
        let agreed = try Command(python, [Self.script, "ada"], in: fixture, environment: Self.environment) {
            let prompt = try person.prompt()
            #expect(prompt["query"]?.string == "ada")
            #expect(prompt["interpreter"]?.bool == true)
            #expect(prompt["lifetimes"]?.elements?.compactMap(\.string) == ["process"])
            let rows = try person.search(prompt, "ada")
            try person.answer(prompt, #""level":"limited","identifiers":\#(quoted(rows.map(\.identifier)))"#)
        }
        #expect(agreed.end == .exited(0), "\(agreed.errors)")
        #expect(agreed.output == "Ada Lovelace\n  +44 20 7946 0001\n  ada@example.org\n")
        // A grant to one run of the script does not extend to the next.
        let refused = try Command(python, [Self.script, "ada"], in: fixture, environment: Self.environment) {
            try person.answer(person.prompt())
        }
        #expect(refused.end == .exited(0), "\(refused.errors)")
        #expect(refused.output.isEmpty)
    }

    @Test(
        "watch.py prints changes to granted contacts, and nothing about others",
        .enabled(if: python != nil, "no Python with the package varlink; CONTACTBROKER_PYTHON names one"))
    func watches() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let keeper = try fixture.keeper(with: person)
        let script = Self.script.replacing("ask.py", with: "watch.py")
        let watcher = try Command.Running(
            try #require(Self.python), [script], in: fixture, environment: Self.environment)
        defer { watcher.end() }
        let prompt = try person.prompt()
        let ada = try #require(person.search(prompt, "ada").first).identifier
        try person.answer(prompt, #""level":"limited","identifiers":["\#(ada)"]"#)
        #expect(try watcher.wait(for: 1) == ["watching"])

        let known = try keeper.fetch(#""predicate":{"name":"ada"}"#).identifiers
        let others = try keeper.fetch(#""predicate":{"name":"grace"}"#).identifiers
        func rename(_ identifier: String?, _ name: String) throws {
            let contact = #"{"identifier":"\#(identifier ?? "")","familyName":"\#(name)"}"#
            #expect(try keeper.save([#"{"operation":"update","contact":\#(contact)}"#]).error == nil)
        }
        try rename(others.first, "Nobody")
        try rename(known.first, "King")
        #expect(try watcher.wait(for: 2).dropFirst() == ["updateContact Ada King"])
        let deleted = #"{"operation":"delete","contact":{"identifier":"\#(known.first ?? "")"}}"#
        #expect(try keeper.save([deleted]).error == nil)
        let said = try watcher.wait(for: 3)
        #expect(said.count == 3 && said[2].hasPrefix("deleteContact "))
        #expect(!said.contains { $0.contains("Nobody") })
    }

    @Test(
        "pick.py asks for one address and prints it, or nothing if the person declines",
        .enabled(if: python != nil, "no Python with the package varlink; CONTACTBROKER_PYTHON names one"))
    func picks() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let python = try #require(Self.python)
        let script = Self.script.replacing("ask.py", with: "pick.py")
        let given = try Command(python, [script], in: fixture, environment: Self.environment) {
            let prompt = try person.prompt()
            let ada = try #require(person.search(prompt, "ada").first).identifier
            let value = #"{"contact":"\#(ada)","key":"emailAddresses","value":"1"}"#
            #expect(try person.answer(prompt, #""picked":[\#(value)]"#).error == nil)
        }
        #expect(given.end == .exited(0), "\(given.errors)")
        #expect(given.output == "Ada ada@example.org\n")
        let refused = try Command(python, [script], in: fixture, environment: Self.environment) {
            try person.answer(person.prompt())
        }
        #expect(refused.end == .exited(0), "\(refused.errors)")
        #expect(refused.output.isEmpty)
    }

    @Test("pick.sh asks for one address with the tools that every Debian system has")
    func shell() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let script = Self.script.replacing("ask.py", with: "pick.sh")
        let given = try Command("/bin/sh", [script], in: fixture, environment: Self.environment) {
            let prompt = try person.prompt()
            #expect(prompt["purpose"]?.string == "to write an e-mail")
            let ada = try #require(person.search(prompt, "ada").first).identifier
            let value = #"{"contact":"\#(ada)","key":"emailAddresses","value":"1"}"#
            #expect(try person.answer(prompt, #""picked":[\#(value)]"#).error == nil)
        }
        #expect(given.end == .exited(0), "\(given.errors)")
        #expect(given.output.contains("ada@example.org") && !given.output.contains("grace"))
        try fixture.stop()
        let alone = try Command("/bin/sh", [script], in: fixture, environment: Self.environment)
        #expect(alone.end != .exited(0) && alone.errors.contains("could not reach the broker"))
    }
}
