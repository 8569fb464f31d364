import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerModel
import Testing

@testable import BrokerCore
@testable import BrokerGrants

@Suite("A contact group that a policy rule shares")
struct PolicyGroupTests {
    private let there: SharedFamily
    private let app: TestApp

    /// Mail sees Ada by its grant. The rule then shares the group Family with it.
    init() throws {
        there = try SharedFamily()
        app = try there.app("mail")
        share()
    }

    private func share(_ names: String...) {
        there.fixture.rule(
            (names.isEmpty ? ["Family"] : names).map { name in
                var rule = Rule(place: "test.toml:1")
                rule.strengths = [.sandboxed]
                rule.forcedLevel = .limited
                rule.contactGroup = name
                return rule
            })
    }

    private func names(_ app: TestApp? = nil) throws -> [String] { try (app ?? self.app).fetch().names }

    private func why() throws -> String {
        let ctl = TestApp(fixture: there.fixture, caller: there.fixture.caller("contactctl"), interface: .admin)
        return try ctl.call("ExplainDecision", #"{"app":"mail"}"#).strings("reasons").joined(separator: "\n")
    }

    @Test("The app sees the group's members and nothing else, whatever the person decided")
    func members() throws {
        #expect(try names() == ["Ada", "Bob"])
        for access in [Access.denied, .full, .limited(to: try there.fixture.records("Cid"))] {
            try there.fixture.grant(access, to: app)
            #expect(try names() == ["Ada", "Bob"])
        }
        // Also without a decision, and never for a weaker identity.
        #expect(try names(there.fixture.app("chat", strength: .sandboxed)) == ["Ada", "Bob"])
        let weak = try there.fixture.app("chat", strength: .installed)
        #expect(try weak.call("GetAuthorization").parameters["status"]?.string == "notDetermined")
        // What the app adds does not join.
        #expect(try app.save([.add(given: "Mine")]).error == nil)
        #expect(try names() == ["Ada", "Bob"])
    }

    @Test("The set follows the group, and the app starts over when it has changed, and only then")
    func follows() throws {
        var token = try app.history(nil).token
        #expect(try app.history(token).events.isEmpty)
        try there.move("addMember", "Cid")
        #expect(try names() == ["Ada", "Bob", "Cid"])
        var told = try app.history(token)
        #expect(told.events == ["dropEverything", "addContact Ada", "addContact Bob", "addContact Cid"])
        token = told.token
        try there.move("removeMember", "Bob")
        told = try app.history(token)
        #expect(told.events == ["dropEverything", "addContact Ada", "addContact Cid"])
        token = told.token
        // A change of the person's own grant, another app's member and a restart change nothing.
        try there.change("share", app, contacts: ["Dora"])
        #expect(try app.history(token).events.isEmpty)
        try there.fixture.restart()
        share()
        let again = try there.fixture.app("mail", strength: .sandboxed)
        #expect(try names(again) == ["Ada", "Cid"])
        #expect(try again.history(token).events.isEmpty)
    }

    @Test("A member that another app adds is not shared, nor is a group that does not exist or is not the only one")
    func refused() throws {
        let chat = try there.fixture.app(
            "chat", .limited(to: there.fixture.records("Cid")), keys: Grant.ordinaryKeys.union(.groups),
            strength: .service)
        let groups = try chat.call("ListGroups").parameters["groups"]?.elements.map(Array.init) ?? []
        try there.move("addMember", "Cid", by: chat, group: try #require(groups.first?["identifier"]?.string))
        #expect(try names() == ["Ada", "Bob"])
        #expect(try why().contains("the contact group “Family” shares 2 contacts"))
        share("Friends")
        #expect(try names().isEmpty)
        #expect(try why().contains("the user has no contact group “Friends”, so it shares nothing"))
        // Also a group that another app makes.
        #expect(try chat.save([GroupTests.add("Friends", as: "f")]).error == nil)
        #expect(try names().isEmpty)
        share()
        #expect(try names() == ["Ada", "Bob"])
        #expect(try there.keeper.save([GroupTests.add("Family")]).error == nil)
        #expect(try names().isEmpty)
        #expect(try why().contains("the user has several contact groups “Family”, so none of them is shared"))
    }

    @Test("Of several rules, only what all their groups share is shared")
    func several() throws {
        let made = try there.keeper.save([
            GroupTests.add("Club", as: "c"), GroupTests.step("addMember", "c", try there.keeper.identifier(of: "Bob")),
            GroupTests.step("addMember", "c", try there.keeper.identifier(of: "Dora")),
        ])
        #expect(made.error == nil)
        share("Family", "Club")
        #expect(try names() == ["Bob"])
        share("Family", "Nobody")
        #expect(try names().isEmpty)
    }

    @Test("A reload that removes or replaces the rule takes effect at once, and the person's decision applies again")
    func reload() throws {
        for change in [{ self.there.fixture.rule([]) }, { self.share("Nobody") }] {
            share()
            #expect(try names() == ["Ada", "Bob"])
            app.isFull = true
            let call = try app.begin("FetchContacts", #"{"keys":["givenName"]}"#)
            #expect(app.hasQueued)
            change()
            #expect(!app.hasQueued)
            #expect(try app.replies(to: call).map(\.error) == ["AccessDenied"])
            app.isFull = false
        }
        #expect(try names().isEmpty)
        there.fixture.rule([])
        #expect(try names() == ["Ada"])
    }

    @Test("A queued reply with a card that leaves the group is withdrawn")
    func withdrawn() throws {
        app.isFull = true
        let call = try app.begin("FetchContacts", #"{"keys":["givenName"]}"#)
        #expect(app.hasQueued)
        try there.move("removeMember", "Bob")
        #expect(!app.hasQueued)
        #expect(try app.replies(to: call).map(\.error) == ["AccessDenied"])
    }

    @Test("The person is not asked for contacts that the app would not see")
    func prompts() throws {
        let calls = [
            ("RequestContacts", #"{"query":"Cid"}"#), ("ManageAccess", "{}"), ("PickContacts", "{}"),
        ]
        for (method, parameters) in calls {
            _ = try app.call(method, parameters)
            #expect(there.fixture.prompts.openCount(1_000) == 0)
        }
        #expect(try names() == ["Ada", "Bob"])
    }
}
