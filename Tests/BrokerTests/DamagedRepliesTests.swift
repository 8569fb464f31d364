import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerSQLite
import Testing

@testable import BrokerAppCalls
@testable import BrokerContactsStore

extension BrokerFixture {
    /// Changes user 1000's address book without the broker's knowledge.
    func change(sql: String) throws {
        let database = try Database(path: folder + "/users/1000/contacts.sqlite", .readWrite, patience: 5_000)
        defer { database.close() }
        try database.execute(sql)
        // Consecutive reads share a snapshot for a short time. Let that time pass.
        loop.advance(by: .seconds(1))
    }
}

@Suite("Damaged cards")
struct DamagedRepliesTests {
    private let fixture: BrokerFixture
    private let keeper: TestApp

    init() throws {
        fixture = try BrokerFixture()
        keeper = try fixture.keeper(adding: "Ada", "Bob", "Cid")
    }

    /// Puts invalid UTF-8 into Bob's card without changing its size.
    private func damageBob() throws {
        let bob = try #require(try fixture.records("Bob").first)
        try fixture.change(
            sql: """
                UPDATE contact SET stored = CAST(replace(stored, CAST('Bob' AS BLOB), x'42FF62') AS BLOB)
                WHERE record = \(bob.rawValue)
                """)
    }

    private var reports: [String] { fixture.journal.lines.filter { $0.contains("is damaged") } }

    @Test("An app gets all other cards, and the journal and the status name the damaged one")
    func fetched() throws {
        let bob = try keeper.identifier(of: "Bob")
        let token = try keeper.fetch().token
        let record = try #require(try fixture.records("Bob").first).rawValue
        try damageBob()
        for parameters in [#""sortOrder":"givenName""#, #""unify":false"#, #""predicate":{"name":"a"}"#] {
            let reply = try keeper.fetch(parameters)
            #expect(reply.error == nil && !reply.names.contains("Bob"))
        }
        #expect(try keeper.fetch().names == ["Ada", "Cid"])
        #expect(try keeper.fetch(#""identifiers":["\#(bob)"]"#).names == [])
        // The damaged card is not reported as deleted, so a client keeps its copy.
        #expect(
            try keeper.call("FetchHistory", #"{"token":"\#(token ?? "")","keys":["givenName"]}"#)
                .parameters["events"]?.count == 0)
        try #require(fixture.loop.run { !reports.isEmpty })
        #expect(reports.count == 1)
        #expect(reports[0].contains("card \(record) in ") && !reports[0].contains("Bob"))
        let root = TestApp(fixture: fixture, caller: fixture.caller("root", uid: 0), interface: .admin)
        let status = try root.call("GetStatus", #"{"allUsers":true}"#)
        #expect(status.text.contains("card \(record) in "))
    }

    @Test("Changing a damaged card fails with a line in the journal, and deleting it works")
    func saved() throws {
        let bob = try keeper.identifier(of: "Bob")
        try damageBob()
        #expect(try keeper.save([.update(bob, #""nickname":"Bobby""#)]).error == "StoreUnavailable")
        #expect(
            fixture.journal.lines.contains { $0.contains("is damaged and cannot be read; restore contacts.sqlite") })
        #expect(try keeper.save([.delete(bob)]).error == nil)
        #expect(try keeper.fetch().names == ["Ada", "Cid"])
    }

    @Test("The agent shows the other cards, and a damaged card that was picked before is not handed over")
    func atTheAgent() throws {
        let person = try TestPerson(fixture: fixture)
        let mail = try fixture.app("mail")
        let call = try mail.begin("PickContacts", #"{"keys":["givenName"]}"#)
        let prompt = try #require(try person.prompts().first)
        let row = try #require(try person.rows(prompt).first { $0.contact["givenName"]?.string == "Bob" })
        try damageBob()
        #expect(try person.rows(prompt).compactMap { $0.contact["givenName"]?.string } == ["Ada", "Cid"])
        _ = try person.answer(prompt, #""picked":[{"contact":"\#(row.identifier)","key":"identifier"}]"#)
        #expect(try mail.replies(1, to: call)[0].names == [])
    }
}
