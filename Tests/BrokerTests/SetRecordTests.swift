import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import Testing

@testable import BrokerGrants
@testable import BrokerLedger

@Suite("Contacts in the records of grants and revocations")
struct SetRecordTests {
    private let fixture: BrokerFixture
    private let person: TestPerson
    private let mail: TestApp

    init() throws {
        fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada", "Bob", "Cid")
        person = try TestPerson(fixture: fixture)
        mail = try fixture.app("mail")
    }

    /// Each record of a grant or a revocation: its event, its count, and the contacts that it names.
    private func told(_ contact: String? = nil) throws -> [String] {
        let names = try Dictionary(
            uniqueKeysWithValues: ["Ada", "Bob", "Cid"].map { name in
                let record = try #require(try fixture.records(name).first)
                return (fixture.access.audit.pseudonyms.pseudonym(of: record, uid: 1_000), name)
            })
        let wanted = contact.flatMap { contact in names.first { $0.value == contact }?.key }
        let filter = wanted.map { #","contact":"\#($0)""# } ?? ""
        let ctl = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        let answer = try ctl.call("QueryAudit", #"{"app":"mail","limit":1000\#(filter)}"#)
        return answer.parameters["records"]?.elements?.compactMap { record -> String? in
            guard let event = record["event"]?.string, ["grant", "revocation"].contains(event) else { return nil }
            let named = record["contactIdentifiers"]?.elements?.compactMap { $0.string.flatMap { names[$0] } } ?? []
            return "\(event) \(record["contacts"]?.integer ?? -1) \(named.sorted().joined(separator: " "))"
        } ?? []
    }

    private func rows(_ prompt: TestPerson.Prompt, _ names: String...) throws -> String {
        try person.rows(prompt).filter { names.contains($0.contact["givenName"]?.string ?? "") }
            .map { "\"\($0.identifier)\"" }.joined(separator: ",")
    }

    @Test("A grant names the contacts that joined the set and a revocation those that left, and a query finds both")
    func set() throws {
        let call = try mail.begin("RequestAccess")
        let first = try #require(try person.prompts().last)
        try person.answer(first, #""level":"limited","identifiers":[\#(rows(first, "Ada", "Bob"))]"#)
        #expect(try mail.replies(1, to: call).map(\.error) == [nil])
        #expect(try told() == ["grant 2 Ada Bob"])

        let again = try #require(try person.manage(mail))
        try person.answer(
            again, #""level":"limited","identifiers":[\#(rows(again, "Cid"))],"removed":[\#(rows(again, "Ada"))]"#)
        #expect(try told() == ["grant 2 Ada Bob", "revocation 1 Ada", "grant 2 Cid"])

        let stays = fixture.access.audit.pseudonyms.pseudonym(
            of: try #require(try fixture.records("Bob").first), uid: 1_000)
        let ctl = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        let lowered = try ctl.call("SetGrant", #"{"app":"mail","status":"limited","identifiers":["\#(stays)"]}"#)
        #expect(lowered.error == nil, "\(lowered.text)")
        #expect(try told().last == "revocation 1 Cid")
        // The record of a completely revoked set names no contact. The revision identifies the set.
        #expect(try ctl.call("SetGrant", #"{"app":"mail","status":"denied"}"#).error == nil)
        #expect(try told().last == "revocation -1 ")

        #expect(try told("Ada") == ["grant 2 Ada Bob", "revocation 1 Ada"])
        #expect(try told("Bob") == ["grant 2 Ada Bob"])
        #expect(try told("Cid") == ["grant 2 Cid", "revocation 1 Cid"])
    }

    @Test("A full grant names no contact, and a limited grant after it names those that remain")
    func whole() throws {
        let call = try mail.begin("RequestAccess")
        let prompt = try #require(try person.prompts().last)
        try person.answer(prompt, #""level":"full""#)
        #expect(try mail.replies(1, to: call).map(\.error) == [nil])
        #expect(try told() == ["grant -1 "])
        let inspect = try #require(try person.manage(mail))
        try person.answer(inspect, #""level":"limited","identifiers":[\#(rows(inspect, "Bob"))]"#)
        #expect(try told().suffix(2) == ["revocation 0 ", "grant 1 Bob"])
    }

    @Test("A long set is split into records that stay small")
    func long() throws {
        let records = Set((1...600).map { RecordNumber($0) })
        let principal = mail.principal
        fixture.groupCommit.record(.grant, of: principal, naming: records) {
            ($0.count, $0.revision, $0.detail) = (records.count, 7, "untilRevoked")
        }
        fixture.groupCommit.work(committed: {})
        fixture.loop.iterate()
        var filter = AuditFilter()
        filter.event = .grant
        let told = try fixture.access.audit.reader.records(matching: filter, after: nil, limit: .max).suffix(3)
        #expect(told.map(\.count) == [600, 250, 100])
        #expect(told.map { $0.contacts?.count } == [250, 250, 100])
        #expect(told.map(\.detail) == ["untilRevoked", "continued", "continued"])
        #expect(told.allSatisfy { $0.revision == 7 })
        #expect(Set(told.flatMap { $0.contacts ?? [] }).count == 600)
    }
}
