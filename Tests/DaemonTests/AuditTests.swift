import BrokerJSON
import BrokerVarlinkClient
import CBrokerSQLite
import Testing

@Suite("What the audit records")
struct AuditTests {
    @Test("The audit records each prompt, answer, grant, disclosure, revocation and refusal under the app concerned")
    func events() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let mail = try fixture.app("mail", .only(["Ada Lovelace", "Lin Lanying"]), by: person)
        #expect(try mail.call("FetchContacts", #"{"keys":["givenName"]}"#)["contacts"]?.count == 2)
        let ada = try mail.fetch(#""predicate":{"name":"ada"}"#)
        #expect(ada.identifiers.count == 1)
        try fixture.revoke(mail)
        #expect(try mail.fetch().error == "AccessDenied")
        let records = try fixture.audit().filter { $0["app"]?.string?.hasPrefix(mail.path + " ") == true }
        let events = records.map { record in
            let count = record["contacts"]?.integer.map { " \($0)" } ?? ""
            return (record["event"]?.string ?? "") + count
        }
        #expect(
            events == [
                "prompt", "answer 2", "grant 2", "disclosure 2", "disclosure 1", "revocation", "refusal",
            ])
        #expect(records.map { $0["strength"]?.string } == Array(repeating: "unverified", count: 7))
        let disclosure = records[4]
        #expect(disclosure["keys"]?.elements?.compactMap(\.string) == ["givenName", "familyName"])
        // The audit names contacts by its own pseudonyms, not by the identifiers that the app gets.
        let pseudonyms = disclosure["contactIdentifiers"]?.elements?.compactMap(\.string) ?? []
        #expect(pseudonyms.count == 1 && pseudonyms != ada.identifiers)
    }

    @Test("A disclosure is recorded before the app receives it, even if the broker is killed right after")
    func recordedFirst() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let keeper = try fixture.keeper(with: person)
        let identifiers = try keeper.fetch().identifiers
        for identifier in identifiers {
            let reply = try fixture.app("keeper").fetch(#""predicate":{"identifiers":["\#(identifier)"]}"#)
            fixture.kill()
            #expect(reply.names.count == 1)
            try fixture.start()
        }
        let disclosures = try fixture.audit("disclosure").filter { $0["contacts"]?.integer == 1 }
        #expect(disclosures.count == 4)
        #expect(
            Set(disclosures.compactMap { $0["contactIdentifiers"]?.elements?.compactMap(\.string).first }).count == 4)
        #expect(try fixture.audit("gap").count == 4)
    }

    @Test("The audit records who, when and how much, but no text of a contact, a query or a purpose")
    func contents() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let mail = try fixture.app("mail")
        try mail.begin("RequestAccess", #"{"purpose":"zx-quite-a-purpose"}"#)
        try person.answer(.only(["Ada Lovelace"]))
        #expect(try mail.reply().word == "limited")
        #expect(try mail.fetch(#""predicate":{"name":"lovel"},"purpose":"zx-another-purpose""#).names.count == 1)
        #expect(try mail.fetch(#""predicate":{"name":"zxsomebody"}"#).names.isEmpty)
        try mail.begin("RequestContacts", #"{"query":"zxquery","ignoredEmailAddresses":["zxignored@example.org"]}"#)
        let prompt = try person.prompt()
        _ = try person.search(prompt, "zxtyped")
        try person.answer(prompt)
        #expect(try mail.reply().strings("identifiers").isEmpty)
        #expect(try mail.save([App.adding(given: "Zxgiven", family: "Zxfamily")]).word == "ok")
        #expect(try mail.fetch(#""predicate":{"emailAddress":"zxmail@example.org"}"#).names.isEmpty)
        let words = [
            "lovelace", "ada@example", "7946", "programmer", "zx-quite", "zx-another", "zxsomebody", "zxquery",
            "zxignored", "zxtyped", "zxgiven", "zxfamily", "zxmail",
        ]
        let identifiers = try mail.fetch().identifiers
        // First with the write-ahead log of the running broker, then after the broker has stopped.
        for _ in 0..<2 {
            let files = DaemonFixture.contents(of: fixture.state)
            let access = files.filter { $0.key.contains("/access.sqlite") }
            #expect(access.values.contains { !$0.isEmpty })
            for (path, bytes) in access {
                let text = Self.searchable(bytes)
                for word in words + identifiers { #expect(!text.contains(word), "\(word) in \(path)") }
            }
            let said = Self.searchable(Array(fixture.journal.utf8))
            for word in words { #expect(!said.contains(word)) }
            // The same search finds words that the files do contain.
            let book = files.filter { $0.key.contains("/contacts.sqlite") }.map { Self.searchable($0.value) }
            #expect(book.contains { $0.contains("lovelace") })
            #expect(access.values.contains { Self.searchable($0).contains("disclosure") })
            if fixture.daemon != nil { try fixture.stop() }
        }
        for record in [fixture.folder + "/state"] { #expect(DaemonFixture.paths(below: record).count > 0) }
    }

    /// Lowercases ASCII letters and replaces every byte that is not ASCII with a full stop.
    private static func searchable(_ bytes: [UInt8]) -> String {
        String(
            decoding: bytes.map { (0x41...0x5A).contains($0) ? $0 + 32 : $0 < 0x80 ? $0 : 0x2E }, as: UTF8.self)
    }

    @Test("An unaltered audit passes verification, even after a restart and after a kill")
    func verifies() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let keeper = try fixture.keeper(with: person)
        func verified() throws -> (records: Int, head: String, isWhole: Bool) {
            let reply = try fixture.administrator().call("io.contactbroker.Admin.VerifyAudit")
            return (
                Int(reply["records"]?.integer ?? 0), reply["head"]?.string ?? "", reply["brokenAt"]?.integer == nil
            )
        }
        #expect(try keeper.fetch().names.count == 4)
        let first = try verified()
        #expect(first.isWhole && first.records > 4 && first.head.count == 64)
        try fixture.stop()
        try fixture.start()
        let second = try verified()
        #expect(second.isWhole && second.records > first.records && second.head != first.head)
        fixture.kill()
        try fixture.start()
        #expect(try verified().isWhole)
    }

    @Test(
        "The broker's start or contactctl verify detects each alteration of the stopped audit",
        arguments: [
            "UPDATE audit SET contacts = NULL WHERE event = 'disclosure'",
            "UPDATE audit SET count = count + 1 WHERE event = 'disclosure'",
            "UPDATE auditCaller SET app = 'another' WHERE id = (SELECT caller FROM audit WHERE event = 'answer')",
            "UPDATE audit SET caller = 1 WHERE event = 'answer'",
            "DELETE FROM auditCaller WHERE id = (SELECT caller FROM audit WHERE event = 'answer')",
            "UPDATE audit SET time = time + 1 WHERE sequence = 2",
            "DELETE FROM audit WHERE sequence = 3",
            "DELETE FROM audit WHERE sequence = (SELECT max(sequence) FROM audit)",
            "DELETE FROM audit WHERE sequence = 1",
            "INSERT INTO audit SELECT max(sequence) + 1, time, caller, event, status, keys, count, contacts, revision, "
                + "repeats, detail, hash FROM audit",
        ])
    func tampering(sql: String) throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        let keeper = try fixture.keeper(with: person)
        #expect(try keeper.fetch(#""predicate":{"name":"ada"}"#).names.count == 1)
        try fixture.stop()
        try fixture.start()
        let untouched = try Command(DaemonFixture.programs + "/contactctl", ["verify"], in: fixture)
        #expect(untouched.end == .exited(0))
        #expect(untouched.output.contains("records are unchanged"))
        try fixture.stop()
        let triggers = ["auditKeepsWords", "auditKeepsRecords", "auditCallerKeepsWords", "auditCallerKeepsRecords"]
        try Self.execute(triggers.map { "DROP TRIGGER \($0); " }.joined() + sql, in: fixture)
        do {
            try fixture.start()
        } catch {
            // The broker has refused to start.
            #expect("\(error)".contains("could not start"))
            return
        }
        let touched = try Command(DaemonFixture.programs + "/contactctl", ["verify"], in: fixture)
        #expect(touched.end == .exited(1))
        #expect(touched.errors.contains("the audit is broken"))
    }

    private static func execute(_ sql: String, in fixture: DaemonFixture) throws {
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        guard sqlite3_open_v2(fixture.state + "/access.sqlite", &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK,
            sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK, sqlite3_changes(database) >= 1
        else { throw Trouble("could not alter the audit: \(String(cString: sqlite3_errmsg(database)))") }
    }
}
