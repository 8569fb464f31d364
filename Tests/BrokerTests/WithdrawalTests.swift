import BrokerAccessControl
import BrokerAccessStore
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerAppCalls
@testable import BrokerCalls
@testable import BrokerGrants
@testable import BrokerLedger

/// Replies that are still queued in the broker when access is revoked.
@Suite("Replies that a revocation withdraws")
struct WithdrawalTests {
    private let fixture: BrokerFixture
    private let keeper: TestApp

    init() throws {
        fixture = try BrokerFixture()
        keeper = try fixture.keeper(adding: "Ada", "Grace")
    }

    /// Expects that the reply is queued and not sent, and that the revocation withdraws it.
    private func expectWithdrawn(_ call: Call, of app: TestApp, by revoke: () throws -> Void) throws {
        #expect(try app.replies(to: call).isEmpty)
        try revoke()
        #expect(try app.replies(to: call).map(\.error) == ["AccessDenied"])
        #expect(try fixture.audit(.withheld).count == 1)
    }

    @Test(
        "A reply about contacts is withdrawn by a revocation, and the withdrawal is recorded",
        arguments: [
            ("FetchContacts", #"{"keys":["givenName"]}"#), ("CountContacts", "{}"), ("ListGroups", "{}"),
            ("FetchHistory", #"{"keys":["givenName"]}"#),
        ])
    func everyMethod(method: String, parameters: String) throws {
        let app = try fixture.app("mail", .full)
        app.isFull = true
        let call = try app.begin(method, parameters)
        try expectWithdrawn(call, of: app) { try fixture.grant(.denied, to: app) }
    }

    @Test("A revocation withdraws the reply of the access button")
    func button() throws {
        let person = try TestPerson(fixture: fixture)
        let app = try fixture.app("mail", .limited(to: []))
        app.isFull = true
        let call = try app.begin("RequestContacts", #"{"query":"ada"}"#)
        var prompts: [TestPerson.Prompt] = []
        try #require(
            fixture.loop.run {
                prompts += (try? person.prompts()) ?? []
                return !prompts.isEmpty
            })
        let row = try #require(try person.rows(prompts[0], query: "ada").first)
        try person.answer(prompts[0], #""level":"limited","identifiers":["\#(row.identifier)"]"#)
        try #require(fixture.loop.run { call.isOver })
        try expectWithdrawn(call, of: app) { try fixture.grant(.denied, to: app) }
    }

    @Test("A revocation withdraws a reply with picked contacts")
    func pick() throws {
        let person = try TestPerson(fixture: fixture)
        let app = try fixture.app("mail", .limited(to: []))
        app.isFull = true
        let call = try app.begin("PickContacts", #"{"keys":["givenName"]}"#)
        let prompt = try #require(try person.prompts().first)
        let row = try #require(try person.rows(prompt, query: "ada").first).identifier
        let answer = try person.answer(prompt, #""picked":[{"contact":"\#(row)","key":"identifier"}]"#)
        #expect(answer.error == nil)
        try #require(fixture.loop.run { call.isOver })
        try expectWithdrawn(call, of: app) { try fixture.grant(.denied, to: app) }
    }

    @Test("A revocation withdraws the identifier of an accepted card")
    func proposed() throws {
        let person = try TestPerson(fixture: fixture)
        let app = try fixture.app("mail", .full)
        app.isFull = true
        let call = try app.begin("ProposeContact", #"{"contact":{"givenName":"New"}}"#)
        let prompt = try #require(try person.prompts().first)
        #expect(try person.answer(prompt, #""addProposed":true"#).error == nil)
        try #require(fixture.loop.run { call.isOver })
        try expectWithdrawn(call, of: app) { try fixture.grant(.denied, to: app) }
    }

    @Test("A revocation withdraws the reply of a watch")
    func watch() throws {
        let app = try fixture.app("mail", .full)
        app.isFull = true
        let call = try app.begin("WatchChanges", more: true)
        try #require(fixture.loop.run { app.hasQueued })
        try expectWithdrawn(call, of: app) { try fixture.grant(.denied, to: app) }
    }

    @Test("Removing keys withdraws a reply that was made with them")
    func keys() throws {
        let app = try fixture.app("mail", .full)
        app.isFull = true
        let call = try app.begin("FetchContacts", #"{"keys":["givenName","phoneNumbers"]}"#)
        let grant = Grant(
            access: .full, keys: .names, revision: fixture.access.nextRevision(), decidedBy: .person,
            decidedAt: fixture.surroundings.seconds)
        try expectWithdrawn(call, of: app) {
            var isSettled = false
            fixture.grants.settle(grant, for: app.principal, displayName: "mail", sharesPersistentKey: true) {
                _ in
                isSettled = true
            }
            try #require(fixture.loop.run { isSettled })
        }
    }

    @Test("Counts and watches are recorded")
    func records() throws {
        let app = try fixture.app("mail", .full)
        #expect(try app.call("CountContacts").error == nil)
        _ = try app.begin("WatchChanges", more: true)
        #expect(try keeper.save([.add(given: "Alan")]).error == nil)
        fixture.loop.advance(by: .seconds(2))
        let details = try fixture.audit(.disclosure)
        for method in ["CountContacts", "WatchChanges"] { #expect(details.contains { $0.hasSuffix(method) }) }
    }

    @Test(
        "A waiting save is refused if the access at its turn no longer permits it",
        arguments: ["link", "unlink", "member", "subgroup", "rename"])
    func waitingSave(step: String) throws {
        let app = try fixture.app("mail", .full)
        let (ada, grace) = (try app.identifier(of: "Ada"), try app.identifier(of: "Grace"))
        let groups = try keeper.save([GroupTests.add("A"), GroupTests.add("B")])
        #expect(groups.error == nil)
        let listed = try app.call("ListGroups").parameters["groups"]?.elements.map(Array.init) ?? []
        let names = listed.compactMap { $0["identifier"]?.string }
        try #require(names.count == 2)
        let change: Change =
            switch step {
            case "link", "unlink": LinkTests.step(step, ada, grace)
            case "member": GroupTests.step("addMember", names[0], ada)
            case "subgroup": GroupTests.step("addSubgroup", names[0], names[1])
            default: GroupTests.whole("update", names[0], "C")
            }
        // Another save of the user is in progress.
        fixture.saves.whenNoneIsWritten(1_000) {}
        let call = try app.begin("SaveContacts", #"{"changes":[\#(change.text)]}"#)
        #expect(!call.isOver)
        try fixture.grant(.limited(to: try fixture.records("Ada")), to: app)
        fixture.saves.ended(1_000)
        try #require(fixture.loop.run { call.isOver })
        #expect(try app.replies(to: call).map(\.error) == ["AccessDenied"])
    }
}
