import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import Testing

@testable import BrokerCore
@testable import BrokerGrants
@testable import BrokerLedger

@Suite("Records of answers, agents and refused saves")
struct AnswerRecordTests {
    let fixture: BrokerFixture
    let person: TestPerson

    init() throws {
        fixture = try BrokerFixture()
        _ = try fixture.keeper().save((0..<3).map { .add(given: "N\($0)") })
        person = try TestPerson(fixture: fixture)
    }

    private static let withoutPassword = "by agent (claimed), without a password"

    /// Has an app of its own make a call, answers the prompt, and returns the record of the answer.
    private func record(
        _ method: String, _ parameters: String = "{}", answer: (TestPerson.Prompt) throws -> String
    ) throws -> String? {
        let count = try fixture.audit(.answer).count
        let app = try fixture.app("app \(count)", method == "ManageAccess" ? .limited(to: []) : nil)
        let call = try app.begin(method, parameters)
        let prompt = try #require(person.prompts().first)
        #expect(try person.answer(prompt, answer(prompt)).error == nil)
        #expect(try app.replies(1, to: call).count == 1)
        let records = try fixture.audit(.answer)
        #expect(records.count == count + 1)
        return records.last
    }

    private func row(_ prompt: TestPerson.Prompt) throws -> String {
        try #require(person.rows(prompt).first).identifier
    }

    @Test(
        "A review that the person opens and leaves is no answer, and says what the app got while the policy is broken")
    func review() throws {
        let app = try fixture.app("mail", .full)
        #expect(try app.fetch().names.count == 3)
        _ = try app.call("GetUserDefaults")
        for isBroken in [false, true] {
            if isBroken {
                fixture.grants.policy = PolicyInForce(
                    Policy(unreadable: Policy.Problem(.policy, "a.toml:1: x")),
                    revision: fixture.access.nextRevision(), loadedAt: 0, fixture.surroundings)
                fixture.history.movedOfAll()
            }
            let shown = try #require(try person.review(app))
            #expect(shown["contactsRead"]?.integer == 3 && shown["uses"]?.integer == 2)
            #expect(shown["lastReadAt"]?.string == Timestamp.text(seconds: fixture.surroundings.seconds))
            let left = TestPerson.Prompt(
                kind: "manage", cookie: try #require(shown["cookie"]?.string), isQuiet: false)
            #expect(try person.answer(left, "").error == nil)
        }
        #expect(try fixture.audit(.answer) == [])
        fixture.grants.policy = PolicyInForce(
            Policy(), revision: fixture.access.nextRevision(), loadedAt: 0, fixture.surroundings)
        // What they change there is an answer, but to no prompt of the app.
        let changed = try #require(try person.review(app)?["cookie"]?.string)
        let prompt = TestPerson.Prompt(kind: "manage", cookie: changed, isQuiet: false)
        #expect(try person.answer(prompt, #""level":"denied""#).error == nil)
        #expect(try fixture.audit(.answer) == ["denied " + AuditRecord.inReview + Self.withoutPassword])
    }

    @Test("The system's broker, whose socket only the installed agent may open, records it as such")
    func installed() throws {
        let fixture = try BrokerFixture(authority: TestAuthority([.answer: .granted]), mode: .system)
        try fixture.keeper(adding: "Ada")
        let person = try TestPerson(fixture: fixture)
        let app = try fixture.app("mail")
        _ = try app.begin("RequestAccess")
        try person.answer(#require(person.prompts().first), #""level":"denied""#)
        #expect(try fixture.audit(.answer) == ["denied by the installed agent, without a password"])
    }

    @Test("The record of every kind of answer names the agent that sent it")
    func kinds() throws {
        let card = #"{"contact":{"givenName":"New"}}"#
        #expect(
            try record("ProposeContact", card) { _ in #""addProposed":true"# } == "card accepted, "
                + Self.withoutPassword)
        #expect(
            try record("ProposeContact", card) { #""mergeInto":"\#(try row($0))""# } == "card merged, "
                + Self.withoutPassword)
        #expect(
            try record("PickContacts", #"{"keys":["givenName"]}"#) {
                #""picked":[{"contact":"\#(try row($0))","key":"identifier"}]"#
            } == "picked, " + Self.withoutPassword)
        #expect(
            try record("RequestContacts", #"{"query":"N0"}"#) {
                #""level":"limited","identifiers":["\#(try row($0))"]"#
            } == "limited " + Self.withoutPassword)
        #expect(try record("ManageAccess") { _ in "" } == "dismissed, " + Self.withoutPassword)
        #expect(try record("ManageAccess") { _ in #""level":"full""# } == "full " + Self.withoutPassword)
        #expect(try record("ManageAccess") { _ in #""level":"denied""# } == "denied " + Self.withoutPassword)
    }

    @Test("The record says whether a password was given, and the grant's explanation repeats it")
    func password() throws {
        let authority = TestAuthority([.answer: .granted, .shareAll: .granted])
        let fixture = try BrokerFixture(authority: authority)
        try fixture.keeper(adding: "Ada")
        let person = try TestPerson(fixture: fixture)
        let mail = try fixture.app("mail")
        let call = try mail.begin("RequestAccess")
        #expect(try person.answer(#require(person.prompts().first), #""level":"full""#).error == nil)
        #expect(try mail.replies(1, to: call)[0].parameters["status"]?.string == "full")
        let source = "by agent (claimed), with the password"
        #expect(try fixture.audit(.answer) == ["full " + source])
        #expect(try fixture.audit(.agent) == ["joined, with the password"])
        // The grant keeps it over a restart.
        try fixture.restart()
        let administrator = TestApp(
            fixture: fixture, caller: fixture.caller("contactctl", strength: .unverified), interface: .admin)
        let reasons = try administrator.call("ExplainDecision", #"{"app":"mail"}"#).strings("reasons")
        #expect(
            reasons.contains {
                $0.contains("you allowed it all contacts") && $0.contains(" with agent, with the password")
            })
        let grants = try administrator.call("ListGrants").parameters["grants"]?.elements.map(Array.init) ?? []
        #expect(grants.compactMap { $0["decidedThrough"]?.string } == [source])
    }

    @Test("An agent that joins or leaves is on record; one that only notifies is not")
    func agents() throws {
        #expect(try fixture.audit(.agent) == ["joined, without a password"])
        let notifier = TestApp(fixture: fixture, caller: fixture.caller("notifier"), interface: .agent)
        _ = try notifier.begin("Serve", #"{"notifyOnly":true}"#, more: true)
        notifier.hangUp()
        person.leave()
        let expected = ["joined, without a password", "left"]
        #expect(fixture.loop.run { (try? fixture.audit(.agent)) == expected })
        let stranger = TestApp(fixture: fixture, caller: fixture.caller("stranger"), interface: .agent)
        #expect(try stranger.call("Serve").error == "ExpectedMore")
        stranger.hangUp()
        // An agent that comes and goes does not fill the audit: equal records are counted.
        for _ in 0..<20 { try TestPerson(fixture: fixture).leave() }
        #expect(try fixture.audit(.agent) == expected)
    }

    @Test("A refused deletion is on record, whatever it names")
    func deletion() throws {
        let limited = try fixture.app("chat", .limited(to: [RecordNumber(1)]))
        for _ in 0..<2 {
            let answer = try limited.call(
                "SaveContacts", #"{"changes":[{"operation":"delete","contact":{"identifier":"unknown"}}]}"#)
            #expect(answer.error == "RecordDoesNotExist")
        }
        #expect(try fixture.audit(.refusal) == ["limited SaveContacts, RecordDoesNotExist"])
        #expect(try fixture.audit(.save).count == 1, "that of the keeper")
    }

    @Test("A limit that the audit does not accept is refused with the permitted values", arguments: [0, 1_000_000])
    func limits(limit: Int) throws {
        let administrator = TestApp(
            fixture: fixture, caller: fixture.caller("contactctl", strength: .unverified), interface: .admin)
        let answer = try administrator.call("QueryAudit", #"{"limit":\#(limit)}"#)
        #expect(answer.error == "InvalidValue" && answer.text.contains("from 1 to 100000"))
    }
}
