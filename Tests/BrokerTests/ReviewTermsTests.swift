import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerCore
@testable import BrokerLedger

@Suite("How long access lasts, and for which purpose, in a review")
struct ReviewTermsTests {
    private let authority = TestAuthority([.answer: .granted])
    private let fixture: BrokerFixture
    private let person: TestPerson
    private let day: Int64 = 86_400

    init() throws {
        fixture = try BrokerFixture(authority: authority)
        try fixture.keeper(adding: "Ada", "Grace")
        person = try TestPerson(fixture: fixture)
    }

    private var now: Int64 { fixture.surroundings.seconds }

    private func grant(_ app: TestApp) throws -> Grant {
        try #require(fixture.access.grant(of: app.principal))
    }

    private func described(_ app: TestApp) throws -> JSONValue {
        try #require(try person.review(app))
    }

    private func until(_ seconds: Int64) -> String {
        #""lifetime":"untilTime","expires":"\#(Timestamp.text(seconds: seconds))""#
    }

    @Test("A grant gets an end, and ends then; the contacts and keys stay until it ends")
    func ends() throws {
        let app = try fixture.app("mail", .limited(to: fixture.records("Ada")))
        let before = try grant(app)
        #expect(try described(app)["lifetimes"]?.elements?.compactMap(\.string) == ["untilRevoked", "untilTime"])
        let end = now + day
        #expect(try person.manage(app, answering: #""level":"limited",\#(until(end))"#) == nil)
        let after = try grant(app)
        #expect(after.lifetime == .untilTime(end) && after.access == before.access && after.keys == before.keys)
        let told = try described(app)
        #expect(told["lifetimes"]?.elements?.compactMap(\.string) == ["untilTime", "untilRevoked"])
        #expect(told["grantedUntil"]?.string == Timestamp.text(seconds: end))
        #expect(told["endsAt"] == nil)
        #expect(try fixture.audit(.grant).last == "limited untilTime, changes all")
        #expect(try app.fetch().names == ["Ada"])
        fixture.loop.advance(by: .seconds(day + 1))
        #expect(fixture.access.grant(of: app.principal) == nil)
    }

    @Test("A later end for much access needs the password, and an earlier one does not")
    func password() throws {
        let app = try fixture.app("chat", .full)
        #expect(try person.manage(app, answering: #""level":"full",\#(until(now + day))"#) == nil)
        #expect(authority.open.isEmpty)
        for later in [until(now + 2 * day), #""lifetime":"untilRevoked""#] {
            let prompt = try #require(try person.manage(app))
            let call = try person.begin(answering: prompt, #""level":"full",\#(later)"#)
            #expect(authority.open.first?.access == "all contacts, for longer; and it may change and delete them")
            try authority.answer(.refused)
            #expect(try person.agent.replies(1, to: call)[0].error == "AuthenticationFailed")
            #expect(try grant(app).lifetime == .untilTime(now + day))
            try person.answer(prompt)
        }
        // A few contacts may be seen for longer without it, as they may be shared without it.
        let few = try fixture.app("mail", .limited(to: fixture.records("Ada")))
        #expect(try person.manage(few, answering: #""level":"limited",\#(until(now + day))"#) == nil)
        #expect(try person.manage(few, answering: #""level":"limited","lifetime":"untilRevoked""#) == nil)
        #expect(try grant(few).lifetime == .untilRevoked)
    }

    @Test(
        "An end in the past, no end, or one after the policy's is refused; so is another lifetime for a session's grant"
    )
    func refused() throws {
        let app = try fixture.app("mail", .limited(to: fixture.records("Ada")))
        for fields in [until(now - 1), #""lifetime":"untilTime""#, #""lifetime":"untilTime","expires":"soon""#] {
            #expect(try person.manage(app, answering: #""level":"limited",\#(fields)"#) == "InvalidAnswer", "\(fields)")
        }
        var rule = Rule(place: "test.toml:1")
        rule.maximumLifetime = 2 * day
        fixture.rule([rule])
        let decidedAt = try grant(app).decidedAt
        #expect(try described(app)["endsAt"]?.string == Timestamp.text(seconds: decidedAt + 2 * day))
        #expect(try person.manage(app, answering: #""level":"limited",\#(until(now + 3 * day))"#) == "InvalidAnswer")
        // No answer moves the policy's limit.
        fixture.loop.advance(by: .seconds(day))
        #expect(try person.manage(app, answering: #""level":"limited",\#(until(now + 2 * day - 1))"#) == nil)
        #expect(try grant(app).decidedAt == decidedAt)
        fixture.rule([])
        for (lifetime, kind) in [(Lifetime.process, "process"), (.session, "session")] {
            let bound = try fixture.app("bound \(kind)")
            guard let principal = bound.caller.principal(for: lifetime) else { continue }
            try fixture.settle(.limited(to: fixture.records("Ada")), lifetime: lifetime, for: bound, as: principal)
            let call = try bound.begin("ManageAccess")
            let prompt = try #require(try person.prompts().last)
            #expect(try person.told().last?["lifetimes"]?.elements?.compactMap(\.string) == [kind])
            for other in [#""lifetime":"untilRevoked""#, until(now + day)] {
                #expect(try person.answer(prompt, #""level":"limited",\#(other)"#).error == "InvalidAnswer")
            }
            try person.answer(prompt)
            try #require(fixture.loop.run { call.isOver })
        }
    }

    @Test("An app that gives another purpose than at its last decision is pointed out")
    func purpose() throws {
        let app = try fixture.app("mail")
        let call = try app.begin("RequestAccess", #"{"purpose":"to greet"}"#)
        let first = try #require(try person.prompts().last)
        #expect(try person.told().last?["otherPurpose"] == nil)
        #expect(try person.answer(first, #""level":"limited","lifetime":"untilRevoked""#).error == nil)
        try #require(fixture.loop.run { call.isOver })
        func ask(_ purpose: String) throws -> JSONValue {
            let call = try app.begin("RequestContacts", #"{"query":"Grace","purpose":"\#(purpose)"}"#)
            let prompt = try #require(try person.prompts().last)
            let told = try #require(try person.told().last)
            try person.answer(prompt)
            try #require(fixture.loop.run { call.isOver })
            fixture.loop.advance(by: .seconds(7 * day))
            return told
        }
        #expect(try ask("to greet")["otherPurpose"]?.bool == false)
        #expect(try ask("to sell")["otherPurpose"]?.bool == true)
        // A prompt that the person leaves is no decision.
        #expect(try ask("to greet")["otherPurpose"]?.bool == false)
        #expect(try described(app)["otherPurpose"] == nil)
    }

    @Test("A changed card is saved as the person left it, and cannot have more than the offered one")
    func changedCard() throws {
        let app = try fixture.app("mail", .limited(to: []))
        let offered = #"{"contact":{"givenName":"New","familyName":"Face","phoneNumbers":[{"value":"1"}]}}"#
        let call = try app.begin("ProposeContact", offered)
        let prompt = try #require(try person.prompts().last)
        for card in [
            #"{"note":"more"}"#, "{}", #"{"givenName":""}"#, #"{"givenName":"New","imageData":"AAAA"}"#,
            #"{"unknown":"x"}"#, #""text""#, #"{"phoneNumbers":[{"value":"1","label":5}]}"#,
        ] {
            let error = try person.answer(prompt, #""addProposed":true,"card":\#(card)"#).error
            #expect(error == "InvalidAnswer" || error?.hasSuffix("InvalidParameter") == true, "\(card)")
        }
        #expect(!call.isOver)
        let changed = #"{"givenName":"Renamed","familyName":"","phoneNumbers":[{"value":"1"}]}"#
        #expect(try person.answer(prompt, #""addProposed":true,"card":\#(changed)"#).error == nil)
        #expect(try fixture.records("Renamed").count == 1)
        // No other kind of prompt has a card.
        let review = try #require(try person.manage(app))
        #expect(try person.answer(review, #""level":"limited","card":\#(changed)"#).error == "InvalidAnswer")
        try person.answer(review)
    }
}
