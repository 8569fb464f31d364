import BrokerAccessControl
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerGrants

extension TestApp {
    /// Makes the app's process run another executable and keep the connection.
    func becomeAnotherProgram() { process.isItself = false }
}

@Suite("What a one-time pick may disclose")
struct PickChecksTests {
    private static let number = "+44 20 7946 0018"

    private let fixture: BrokerFixture
    private let person: TestPerson

    init() throws {
        fixture = try BrokerFixture()
        let keeper = try fixture.app("keeper", .full)
        let phone = #","phoneNumbers":[{"value":"\#(Self.number)"}]"#
        try #require(try keeper.save([.add(given: "Ada", extra: phone)]).error == nil)
        person = try TestPerson(fixture: fixture)
    }

    private func asking(
        _ app: TestApp, _ rules: String = ""
    ) throws -> (call: Call, prompt: TestPerson.Prompt) {
        let call = try app.begin("PickContacts", #"{"keys":["givenName","phoneNumbers"]\#(rules)}"#)
        return (call, try #require(person.prompts().first))
    }

    /// Picks the whole card of the only contact.
    private func pick(_ prompt: TestPerson.Prompt) throws -> Answer {
        let row = try #require(person.rows(prompt).first).identifier
        return try person.answer(prompt, #""picked":[{"contact":"\#(row)","key":"identifier"}]"#)
    }

    private func allow(_ keys: ContactKeySet) {
        var rule = Rule(place: "test.toml:1")
        rule.strengths = [.installed]
        rule.maximumKeys = keys
        fixture.rule([rule])
    }

    @Test("A picked contact is handed over and recorded")
    func handedOver() throws {
        let app = try fixture.app("mail")
        let (call, prompt) = try asking(app)
        #expect(try pick(prompt).error == nil)
        #expect(try app.replies(1, to: call)[0].text.contains(Self.number))
        #expect(try fixture.audit(.disclosure).contains { $0.hasSuffix("picked") })
    }

    @Test("A process that runs another program by the time of the answer gets nothing")
    func anotherProgram() throws {
        let app = try fixture.app("mail")
        let (call, prompt) = try asking(app)
        app.becomeAnotherProgram()
        _ = try pick(prompt)
        let reply = try app.replies(1, to: call)[0]
        #expect(reply.error == "AccessDenied")
        #expect(!reply.text.contains(Self.number))
        #expect(try !fixture.audit(.disclosure).contains { $0.hasSuffix("picked") })
    }

    @Test("A key that the policy forbids looks empty to the conditions of a picker and at the agent")
    func forbiddenKey() throws {
        allow(.names)
        let app = try fixture.app("mail", strength: .installed)
        let (_, ruled) = try asking(app, #","enabling":{"hasKeys":["phoneNumbers"]}"#)
        #expect(try pick(ruled).error == "InvalidAnswer")
        let row = try #require(person.rows(ruled).first).identifier
        let card = try person.agent.call(
            "Show", #"{"agent":"\#(person.token)","cookie":"\#(ruled.cookie)","identifier":"\#(row)"}"#)
        #expect(card.error == nil && !card.text.contains(Self.number))
    }

    @Test("A key that the policy forbids while the prompt is open is not handed over")
    func forbiddenMeanwhile() throws {
        let app = try fixture.app("mail", strength: .installed)
        let (call, prompt) = try asking(app)
        allow(.names)
        // If the prompt has changed, it is shown again under another cookie.
        let shown = try person.prompts().first ?? prompt
        #expect(try pick(shown).error == nil)
        let reply = try app.replies(1, to: call)[0]
        #expect(reply.names == ["Ada"] && !reply.text.contains(Self.number))
    }
}
