import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerVarlink
import Testing

@testable import BrokerCore

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

    @Test("If the list of silenced apps is full, the answer fails with a reason and decides nothing")
    func full() throws {
        let fixture = try BrokerFixture(silences: 1)
        let asking = try Asking(fixture)
        let never = #""level":"denied","neverAskAgain":true"#
        try asking.asked(fixture.app("chat", strength: .installed), answering: never)
        let mail = try fixture.app("mail", strength: .installed)
        let call = try asking.ask(mail).call
        let prompt = try #require(fixture.broker.prompts.open(1_000).first?.prompt)
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
