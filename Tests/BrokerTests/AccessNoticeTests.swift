import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerVarlink
import Testing

@testable import BrokerCore
@testable import BrokerGrants

@Suite("What agents that watch are told")
struct AccessNoticeTests {
    private let fixture: BrokerFixture
    private let agent: TestApp
    private let serve: Call

    init() throws {
        fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada", "Grace")
        agent = TestApp(fixture: fixture, caller: fixture.caller("agent"), interface: .agent)
        serve = try agent.begin("Serve", #"{"watch":true}"#, more: true)
    }

    private func notices() throws -> Int {
        try agent.replies(to: serve).count { $0.parameters["accessChanged"]?.bool == true }
    }

    /// The notices of an act, a second and more after the one before.
    private func notices(of act: () throws -> Void) throws -> Int {
        fixture.loop.advance(by: .seconds(2))
        let before = try notices()
        try act()
        fixture.loop.iterate()
        return try notices() - before
    }

    @Test("A grant, a use, an end and a policy are reported at once to the user's agents that watch")
    func reported() throws {
        let app = try fixture.app("mail")
        #expect(try notices { try fixture.settle(.full, for: app) } == 1)
        #expect(try notices { _ = try app.fetch() } == 1)
        #expect(try notices { fixture.grants.endGrant(app.principal, detail: "revoked") } == 1)
        #expect(try notices { fixture.rule([]) } == 1)
        #expect(try notices {} == 0)
        let silent = TestApp(fixture: fixture, caller: fixture.caller("agent"), interface: .agent)
        let other = try silent.begin("Serve", "{}", more: true)
        #expect(try notices { try fixture.settle(.full, for: app) } == 1)
        #expect(try silent.replies(to: other).allSatisfy { $0.parameters["accessChanged"] == nil })
    }

    @Test("An agent learns nothing about another user's apps")
    func otherUser() throws {
        let app = try fixture.app("mail", uid: 1_001)
        #expect(try notices { try fixture.settle(.full, for: app) } == 0)
        #expect(try notices { _ = try app.fetch() } == 0)
    }

    @Test("Many uses within a second are two notices: one at once, and one after them")
    func paced() throws {
        let app = try fixture.app("mail", .full)
        #expect(try notices { for _ in 1...50 { _ = try app.fetch() } } == 1)
        #expect(try notices {} == 0)
        let before = try notices()
        for _ in 1...50 { _ = try app.fetch() }
        fixture.loop.advance(by: .seconds(2))
        #expect(try notices() - before == 2)
    }

    @Test("An agent learns how many prompts wait for the one that it shows")
    func waiting() throws {
        func told() throws -> [Int64] { try agent.replies(to: serve).compactMap { $0.parameters["waiting"]?.integer } }
        let apps = try ["mail", "chat", "call"].map { try fixture.app($0, strength: .installed) }
        for app in apps { _ = try app.begin("RequestAccess") }
        try #require(fixture.loop.run { fixture.prompts.openCount(1_000) == 3 })
        #expect(try told() == [0, 1, 2])
        apps[0].hangUp()
        fixture.loop.iterate()
        #expect(try told() == [0, 1, 2, 1])
    }

    @Test("The list of apps has the number of all contacts")
    func totalContacts() throws {
        let person = try TestPerson(fixture: fixture)
        let list = try person.agent.call("ListGrants", #"{"agent":"\#(person.token)"}"#)
        #expect(list.parameters["totalContacts"]?.integer == 2)
    }

    @Test("A review names the purpose that the app gave when the person decided, until the broker starts again")
    func formerPurpose() throws {
        let person = try TestPerson(fixture: fixture)
        let app = try fixture.app("mail", strength: .installed)
        let first = try app.begin("RequestAccess", #"{"purpose":"to import"}"#)
        let access = try #require(try person.prompts().first)
        try person.answer(access, #""level":"limited","lifetime":"untilRevoked""#)
        #expect(try app.replies(1, to: first)[0].error == nil)
        _ = try app.begin("RequestContacts", #"{"query":"ada","purpose":"to show"}"#)
        _ = try person.prompts()
        let told = try #require(try person.told().last)
        #expect(told["otherPurpose"]?.bool == true && told["formerPurpose"]?.string == "to import")
    }
}
