import BrokerAccessControl
import BrokerJSON
import BrokerVarlink
import Testing

@testable import BrokerCore
@testable import BrokerGrants

@Suite("Calls of several processes of one app")
struct JoiningTests {
    private let fixture: BrokerFixture
    private let person: TestPerson

    init() throws {
        fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada", "Grace")
        person = try TestPerson(fixture: fixture)
    }

    private static func session(_ leader: Int32) -> SessionIdentity {
        SessionIdentity(bootIdentifier: "boot", leader: ProcessIdentity(pid: leader, startTime: 1))
    }

    /// Begins a call that must wait for the person.
    private func ask(_ app: TestApp, _ method: String = "RequestAccess", _ parameters: String = "{}") throws -> Call {
        let call = try app.begin(method, parameters)
        fixture.loop.iterate()
        #expect(!call.isOver)
        return call
    }

    @Test("A second process of an app waits for the open prompt, and gets the answer", arguments: ["full", "denied"])
    func joined(level: String) throws {
        let apps = [try fixture.app("mail"), try fixture.app("mail"), try fixture.app("mail")]
        let calls = try apps.map { try ask($0) }
        let fetch = try ask(apps[2], "FetchContacts", #"{"keys":["givenName"]}"#)
        let prompts = try person.prompts()
        #expect(prompts.count == 1)
        try person.answer(prompts[0], #""level":"\#(level)""#)
        for (app, call) in zip(apps, calls) {
            #expect(try app.replies(1, to: call)[0].text == #"{"status":"\#(level)"}"#)
        }
        let reply = try apps[2].replies(1, to: fetch)[0]
        #expect(level == "full" ? reply.names.sorted() == ["Ada", "Grace"] : reply.error == "AccessDenied")
        #expect(try person.prompts().isEmpty)
    }

    @Test("If the answer does not cover the second process, that process asks for itself")
    func notCovered() throws {
        func app(_ session: Int32) -> TestApp {
            let caller = fixture.caller("mail", strength: .unverified, session: Self.session(session))
            return TestApp(fixture: fixture, caller: caller)
        }
        let (first, second) = (app(1), app(2))
        let calls = [try ask(first), try ask(second)]
        try person.answer(try #require(person.prompts().first), #""level":"full""#)
        #expect(try first.replies(1, to: calls[0])[0].text == #"{"status":"full"}"#)
        #expect(!calls[1].isOver)
        try person.answer(try #require(person.prompts().first), #""level":"denied""#)
        #expect(try second.replies(1, to: calls[1])[0].text == #"{"status":"denied"}"#)
    }

    @Test("If the first process ends, the second one still gets the answer, and a dismissal ends both")
    func ended() throws {
        let (first, second) = (try fixture.app("mail"), try fixture.app("mail"))
        _ = try ask(first)
        let call = try ask(second)
        let prompt = try #require(person.prompts().first)
        first.hangUp()
        fixture.loop.iterate()
        #expect(!call.isOver)
        try person.answer(prompt)
        #expect(try second.replies(1, to: call)[0].text == #"{"status":"notDetermined"}"#)
        #expect(try person.prompts().isEmpty)
    }

    @Test("Other apps, scripts and other kinds of prompts do not join")
    func others() throws {
        _ = try ask(try fixture.app("mail"))
        #expect(try fixture.app("mail").call("RequestContacts", #"{"query":"ada"}"#).error == "TooManyPrompts")
        _ = try ask(try fixture.app("chat"))
        #expect(fixture.prompts.openCount(1_000) == 2)
        func script() -> TestApp {
            let caller = fixture.caller(
                "python3", strength: .unverified, session: Self.session(7), isInterpreter: true)
            return TestApp(fixture: fixture, caller: caller)
        }
        _ = try ask(script())
        #expect(try script().call("RequestAccess").error == "TooManyPrompts")
    }

    @Test("Managing access and picking show the app's purpose", arguments: ["ManageAccess", "PickContacts"])
    func purposes(method: String) throws {
        let app = try fixture.app("mail", .limited(to: fixture.records("Ada")))
        _ = try ask(app, method, #"{"purpose":"to plan a party"}"#)
        #expect(try person.told().last?["purpose"]?.string == "to plan a party")
        #expect(try fixture.audit(.prompt).last?.contains(" purpose:") == true)
        #expect(try fixture.app("chat").call(method, #"{"purpose":7}"#).error == "InvalidParameter")
    }

    @Test("The caption defaultText shows the only match by its name, and several matches with what tells them apart")
    func caption() throws {
        let keeper = try fixture.app("keeper", .full)
        for place in ["work", "home"] {
            let email = #","emailAddresses":[{"value":"\#(place)@example.org"}]"#
            try #require(try keeper.save([.add(given: "Linus", extra: email)]).error == nil)
        }
        let email = #","emailAddresses":[{"value":"kate@example.org"}]"#
        try #require(try keeper.save([.add(given: "Kate", extra: email)]).error == nil)
        for (caption, query, details) in [
            ("defaultText", "kate", [nil]), ("email", "kate", ["kate@example.org"]),
            ("defaultText", "linus", ["work@example.org", "home@example.org"]),
        ] as [(String, String, [String?])] {
            let app = try fixture.app("mail-\(caption)-\(query)")
            _ = try ask(app, "RequestContacts", #"{"query":"\#(query)","caption":"\#(caption)"}"#)
            let prompt = try #require(person.prompts().last)
            let rows = try person.rows(prompt, query: query)
            #expect(Set(rows.map(\.detail)) == Set(details), "\(caption) \(query)")
            try person.answer(prompt)
        }
    }
}
