import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import Testing

@testable import BrokerCore
@testable import BrokerGrants
@testable import BrokerLedger

@Suite("What lists and explanations say that an app may see")
struct ShownAccessTests {
    private let fixture: BrokerFixture
    private let administrator: TestApp
    private static let week: Int64 = 7 * 86_400

    init() throws {
        fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada", "Grace")
        administrator = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
    }

    private func rule(_ fill: (inout Rule) -> Void) {
        var rule = Rule(place: "test.toml:1")
        rule.strengths = [.installed]
        fill(&rule)
        fixture.rule([rule])
    }

    private func listed(_ answer: Answer, _ list: String = "grants") throws -> JSONValue {
        try #require(answer.parameters[list]?.elements?.first { $0["app"]?.string == "mail" })
    }

    private func keys(_ json: JSONValue) -> [String] { json["keys"]?.elements?.compactMap(\.string) ?? [] }

    @Test("Under a policy, the lists of the administrator and of the agent, why and who agree")
    func agree() throws {
        let mail = try fixture.app("mail", .full, strength: .installed)
        rule {
            $0.maximumKeys = ContactKeySet([.givenName])
            $0.maximumLifetime = Self.week
        }
        let end = Timestamp.text(seconds: fixture.surroundings.seconds + Self.week)
        let person = try TestPerson(fixture: fixture)
        for grant in [
            try listed(administrator.call("ListGrants")),
            try listed(person.agent.call("ListGrants", #"{"agent":"\#(person.token)"}"#)),
            try listed(administrator.call("FindContactAccess", #"{"contact":"Ada"}"#), "now"),
        ] {
            #expect(keys(grant) == ["givenName"])
            #expect(grant["expires"]?.string == end && grant["status"]?.string == "full")
        }
        let why = try administrator.call("ExplainDecision", #"{"app":"mail"}"#)
        #expect(
            why.strings("reasons").last
                == "so it sees all contacts, and may \(ChangeRight.all.words), until \(end)")
        // A cap leaves it no contact, and the grant that is stored says nothing else.
        rule { $0.capsLevel = true }
        let capped = try listed(administrator.call("ListGrants"))
        #expect(capped["counts"]?.string == "limited" && capped["contacts"]?.integer == 0)
        #expect(try mail.fetch().names == [])
        rule { $0.denies = true }
        #expect(try keys(listed(administrator.call("ListGrants"))) == [])
    }

    @Test("A grant that ends unless it is used has the same end in every list")
    func unused() throws {
        _ = try fixture.app("mail", .full, strength: .installed)
        rule { $0.maximumUnused = Self.week }
        let end = Timestamp.text(seconds: fixture.surroundings.seconds + Self.week)
        #expect(try listed(administrator.call("ListGrants"))["expires"]?.string == end)
        let why = try administrator.call("ExplainDecision", #"{"app":"mail"}"#)
        #expect(
            why.strings("reasons").last
                == "so it sees all contacts, and may \(ChangeRight.all.words), until \(end)")
    }

    @Test("A grant that somebody narrows keeps the time of its decision, and who decided")
    func narrowed() throws {
        _ = try fixture.app("mail", .full, strength: .installed)
        let before = try listed(administrator.call("ListGrants"))
        fixture.loop.advance(by: .seconds(60))
        let root = TestApp(fixture: fixture, caller: fixture.caller("contactctl", uid: 0), interface: .admin)
        let narrow = #"{"app":"mail","uid":1000,"status":"full","keys":["givenName"]}"#
        let now = try listed(root.call("SetGrant", narrow))
        #expect(keys(now) == ["givenName"])
        for member in ["decidedAt", "decidedBy", "decidedThrough"] {
            #expect(now[member]?.string == before[member]?.string, "\(member)")
        }
        let denied = try listed(root.call("SetGrant", #"{"app":"mail","uid":1000,"status":"denied"}"#))
        #expect(denied["decidedThrough"]?.string == "revoked by root" && denied["decidedBy"]?.string == "administrator")
        #expect(denied["decidedAt"]?.string == Timestamp.text(seconds: fixture.surroundings.seconds))
    }

    @Test("To ask for an app's effective access makes no key, records nothing and commits nothing")
    func queries() throws {
        rule { $0.forcedLevel = .full }
        let app = try fixture.app("mail", strength: .installed)
        let access = fixture.access
        _ = try app.call("GetAuthorization")
        app.session.known = nil
        #expect(fixture.grants.effectiveAccess(of: app.session).effective.status == .full)
        #expect(!access.hasUncommitted)
        #expect(access.identifiers(for: app.principal, sharesPersistentKey: true) == nil)
        _ = try app.fetch()
        #expect(access.identifiers(for: app.principal, sharesPersistentKey: true) != nil)
    }
}
