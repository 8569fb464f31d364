import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerCore
@testable import BrokerGrants
@testable import BrokerLedger

@Suite("Answers to manage prompts")
struct ManageAnswerTests {
    private let authority = TestAuthority([.answer: .granted, .shareAll: .granted])
    private let fixture: BrokerFixture
    private let person: TestPerson

    init() throws {
        fixture = try BrokerFixture(authority: authority)
        try fixture.keeper(adding: "Ada", "Grace")
        person = try TestPerson(fixture: fixture)
    }

    private func grant(_ app: TestApp) throws -> Grant {
        try #require(fixture.access.grant(of: app.principal))
    }

    private func keys(_ keys: ContactKeySet) -> String {
        #""keys":[\#(keys.grantNames.map { "\"\($0)\"" }.joined(separator: ","))]"#
    }

    private func rule(_ fill: (inout Rule) -> Void) {
        var rule = Rule(place: "test.toml:1")
        fill(&rule)
        fixture.rule([rule])
    }

    @Test("A prompt for an app with a grant names the keys of the grant")
    func described() throws {
        let call = try fixture.app("new").begin("RequestAccess")
        #expect(try person.told().last?["grantedKeys"] == nil)
        try person.answer(try #require(try person.prompts().last))
        try #require(fixture.loop.run { call.isOver })
        let some = ContactKeySet([.givenName, .note])
        for access in [Access.denied, .limited(to: []), .full] {
            let app = try fixture.app("mail", access, keys: some)
            let prompt = try person.review(app)
            #expect(
                prompt?["grantedKeys"]?.elements?.compactMap(\.string) == ["givenName", "note"])
            let listed = try person.agent.call("ListGrants", #"{"agent":"\#(person.token)"}"#)
            let grant = listed.parameters["grants"]?.elements?.first { $0["app"]?.string == "mail" }
            #expect(grant?["keys"]?.elements?.compactMap(\.string) == ["givenName", "note"])
            fixture.grants.endGrant(app.principal, detail: "test")
        }
    }

    @Test("The person can change every level into every other")
    func levels() throws {
        let app = try fixture.app("mail", .limited(to: fixture.records("Ada")))
        #expect(try person.manage(app, answering: #""level":"full""#) == nil)
        #expect(try grant(app).access == .full)
        #expect(try person.manage(app, answering: #""level":"limited""#) == nil)
        #expect(try grant(app).access == .limited(to: []))
        #expect(try person.manage(app, answering: #""level":"denied""#) == nil)
        #expect(try grant(app).access == .denied)
        let prompt = try #require(try person.manage(app))
        let ada = try #require(try person.rows(prompt, query: "Ada").first).identifier
        #expect(try person.answer(prompt, #""level":"limited","identifiers":["\#(ada)"]"#).error == nil)
        #expect(try app.fetch().names == ["Ada"])
        #expect(try person.manage(app, answering: #""level":"denied""#) == nil)
        #expect(try person.manage(app, answering: #""level":"full""#) == nil)
        #expect(try app.fetch().names == ["Ada", "Grace"])
        #expect(try grant(app).keys == Grant.ordinaryKeys)
    }

    @Test("Ordinary keys can be taken and given again, and the contacts and the lifetime stay")
    func ordinaryKeys() throws {
        let few = ContactKeySet([.givenName, .familyName])
        let set = try fixture.records("Ada")
        let app = try fixture.app("mail", .limited(to: set))
        let end = fixture.surroundings.seconds + 1_000
        try fixture.settle(.limited(to: set), changes: .own, lifetime: .untilTime(end), for: app)
        for wanted in [few, Grant.ordinaryKeys, ContactKeySet(.givenName), few] {
            #expect(try person.manage(app, answering: #""level":"limited",\#(keys(wanted))"#) == nil)
            #expect(try grant(app).keys == wanted && grant(app).access == .limited(to: set))
            #expect(try grant(app).lifetime == .untilTime(end))
        }
        #expect(authority.actions == [.answer])
        let full = try fixture.app("chat", .full)
        #expect(try person.manage(full, answering: #""level":"full",\#(keys(few))"#) == nil)
        #expect(try grant(full).keys == few && authority.actions == [.answer])
        // More keys of an app with full access need the password, as in a prompt for keys.
        #expect(try person.manage(full, answering: #""level":"full",\#(keys(Grant.ordinaryKeys))"#) == nil)
        #expect(try grant(full).keys == Grant.ordinaryKeys && authority.actions == [.answer, .shareAll])
    }

    @Test(
        "Keys by name can be given if the app has asked for them, also after a restart",
        arguments: [ContactKeySet(.note), ContactKeySet(.extraProperties), .groups])
    func keysByName(key: ContactKeySet) throws {
        let asking = #"{\#(keys(key.union(ContactKeySet(.givenName))))}"#
        let wanted = Grant.ordinaryKeys.union(key)
        for asked in [true, false] {
            let app = try fixture.app("asked \(asked)")
            let call = try app.begin("RequestAccess", asked ? asking : "{}")
            try person.answer(try #require(try person.prompts().last), #""level":"limited","lifetime":"untilRevoked""#)
            try #require(fixture.loop.run { call.isOver })
            #expect(
                try person.manage(app, answering: #""level":"limited",\#(keys(wanted))"#)
                    == (asked ? nil : "InvalidAnswer"))
            #expect(try grant(app).keys == (asked ? wanted : Grant.ordinaryKeys))
            // The person can take the key, and give it again.
            #expect(try person.manage(app, answering: #""level":"limited",\#(keys(Grant.ordinaryKeys))"#) == nil)
            #expect(try grant(app).keys == Grant.ordinaryKeys)
            #expect(
                try person.manage(app, answering: #""level":"full",\#(keys(wanted))"#)
                    == (asked ? nil : "InvalidAnswer"))
            guard !asked else { continue }
            // The app asks at last, and the person does not give the key at once.
            let later = try app.begin("RequestAccess", asking)
            try person.answer(try #require(try person.prompts().last))
            try #require(fixture.loop.run { later.isOver })
            let revision = try grant(app).revision
            try fixture.restart()
            #expect(try grant(app).asked == key && grant(app).revision == revision)
            let person = try TestPerson(fixture: fixture)
            let prompt = try #require(try person.manage(app))
            #expect(try person.answer(prompt, #""level":"limited",\#(keys(wanted))"#).error == nil)
            #expect(try grant(app).keys == wanted)
        }
    }

    @Test("No answer adds keys that the policy does not permit, and those that are there may stay")
    func beyondPolicy() throws {
        let few = ContactKeySet([.givenName, .familyName])
        let app = try fixture.app(
            "mail", .limited(to: fixture.records("Ada")), keys: ContactKeySet([.givenName, .jobTitle]))
        let note = ContactKeySet(.note)
        fixture.access.noteAsked(note, by: app.principal)
        rule { $0.maximumKeys = few }
        for wanted in [few.union(note), few.union(ContactKeySet(.nickname)), Grant.ordinaryKeys] {
            for level in ["limited", "full"] {
                #expect(try person.manage(app, answering: #""level":"\#(level)",\#(keys(wanted))"#) == "InvalidAnswer")
            }
        }
        #expect(try grant(app).keys == ContactKeySet([.givenName, .jobTitle]))
        #expect(
            try person.manage(app, answering: #""level":"limited",\#(keys(few.union(ContactKeySet(.jobTitle))))"#)
                == nil)
        #expect(try grant(app).keys == few.union(ContactKeySet(.jobTitle)))
        #expect(try app.call("GetAuthorization").strings("keys") == ["givenName", "familyName"])
    }

    @Test("Under a policy that limits the level, a change of keys leaves the stored grant full")
    func keptUnderPolicy() throws {
        let app = try fixture.app("mail", .full)
        rule { $0.capsLevel = true }
        let few = ContactKeySet([.givenName])
        #expect(try person.manage(app, answering: #""level":"limited",\#(keys(few))"#) == nil)
        #expect(try grant(app).access == .full && grant(app).keys == few)
        #expect(try app.fetch().names.isEmpty)
    }
}
