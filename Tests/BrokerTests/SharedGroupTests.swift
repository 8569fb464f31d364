import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import Testing

@testable import BrokerCore
@testable import BrokerLedger

/// Ada and Bob are in the group Family, and Cid and Dora are not. The keeper made the group, and may see everything.
struct SharedFamily {
    let authority = TestAuthority()
    let fixture: BrokerFixture
    let keeper: TestApp
    /// The keeper's identifier of the group.
    let family: String
    private let ctl: TestApp

    init() throws {
        fixture = try BrokerFixture(authority: authority)
        let keeper = try fixture.keeper(adding: "Ada", "Bob", "Cid", "Dora")
        self.keeper = keeper
        let members = try ["Ada", "Bob"].map { try keeper.identifier(of: $0) }
        family = try #require(
            try keeper.save(
                [GroupTests.add("Family", as: "f")] + members.map { GroupTests.step("addMember", "f", $0) }
            ).strings("identifiers").first)
        ctl = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
    }

    /// An app that sees Ada, granted singly.
    func app(_ name: String, strength: IdentityStrength = .sandboxed) throws -> TestApp {
        try fixture.app(name, .limited(to: fixture.records("Ada")), strength: strength)
    }

    /// Changes the app's set at the administrator's socket, with the password.
    @discardableResult
    func change(_ change: String, _ app: TestApp, contacts: [String] = [], groups: [String] = []) throws -> Answer {
        let list = { (texts: [String]) in texts.map { "\"\($0)\"" }.joined(separator: ",") }
        var members = #""app":"\#(app.caller.app)","change":"\#(change)","allowInteractiveAuthentication":true"#
        if !contacts.isEmpty { members += #","contacts":[\#(list(contacts))]"# }
        if !groups.isEmpty { members += #","groups":[\#(list(groups))]"# }
        let call = try ctl.begin("ChangeGrantedContacts", "{\(members)}")
        if !authority.open.isEmpty { try authority.answer(.granted) }
        return try #require(try ctl.replies(1, to: call).first)
    }

    /// Adds a contact to the group, or removes it.
    func move(_ operation: String, _ name: String, by app: TestApp? = nil, group: String? = nil) throws {
        let app = app ?? keeper
        let member = try app.identifier(of: name)
        try #require(try app.save([GroupTests.step(operation, group ?? family, member)]).error == nil)
    }

    func grant(of app: TestApp) -> Grant? { fixture.access.grant(of: app.principal) }

    /// The app's events since a token, without its own.
    func events(_ app: TestApp, since token: String?) throws -> [String] { try app.history(token).events }
}

@Suite("A contact group that a limited grant shares")
struct SharedGroupTests {
    private let there: SharedFamily
    private let app: TestApp

    init() throws {
        there = try SharedFamily()
        app = try there.app("mail")
        #expect(try there.change("share", app, groups: ["Family"]).error == nil)
    }

    private func names(_ app: TestApp? = nil) throws -> [String] { try (app ?? self.app).fetch().names }

    @Test("The app sees the members, those that join later, and no longer those that leave, except single ones")
    func follows() throws {
        #expect(try names() == ["Ada", "Bob"])
        var token = try app.history(nil).token
        try there.move("addMember", "Cid")
        #expect(try names() == ["Ada", "Bob", "Cid"])
        #expect(try there.events(app, since: token) == ["granted Cid"])
        token = try app.history(nil).token
        // Ada was granted singly before the group.
        for name in ["Ada", "Bob"] { try there.move("removeMember", name) }
        #expect(try names() == ["Ada", "Cid"])
        #expect(try there.events(app, since: token) == ["revoked"])
        // An app without the key sees no group and no change of it.
        #expect(try app.call("ListGroups").text == #"{"groups":[]}"#)
        token = try app.history(nil).token
        try there.move("addMember", "Ada")
        #expect(try there.events(app, since: token).isEmpty && app.history(nil).token == token)
        // One reply confirms both: a new contact that joins at once.
        let made = try there.keeper.save([
            .add(given: "Eve", extra: #","identifier":"e""#), GroupTests.step("addMember", there.family, "e"),
        ])
        #expect(made.error == nil)
        #expect(try there.events(app, since: token) == ["granted Eve"])
    }

    @Test("Each joining and leaving is recorded with the contact")
    func recorded() throws {
        try there.move("addMember", "Cid")
        try there.move("removeMember", "Cid")
        #expect(try there.fixture.audit(.grant).last == "limited untilRevoked, contact group")
        #expect(try there.fixture.audit(.revocation).last == "limited contact group")
        let cid = try there.fixture.access.audit.pseudonyms.pseudonym(
            of: #require(there.fixture.records("Cid").first), uid: 1_000)
        for event in [AuditEvent.grant, .revocation] {
            let records = try there.fixture.access.audit.reader.records(
                matching: AuditFilter(event: event), after: nil, limit: 100)
            #expect(records.last?.contacts == [cid] && records.last?.app == "mail")
        }
        let grants =
            try TestApp(
                fixture: there.fixture, caller: there.fixture.caller("contactctl"), interface: .admin
            ).call("ListGrants").parameters["grants"]?.elements.map(Array.init) ?? []
        #expect(grants.compactMap { $0["groups"]?.integer } == [1])
        #expect(!grants.contains { String(decoding: $0.text, as: UTF8.self).contains("\"Family\"") })
    }

    @Test("A member that another app adds joins no set, until an app that sees everything adds it again")
    func byOthers() throws {
        let chat = try there.fixture.app(
            "chat", .limited(to: there.fixture.records("Cid", "Dora")), keys: Grant.ordinaryKeys.union(.groups),
            strength: .sandboxed)
        let groups = try chat.call("ListGroups").parameters["groups"]?.elements.map(Array.init) ?? []
        let family = try #require(groups.first?["identifier"]?.string)
        let token = try app.history(nil).token
        try there.move("addMember", "Cid", by: chat, group: family)
        #expect(try there.keeper.fetch(#""predicate":{"group":"\#(there.family)"}"#).names.contains("Cid"))
        #expect(try names() == ["Ada", "Bob"] && there.events(app, since: token).isEmpty)
        // Nor does it join when the broker starts again, or when the group is shared with another app.
        try there.fixture.restart()
        let again = try there.fixture.app("mail", strength: .sandboxed)
        #expect(try names(again) == ["Ada", "Bob"])
        // The last step repeats one that the other app made. The book then has no visible change.
        let keeper = try there.fixture.app("keeper")
        let before = try keeper.history(nil).token
        try there.move("addMember", "Cid", by: keeper)
        #expect(try keeper.history(nil).token == before)
        #expect(try names(again) == ["Ada", "Bob", "Cid"])
    }

    @Test("A card that an app created joins only when an app that sees everything adds it to the group")
    func created() throws {
        let chat = try there.fixture.app(
            "chat", .limited(to: []), keys: Grant.ordinaryKeys.union(.groups), strength: .sandboxed)
        let groups = try chat.call("ListGroups").parameters["groups"]?.elements.map(Array.init) ?? []
        let family = try #require(groups.first?["identifier"]?.string)
        #expect(
            try chat.save([
                .add(given: "Mallory", extra: #","identifier":"m""#), GroupTests.step("addMember", family, "m"),
            ]).error == nil)
        #expect(try names() == ["Ada", "Bob"])
        try there.move("addMember", "Mallory")
        #expect(try names() == ["Ada", "Bob", "Mallory"])
    }

    @Test("A card of another container does not join, and neither does a subgroup's")
    func containers() throws {
        let work = try #require(
            try there.keeper.save([.other(#"{"operation":"addContainer","container":"Work"}"#)])
                .strings("identifiers").first)
        let made = try there.keeper.save([
            .other(#"{"operation":"add","contact":{"givenName":"Wendy","identifier":"w"},"container":"\#(work)"}"#),
            GroupTests.step("addMember", there.family, "w"), GroupTests.add("Cousins", as: "c"),
            GroupTests.step("addMember", "c", try there.keeper.identifier(of: "Dora")),
            GroupTests.step("addSubgroup", there.family, "c"),
        ])
        #expect(made.error == nil)
        #expect(try names() == ["Ada", "Bob"])
    }

    @Test("A renamed group stays shared, a deleted one does not, and one that is made again is another group")
    func deleted() throws {
        #expect(try there.keeper.save([GroupTests.whole("update", there.family, "Relatives")]).error == nil)
        try there.move("addMember", "Cid")
        #expect(try names() == ["Ada", "Bob", "Cid"])
        #expect(try there.keeper.save([GroupTests.whole("delete", there.family)]).error == nil)
        #expect(try names() == ["Ada"] && there.grant(of: app)?.groups.records == [])
        let bob = try there.keeper.identifier(of: "Bob")
        let again = try there.keeper.save([
            GroupTests.add("Relatives", as: "f"), GroupTests.step("addMember", "f", bob),
        ])
        #expect(again.error == nil)
        #expect(try names() == ["Ada"])
        // The deleted one shares again if the person puts it back.
        let administrator = TestApp(
            fixture: there.fixture, caller: there.fixture.caller("contactctl", uid: 0), interface: .admin)
        let listed = try administrator.call("ListChanges", #"{"uid":1000}"#)
        let saves = listed.parameters["saves"]?.elements.map(Array.init)
        let number = try #require(saves?[1]["number"]?.integer)
        #expect(
            try administrator.call("PutBack", #"{"uid":1000,"save":\#(number)}"#).parameters["groups"]?.integer == 1)
        #expect(there.grant(of: app)?.groups.records.count == 1 && there.grant(of: app)?.groups.gone == [])
        #expect(try names() == ["Ada", "Bob", "Cid"])
    }

    @Test("A card that was revoked singly stays away, and single sharing keeps a card that leaves the group")
    func single() throws {
        try there.change("revoke", app, contacts: ["Bob"])
        try there.move("addMember", "Cid")
        try there.move("removeMember", "Bob")
        try there.move("addMember", "Bob")
        #expect(try names() == ["Ada", "Cid"])
        try there.change("share", app, contacts: ["Cid"])
        try there.move("removeMember", "Cid")
        #expect(try names() == ["Ada", "Cid"])
        // Sharing the group again shares all its members.
        try there.change("share", app, groups: ["Family"])
        #expect(try names() == ["Ada", "Bob", "Cid"])
    }

    @Test("Without the group, its members leave, and no member joins later")
    func revoked() throws {
        let token = try app.history(nil).token
        let answer = try there.change("revoke", app, groups: ["Family"])
        #expect(answer.error == nil && answer.parameters["grants"]?.count == 1)
        #expect(try names() == ["Ada"] && there.events(app, since: token) == ["revoked"])
        try there.move("addMember", "Cid")
        #expect(try names() == ["Ada"])
        #expect(try there.change("revoke", app, groups: ["Family"]).parameters["grants"]?.count == 0)
    }

    @Test("Of two groups, a card leaves with the last one that has it")
    func two() throws {
        let made = try there.keeper.save([
            GroupTests.add("Club", as: "c"), GroupTests.step("addMember", "c", try there.keeper.identifier(of: "Bob")),
            GroupTests.step("addMember", "c", try there.keeper.identifier(of: "Dora")),
        ])
        #expect(made.error == nil)
        try there.change("share", app, groups: ["Club"])
        #expect(try names() == ["Ada", "Bob", "Dora"])
        try there.change("revoke", app, groups: ["Family"])
        #expect(try names() == ["Ada", "Bob", "Dora"])
        try there.change("revoke", app, groups: ["Club"])
        #expect(try names() == ["Ada"])
    }

    @Test(
        "A grant that is narrowed, denied, reset or ended shares no group any more",
        arguments: ["narrow", "denied", "reset", "expired"])
    func ended(how: String) throws {
        let ctl = TestApp(fixture: there.fixture, caller: there.fixture.caller("root", uid: 0), interface: .admin)
        switch how {
        case "narrow": try there.change("narrow", app, contacts: ["Bob"])
        case "denied":
            #expect(
                try ctl.call("SetGrant", #"{"app":"mail","uid":1000,"status":"denied"}"#).error == nil)
            #expect(
                try ctl.call("SetGrant", #"{"app":"mail","strength":"sandboxed","uid":1000,"status":"limited"}"#).error
                    == nil)
        case "reset": #expect(try ctl.call("ResetGrant", #"{"app":"mail","uid":1000}"#).error == nil)
        default:
            let end = there.fixture.surroundings.seconds + 60
            #expect(
                try ctl.call(
                    "SetGrant",
                    #"{"app":"mail","uid":1000,"status":"limited","expires":"\#(Timestamp.text(seconds: end))"}"#
                ).error == nil)
            try there.move("addMember", "Dora")
            #expect(try names() == ["Ada", "Bob", "Dora"])
            there.fixture.loop.advance(by: .seconds(61))
            #expect(there.grant(of: app) == nil)
        }
        try there.move("addMember", "Cid")
        #expect(there.grant(of: app)?.groups ?? GrantedGroups() == GrantedGroups())
        if how == "narrow" { #expect(try names() == ["Bob"]) }
        if how == "denied" { #expect(try names().isEmpty) }
    }

    @Test(
        "A crash between the book's commit and the access database's leaves no set wrong",
        arguments: [("addMember", "Cid", ["Ada", "Bob", "Cid"]), ("removeMember", "Bob", ["Ada"])])
    func crash(operation: String, name: String, expected: [String]) throws {
        let before = there.fixture.files().filter { $0.key.contains("access.sqlite") }
        try there.move(operation, name)
        try there.fixture.crash(losing: before)
        let again = try there.fixture.app("mail", strength: .sandboxed)
        #expect(try names(again) == expected)
        #expect(
            try there.fixture.audit(operation == "addMember" ? .grant : .revocation).last?.contains("group") == true)
        // It is recorded once.
        let count = try there.fixture.audit(.grant).count
        try there.fixture.restart()
        #expect(try names(there.fixture.app("mail", strength: .sandboxed)) == expected)
        #expect(try there.fixture.audit(.grant).count == count)
    }

    @Test("A queued reply with a card that leaves is withdrawn")
    func withdrawn() throws {
        app.isFull = true
        let call = try app.begin("FetchContacts", #"{"keys":["givenName"]}"#)
        #expect(app.hasQueued)
        try there.move("removeMember", "Bob")
        #expect(!app.hasQueued)
        #expect(try app.replies(to: call).map(\.error) == ["AccessDenied"])
    }

    @Test(
        "An app that other programs can imitate gets no card later, until the person shares the group again",
        arguments: [IdentityStrength.installed, .claimed, .unverified])
    func weak(strength: IdentityStrength) throws {
        let weak = try there.app("editor", strength: strength)
        #expect(try there.change("share", weak, groups: ["Family"]).error == nil)
        #expect(try names(weak) == ["Ada", "Bob"])
        try there.move("addMember", "Cid")
        #expect(try names(weak) == ["Ada", "Bob"] && names() == ["Ada", "Bob", "Cid"])
        try there.move("removeMember", "Bob")
        try there.move("addMember", "Bob")
        #expect(try names(weak) == ["Ada"])
        #expect(try there.change("share", weak, groups: ["Family"]).error == nil)
        #expect(try names(weak) == ["Ada", "Bob", "Cid"])
    }

    @Test(
        "A change that cannot be made changes nothing, and each named group is recorded as a look-up",
        arguments: [
            ("share", "Nobody"), ("share", "family"), ("share", "Twice"), ("revoke", "Nobody"), ("narrow", "Family"),
        ])
    func nothing(change: String, group: String) throws {
        #expect(try there.keeper.save([GroupTests.add("Twice"), GroupTests.add("Twice")]).error == nil)
        let (before, lookUps) = (there.grant(of: app), try there.fixture.audit(.lookUp).count)
        #expect(try there.change(change, app, groups: [group]).error == "InvalidValue")
        #expect(there.grant(of: app) == before)
        #expect(try there.fixture.audit(.lookUp).count == lookUps + (change == "narrow" ? 0 : 1))
    }
}
