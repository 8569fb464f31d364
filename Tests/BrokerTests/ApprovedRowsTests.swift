import BrokerAccessControl
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerCore

@Suite("Contacts that a password approves")
struct ApprovedRowsTests {
    @Test("A card that is linked to a chosen one while the password is asked for is not granted")
    func linkedMeanwhile() throws {
        let authority = TestAuthority([.answer: .granted])
        let fixture = try BrokerFixture(authority: authority)
        let keeper = try fixture.keeper()
        _ = try keeper.save((0..<30).map { .add(given: "N\(10 + $0)") })
        let person = try TestPerson(fixture: fixture)
        let app = try fixture.app("mail")
        let call = try app.begin("RequestAccess")
        let prompt = try #require(person.prompts().first)
        let rows = try person.rows(prompt).filter { $0.contact["givenName"]?.string != "N39" }.prefix(26)
        let chosen = Set(rows.compactMap { $0.contact["givenName"]?.string })
        try #require(chosen.count == 26)
        let names = rows.map { "\"\($0.identifier)\"" }.joined(separator: ",")
        let answer = try person.begin(answering: prompt, #""level":"limited","identifiers":[\#(names)]"#)
        #expect(authority.open.map(\.action) == [.shareAll])
        try LinkTests.link(keeper, try #require(chosen.min()), "N39")
        try authority.answer(.granted)
        #expect(try person.agent.replies(1, to: answer)[0].error == nil)
        #expect(try app.replies(1, to: call)[0].parameters["status"]?.string == "limited")
        #expect(try Set(app.fetch(#""sortOrder":"givenName","unify":false"#).names) == chosen)
    }
}
