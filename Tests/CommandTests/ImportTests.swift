import Glibc
import JSON
import Testing

@testable import contactbook

@Suite("contactbook import")
struct ImportTests {
    /// A broker that takes every contact but those called Bad.
    private func broker() throws -> ScriptedBroker {
        try ScriptedBroker { method, parameters in
            guard method == "SaveContacts" else { return .reply("{\"status\":\"full\"}") }
            let changes = parameters["changes"]?.elements.map(Array.init) ?? []
            if let index = changes.firstIndex(where: { $0["contact"]?["givenName"]?.says("Bad") == true }) {
                return .error(
                    "io.contactbroker.Contacts.InvalidContact",
                    parameters: "{\"index\":\(index),\"key\":\"givenName\",\"reason\":\"not that one\"}")
            }
            return .reply(
                "{\"identifiers\":[\(changes.map { _ in "\"N\"" }.joined(separator: ","))],\"historyToken\":\"\"}")
        }
    }

    private func saved(_ broker: ScriptedBroker) throws -> [Int] {
        try broker.asked.map { try JSONDocument(parsing: Array($0.parameters.utf8)).root["changes"]?.count ?? 0 }
    }

    private func withFile(_ text: String, _ body: (String) throws -> Void) throws {
        var template = Array("/tmp/import-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        let path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        defer { unlink(path) }
        try #require(descriptor >= 0 && write(descriptor, text, text.utf8.count) == text.utf8.count)
        close(descriptor)
        try body(path)
    }

    private func card(_ name: String, version: String = "3.0") -> String {
        "BEGIN:VCARD\r\nVERSION:\(version)\r\nFN:\(name)\r\nEND:VCARD\r\n"
    }

    @Test("Cards that cannot be read are named with file, line and reason, and the others are added")
    func report() throws {
        try withFile(card("One") + card("Old", version: "2.1") + card("Bad") + card("Two")) { path in
            let broker = try broker()
            let outcome = try run("contactbook", "import", path, with: broker)
            #expect(outcome.output == "added 2 contacts of 1 file\n")
            #expect(
                outcome.error == """
                    \(path):5: vCard 2.1 is not read; export it as vCard 3.0 or 4.0
                    \(path):9: givenName is not taken: not that one
                    contactbook: 2 contacts were not added

                    """)
            #expect(outcome.code == 1)
            #expect(try saved(broker) == [3, 2])
        }
    }

    @Test("A large file goes in saves of at most so many contacts")
    func batches() throws {
        let count = Import.changesPerSave
        try withFile((0..<2 * count + 1).map { card("Person \($0)") }.joined()) { path in
            let broker = try broker()
            let outcome = try run("contactbook", "import", path, with: broker)
            #expect(outcome.code == 0 && outcome.output == "added \(2 * count + 1) contacts of 1 file\n")
            #expect(try saved(broker) == [count, count, 1])
        }
    }

    @Test("A dry run asks nobody and adds nothing")
    func dryRun() throws {
        try withFile(card("One") + card("Two")) { path in
            let broker = try broker()
            let outcome = try run("contactbook", "import", "--dry-run", path, with: broker)
            #expect(outcome.code == 0 && outcome.output == "2 contacts in 1 file can be added\n")
            #expect(broker.asked.isEmpty)
        }
    }

    @Test("A file that is not there is found out before anything is added")
    func missingFile() throws {
        try withFile(card("One")) { path in
            let broker = try broker()
            let outcome = try run("contactbook", "import", path, "/nowhere/x.vcf", with: broker)
            #expect(outcome.code == 2 && broker.asked.isEmpty)
            #expect(outcome.error.contains("/nowhere/x.vcf: no such file or directory"))
        }
    }

    @Test("A file without a card is not a success")
    func noCards() throws {
        try withFile("hello\n") { path in
            let outcome = try run("contactbook", "import", path, with: broker())
            #expect(outcome.code == 1 && outcome.error == "contactbook: there is no contact in 1 file\n")
        }
    }

    @Test("When the broker stops answering, it is said how many were added before")
    func interrupted() throws {
        let count = Import.changesPerSave
        let broker = try ScriptedBroker { method, parameters in
            guard method == "SaveContacts" else { return .reply("{\"status\":\"full\"}") }
            return parameters["changes"]?.count == count
                ? .reply("{\"identifiers\":[],\"historyToken\":\"\"}")
                : .error("io.contactbroker.Contacts.StoreUnavailable")
        }
        try withFile((0...count).map { card("Person \($0)") }.joined()) { path in
            let outcome = try run("contactbook", "import", path, with: broker)
            #expect(outcome.code == 2 && outcome.output.isEmpty)
            #expect(outcome.error.contains("(\(count) were added before)"))
        }
    }
}
