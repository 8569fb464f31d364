import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerVarlink
import Testing

@testable import BrokerCore
@testable import BrokerGrants

@Suite("Apps with “Never ask again”")
struct SilenceTests {
    @Test("“Never ask again” survives restarts and new connections, until the administrator resets the app")
    func silence() throws {
        let fixture = try BrokerFixture()
        let asking = try Asking(fixture)
        let query = #"{"query":"ada"}"#
        let app = try fixture.app("mail", strength: .unverified)
        try asking.asked(app, "RequestContacts", query, answering: #""neverAskAgain":true"#)
        try fixture.restart()
        let again = try TestPerson(fixture: fixture)
        for (method, parameters, error) in [
            ("RequestContacts", query, nil), ("PickContacts", "{}", nil), ("RequestAccess", "{}", nil),
            ("FetchContacts", #"{"keys":["givenName"]}"#, "AuthorizationNotDetermined"),
        ] {
            let reply = try fixture.app("mail", strength: .unverified).call(method, parameters)
            #expect(reply.error == error)
        }
        #expect(try again.prompts().isEmpty)
        // Another app, and the same name with another identity strength, are not affected.
        let others = [try fixture.app("chat", strength: .unverified), try fixture.app("mail", strength: .installed)]
        for other in others { #expect(try !other.begin("RequestContacts", query).isOver) }
        let administrator = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        #expect(try administrator.call("ResetGrant", #"{"app":"mail","strength":"unverified"}"#).error == nil)
        #expect(try administrator.call("ResetGrant", #"{"app":"mail","strength":"unverified"}"#).error == "UnknownApp")
        try fixture.restart()
        #expect(try !fixture.app("mail", strength: .unverified).begin("RequestContacts", query).isOver)
    }

    /// The rows of a list of apps.
    private func rows(_ answer: Answer) -> [[String?]] {
        (answer.parameters["grants"]?.elements.map(Array.init) ?? []).map {
            [$0["app"]?.string, $0["status"]?.string, $0["silenced"]?.bool.map { "\($0)" }]
        }
    }

    @Test(
        "An app that may never ask again has one row, in which the person lets it ask again", arguments: [false, true])
    func review(denied: Bool) throws {
        let fixture = try BrokerFixture()
        let asking = try Asking(fixture)
        let session = SessionIdentity(bootIdentifier: "boot", leader: ProcessIdentity(pid: 77, startTime: 1))
        let query = #"{"query":"ada"}"#
        func mail() -> TestApp {
            TestApp(fixture: fixture, caller: fixture.caller("mail", strength: .unverified, session: session))
        }
        // The app has to wait, too.
        for _ in 1...2 { try asking.asked(mail(), "RequestContacts", query) }
        fixture.loop.advance(by: .seconds(6))
        // A denial is of the terminal session, and the choice of the app.
        let never = (denied ? #""level":"denied","# : "") + #""neverAskAgain":true"#
        try asking.asked(mail(), "RequestContacts", query, answering: never)
        let administrator = TestApp(fixture: fixture, caller: fixture.caller("contactctl"), interface: .admin)
        let status = denied ? "denied" : "notDetermined"
        let person = asking.person
        func listed() throws -> [[String?]] {
            rows(try person.agent.call("ListGrants", #"{"agent":"\#(person.token)"}"#)).filter { $0[0] == "mail" }
        }
        #expect(try listed() == [["mail", status, "true"]])
        #expect(try rows(administrator.call("ListGrants")).filter { $0[0] == "mail" } == [["mail", status, "true"]])
        #expect(try person.review(mail())?["silenced"]?.bool == true)
        // Nothing else can be changed with it, and not at a prompt of the app.
        for fields in [#""level":"limited","mayAskAgain":true"#, #""mayAskAgain":true,"neverAskAgain":true"#] {
            #expect(try person.manage(mail(), answering: fields) == "InvalidAnswer")
        }
        #expect(try person.manage(mail(), answering: #""mayAskAgain":true"#) == nil)
        #expect(try listed() == (denied ? [["mail", "denied", nil]] : []))
        #expect(try fixture.audit(.revocation).last?.hasPrefix("asked again, by ") == true)
        let open = try asking.ask(mail(), "RequestContacts", query)
        #expect(open.outcome == (denied ? .line : .screen))
        let shown = try #require(fixture.prompts.open(1_000).first?.prompt)
        let prompt = TestPerson.Prompt(kind: "button", cookie: shown.cookie, isQuiet: denied)
        #expect(try person.answer(prompt, #""mayAskAgain":true"#).error == "InvalidAnswer")
    }

    @Test("If the list of silenced apps is full, the answer fails with a reason and decides nothing")
    func full() throws {
        let fixture = try BrokerFixture(silences: 1)
        let asking = try Asking(fixture)
        let never = #""level":"denied","neverAskAgain":true"#
        try asking.asked(fixture.app("chat", strength: .installed), answering: never)
        let mail = try fixture.app("mail", strength: .installed)
        let call = try asking.ask(mail).call
        let prompt = try #require(fixture.prompts.open(1_000).first?.prompt)
        let shown = TestPerson.Prompt(kind: "access", cookie: prompt.cookie, isQuiet: false)
        for fields in [never, #""neverAskAgain":true"#] {
            let answer = try asking.person.answer(shown, fields)
            #expect(answer.error == "InvalidAnswer")
            #expect(answer.parameters["reason"]?.string?.contains("already set for 1 apps") == true)
            #expect(answer.parameters["problem"]?.string == "silencesFull")
        }
        #expect(!call.isOver)
        #expect(try asking.person.answer(shown, #""level":"denied""#).error == nil)
        #expect(try mail.replies(1, to: call)[0].parameters["status"]?.string == "denied")
    }
}
