import BrokerAccessControl
import BrokerInterface
import BrokerVarlink
import Testing

@testable import BrokerCore
@testable import BrokerGrants

@Suite("How long an app must wait after an answer")
struct AnswerWaitTests {
    private let fixture: BrokerFixture
    private let person: TestPerson

    init() throws {
        fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada")
        person = try TestPerson(fixture: fixture)
    }

    /// The reply to an answer to the prompt of this call.
    private func reply(
        _ app: TestApp, _ method: String = "RequestAccess", _ parameters: String = "{}", answering fields: String
    ) throws -> String {
        let call = try app.begin(method, parameters)
        try #require(fixture.loop.run { call.isOver || fixture.prompts.openCount(1_000) > 0 })
        let prompt = try #require(try person.prompts().last)
        let row = try person.rows(prompt).first?.identifier ?? ""
        let answer = try person.answer(prompt, fields.replacing("<row>", with: row))
        try #require(answer.error == nil, "\(answer.text)")
        return answer.text
    }

    @Test("The reply says the seconds that the app must wait, and nothing if it need not")
    func waits() throws {
        let app = try fixture.app("mail")
        #expect(try reply(app, answering: "") == "{}")
        #expect(try reply(app, "RequestContacts", #"{"query":"ada"}"#, answering: "") == #"{"wait":5}"#)
        fixture.loop.advance(by: .seconds(5))
        #expect(try reply(app, "PickContacts", "{}", answering: "") == #"{"wait":10}"#)
        fixture.loop.advance(by: .seconds(10))
        #expect(try reply(app, answering: #""level":"denied""#) == #"{"wait":20}"#)
        fixture.loop.advance(by: .seconds(20))
        #expect(try reply(app, "ProposeContact", #"{"contact":{"givenName":"New"}}"#, answering: "") == #"{"wait":40}"#)
        fixture.loop.advance(by: .seconds(40))
        #expect(
            try reply(
                app, "RequestContacts", #"{"query":"ada"}"#, answering: #""level":"limited","identifiers":["<row>"]"#)
                == "{}")
    }

    @Test("Every kind of approval resets the wait", arguments: ["access", "pick", "propose"])
    func approved(kind: String) throws {
        let app = try fixture.app("mail")
        _ = try reply(app, answering: "")
        #expect(try reply(app, answering: "") == #"{"wait":5}"#)
        fixture.loop.advance(by: .seconds(5))
        let text =
            switch kind {
            case "access": try reply(app, answering: #""level":"full""#)
            case "pick":
                try reply(app, "PickContacts", answering: #""picked":[{"contact":"<row>","key":"identifier"}]"#)
            default:
                try reply(app, "ProposeContact", #"{"contact":{"givenName":"N"}}"#, answering: #""addProposed":true"#)
            }
        // A card that the app does not see counts like a refusal, so that the app cannot tell.
        #expect(text == (kind == "propose" ? #"{"wait":10}"# : "{}"))
    }

    @Test("An app that may never ask again has nothing to wait for")
    func silenced() throws {
        let app = try fixture.app("mail")
        _ = try reply(app, answering: "")
        #expect(try reply(app, answering: #""neverAskAgain":true"#) == "{}")
    }

    @Test("A manage prompt that the person opened reports the wait that the app has anyway")
    func own() throws {
        let app = try fixture.app("mail", .limited(to: fixture.records("Ada")))
        for _ in 0..<2 { _ = try reply(app, "ManageAccess", answering: "") }
        fixture.loop.advance(by: .seconds(2))
        let prompt = try #require(try person.manage(app))
        #expect(try person.answer(prompt).text == #"{"wait":3}"#)
    }
}
