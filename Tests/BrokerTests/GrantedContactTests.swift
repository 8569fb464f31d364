import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import Testing

@testable import BrokerCore

@Suite("Sharing and revoking single contacts at the administrator's socket")
struct GrantedContactTests {
    private let authority = TestAuthority()
    private let fixture: BrokerFixture
    private let app: TestApp
    private let ctl: TestApp

    init() throws {
        fixture = try BrokerFixture(authority: authority)
        try fixture.keeper(adding: "Ada", "Grace", "Gracie", "Hedy")
        app = try fixture.app("mail", .limited(to: fixture.records("Ada").union(fixture.records("Hedy"))))
        ctl = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
    }

    /// Makes the change with the password.
    private func change(_ change: String, _ contacts: [String], app: String = "mail") throws -> Answer {
        let list = contacts.map { "\"\($0)\"" }.joined(separator: ",")
        let call = try ctl.begin(
            "ChangeGrantedContacts",
            #"{"app":"\#(app)","change":"\#(change)","contacts":[\#(list)],"allowInteractiveAuthentication":true}"#)
        if !authority.open.isEmpty { try authority.answer(.granted) }
        return try #require(try ctl.replies(1, to: call).first)
    }

    private func lookUps() throws -> Int { try fixture.audit(.lookUp).count }

    @Test("A revoked contact is neither fetched nor found, and the record names it")
    func revoke() throws {
        let ada = try app.identifier(of: "Ada")
        let answer = try change("revoke", ["ada"])
        let grants = answer.parameters["grants"]?.elements.map(Array.init) ?? []
        #expect(answer.error == nil && grants.count == 1 && grants[0]["contacts"]?.integer == 1)
        #expect(try app.fetch().names == ["Hedy"])
        #expect(try app.fetch(#""predicate":{"identifiers":["\#(ada)"]}"#).names.isEmpty)
        let records = try fixture.access.audit.reader.records(
            matching: AuditFilter(event: .revocation), after: nil, limit: 10)
        let pseudonym = try fixture.access.audit.pseudonyms.pseudonym(
            of: #require(fixture.records("Ada").first), uid: 1_000)
        #expect(records.last?.contacts == [pseudonym] && records.last?.count == 1)
        // Again, it changes nothing.
        let revision = fixture.access.grant(of: app.principal)?.revision
        #expect(try change("revoke", ["Ada"]).parameters["grants"]?.count == 0)
        #expect(fixture.access.grant(of: app.principal)?.revision == revision)
    }

    @Test("Narrowing keeps those of the named contacts that the app saw, also if it saw all")
    func narrow() throws {
        #expect(try change("narrow", ["Ada", "Grace"]).error == nil)
        #expect(try app.fetch().names == ["Ada"])
        let all = try fixture.app("chat", .full)
        try fixture.grant(.full, keys: ContactKeySet([.givenName]), to: all)
        #expect(try change("narrow", ["Grace", "Hedy"], app: "chat").error == nil)
        #expect(try all.fetch().names.sorted() == ["Grace", "Hedy"])
        #expect(fixture.access.grant(of: all.principal)?.keys == ContactKeySet([.givenName]))
        let who = try ctl.begin("FindContactAccess", #"{"contact":"Grace","allowInteractiveAuthentication":true}"#)
        try authority.answer(.granted)
        let now = try ctl.replies(1, to: who)[0].parameters["now"]?.elements?.compactMap { $0["app"]?.string }
        #expect(now?.sorted() == ["chat", "keeper"])
    }

    @Test("Sharing adds contacts to a limited grant, with the password for sharing, and the dialog says how many")
    func share() throws {
        let call = try ctl.begin(
            "ChangeGrantedContacts",
            #"{"app":"mail","change":"share","contacts":["Grace","Gracie"],"allowInteractiveAuthentication":true}"#)
        #expect(authority.open.map(\.action) == [.shareAll] && authority.open.map(\.access) == ["2 more contacts"])
        #expect(try app.fetch().names.count == 2)
        try authority.answer(.granted)
        #expect(try ctl.replies(1, to: call)[0].error == nil)
        #expect(try app.fetch().names.sorted() == ["Ada", "Grace", "Gracie", "Hedy"])
    }

    @Test(
        "A change that cannot be made changes nothing",
        arguments: [
            ("revoke", ["Ada", "nobody"], "mail"), ("revoke", ["Gra"], "mail"), ("narrow", ["Ada", "Gra"], "mail"),
            ("share", ["Grace", "nobody"], "mail"), ("revoke", ["Ada"], "keeper"), ("share", ["Ada"], "refused"),
            ("share", ["Ada"], "absent"), ("revoke", ["Ada", " "], "mail"), ("revoke", [], "mail"),
            ("remove", ["Ada"], "mail"),
        ])
    func nothing(change name: String, contacts: [String], app: String) throws {
        _ = try fixture.app("refused", .denied)
        let before = fixture.access.principals.map { fixture.access.grant(of: $0) }
        let answer = try change(name, contacts, app: app)
        #expect(answer.error != nil)
        #expect(fixture.access.principals.map { fixture.access.grant(of: $0) } == before)
    }

    @Test("Each named contact is recorded as a look-up, also if nothing matches")
    func recorded() throws {
        _ = try change("revoke", ["Ada", "nobody"])
        #expect(try lookUps() == 2)
    }

    @Test("Root may name another user's contacts only if the settings permit it, and only by whole values")
    func root() throws {
        let fields = #"{"app":"mail","uid":1000,"change":"revoke","contacts":["Ada"]}"#
        let root = TestApp(fixture: fixture, caller: fixture.caller("contactctl", uid: 0), interface: .admin)
        #expect(try root.call("ChangeGrantedContacts", fields).error == "InvalidValue")
        #expect(try app.fetch().names.count == 2)
        let permitted = try BrokerFixture(authority: TestAuthority(), mayLookUpContacts: true)
        try permitted.keeper(adding: "Ada", "Hedy")
        let mail = try permitted.app("mail", .limited(to: permitted.records("Ada").union(permitted.records("Hedy"))))
        let there = TestApp(fixture: permitted, caller: permitted.caller("contactctl", uid: 0), interface: .admin)
        #expect(try there.call("ChangeGrantedContacts", fields.replacing("Ada", with: "Ad")).error == "InvalidValue")
        #expect(try there.call("ChangeGrantedContacts", fields).error == nil)
        #expect(try mail.fetch().names == ["Hedy"])
        #expect(try permitted.audit(.lookUp) == ["by root", "by root"])
        #expect(try there.call("ChangeGrantedContacts", fields.replacing("revoke", with: "share")).error == nil)
        #expect(try mail.fetch().names.sorted() == ["Ada", "Hedy"])
        #expect(try permitted.audit(.grant).last == "limited untilRevoked, changes all, by root")
    }

    @Test("In session mode this socket revokes, but does not share")
    func session() throws {
        let fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada", "Hedy")
        let mail = try fixture.app("mail", .limited(to: fixture.records("Ada")))
        let ctl = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        func change(_ change: String, _ contact: String) throws -> String? {
            try ctl.call(
                "ChangeGrantedContacts", #"{"app":"mail","change":"\#(change)","contacts":["\#(contact)"]}"#
            ).error
        }
        #expect(try change("share", "Hedy") == "InvalidValue" && mail.fetch().names == ["Ada"])
        #expect(try change("revoke", "Ada") == nil && mail.fetch().names.isEmpty)
    }
}
