import BrokerDisclosure
import Glibc
import Testing

/// Code that must not compile. Contact data has only one way out of the broker, and the compiler enforces this.
@Suite("Compile-time protection of contact data")
struct DisclosureLockTests {
    /// Code that would bypass the protection, and the compiler's error.
    struct Attempt: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: String
        let error: String

        init(_ name: String, _ code: String, error: String) {
            (testDescription, self.code, self.error) = (name, code, error)
        }
    }

    private static let spi = "is inaccessible due to '@_spi' protection level"

    static let attempts = [
        Attempt(
            "Reading a stored contact's bytes",
            "func read(_ contact: StoredContact) -> [UInt8] { contact.bytes }", error: "'bytes' \(spi)"),
        Attempt(
            "Reading one value of a stored contact",
            "func read(_ contact: StoredContact) -> ArraySlice<UInt8>? { contact.value(of: .note) }",
            error: "'value' \(spi)"),
        Attempt(
            "Reading the contacts of a reply",
            "func read(_ contacts: DisclosedContacts) -> [UInt8] { contacts.elements }", error: "'elements' \(spi)"),
        Attempt(
            "Creating the contacts of a reply",
            """
            let made = DisclosedContacts(
                elements: [], count: 0, records: [], keys: [], revision: 1)
            """, error: "'DisclosedContacts' initializer is inaccessible due to 'internal' protection level"),
        Attempt(
            "Creating a disclosure permission", "let made = Disclosure(scope: .all, keys: .all, revision: 1)",
            error: "'Disclosure' initializer is inaccessible due to 'internal' protection level"),
        Attempt(
            "Reading a reply", "func read(_ reply: DisclosedReply) -> [UInt8] { reply.parameters }",
            error: "'parameters' is inaccessible due to 'fileprivate' protection level"),
        Attempt(
            "Reading a reply's writer",
            "func read(_ writer: borrowing DisclosedWriter) -> JSONWriter { writer.json }",
            error: "'json' is inaccessible due to 'private' protection level"),
        Attempt(
            "Creating a reply",
            "let made = DisclosedReply(basis: nil, disclosed: [], detail: nil, parameters: [])",
            error: "'DisclosedReply' initializer is inaccessible due to 'fileprivate' protection level"),
        Attempt(
            "Sending a reply before it is recorded",
            "func send(_ reply: DisclosedReply, _ call: Call) { reply.send(to: call, continues: false, GroupCommit.Recorded()) }",
            error: "'GroupCommit.Recorded' initializer is inaccessible due to 'fileprivate' protection level"),
    ]

    @Test("Code of the broker that bypasses the protection does not compile", arguments: attempts)
    func refused(_ attempt: Attempt) throws {
        let output = try check(attempt.code)
        #expect(output.contains("error: \(attempt.error)"), "\(output)")
        #expect(output.split(separator: "\n").count { $0.hasPrefix("/") && $0.contains(" error: ") } == 1)
    }

    @Test("Code of the broker that respects the protection compiles in the same way")
    func permitted() throws {
        let code = """
            func size(_ reply: DisclosedReply) -> Int { reply.size }
            func size(_ contacts: DisclosedContacts) -> Int { contacts.size }
            func tell(_ iterate: GroupCommit, _ reply: DisclosedReply, _ call: Call, _ session: CallerSession) {
                iterate.disclose(reply, to: call, session)
            }
            """
        let output = try check(code)
        #expect(!output.contains("error:"), "\(output)")
    }

    /// The compiler's output for code that sees the internal declarations of the broker's module.
    private func check(_ code: String) throws -> String {
        var own = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &own, own.count - 1)
        try #require(count > 0)
        let program = String(decoding: own.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let folder = String(program[..<(try #require(program.lastIndex(of: "/")))])
        let package = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(
            separator: "/")

        var path = Array("/tmp/lock.XXXXXX.swift".utf8CString)
        let file = mkstemps(&path, 6)
        try #require(file >= 0)
        let name = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer {
            close(file)
            unlink(name)
        }
        let text = """
            import BrokerAccessControl
            @testable import BrokerLedger
            import BrokerDisclosure
            import BrokerModel
            import BrokerJSON
            import BrokerVarlink

            \(code)

            """
        try #require(write(file, text, text.utf8.count) == text.utf8.count)

        // The C modules that the broker's modules import, without those of the tests.
        let maps = """
            find '\(folder)' '\(package)/Sources' -maxdepth 3 -name module.modulemap -path '*/C[A-Z]*' \
            ! -path '*Test*' ! -path '*Fake*' -printf '-Xcc -fmodule-map-file=%p '
            """
        let command =
            "swiftc -typecheck -parse-as-library -swift-version 6 -I '\(folder)/Modules' $(\(maps)) '\(name)' 2>&1"
        let pipe = try #require(popen(command, "r"))
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let size = fread(&buffer, 1, buffer.count, pipe), size > 0 { output += buffer[..<size] }
        pclose(pipe)
        return String(decoding: output, as: UTF8.self)
    }
}
