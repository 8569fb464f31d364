import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerCore
@testable import BrokerGrants

@Suite("Policy changes while prompts are open")
struct PolicyPromptTests {
    private let fixture: BrokerFixture
    private let person: TestPerson

    init() throws {
        fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada", "Grace")
        person = try TestPerson(fixture: fixture)
    }

    private func rule(_ fill: (inout Rule) -> Void) {
        var rule = Rule(place: "test.toml:1")
        rule.strengths = [.installed]
        fill(&rule)
        fixture.rule([rule])
    }

    private func ask(_ app: TestApp, _ method: String = "RequestAccess", _ parameters: String = "{}") throws -> Call {
        let call = try app.begin(method, parameters)
        try #require(fixture.loop.run { call.isOver || fixture.prompts.openCount(1_000) > 0 })
        return call
    }

    /// The latest description of a prompt that the agent got.
    private func told(_ cookie: String) throws -> JSONValue? {
        try person.told().last { $0["cookie"]?.string == cookie }
    }

    @Test("A prompt that a rule withdraws causes no back-off, because the person did not answer")
    func withdrawn() throws {
        for strength in [IdentityStrength.installed, .unverified] {
            var forbids = Rule(place: "test.toml:1")
            forbids.strengths = [strength]
            forbids.forbidsPrompting = true
            let app = try fixture.app("mail", strength: strength)
            let call = try ask(app)
            try #require(try person.prompts().count == 1)
            fixture.rule([forbids])
            #expect(try app.replies(1, to: call)[0].parameters["status"]?.string == "notDetermined")
            fixture.rule([])
            let again = try ask(fixture.app("mail", strength: strength))
            #expect(!again.isOver)
            // Two dismissals by the person cause a back-off.
            try person.answer(try #require(try person.prompts().last))
            try #require(fixture.loop.run { again.isOver })
            let third = try ask(fixture.app("mail", strength: strength))
            try person.answer(try #require(try person.prompts().last))
            try #require(fixture.loop.run { third.isOver })
            #expect(try fixture.app("mail", strength: strength).call("RequestAccess").error == "TooManyPrompts")
        }
    }

    @Test("A prompt that the rules change is shown again, and its former version cannot be answered")
    func shownAnew() throws {
        let app = try fixture.app("mail", strength: .installed)
        let call = try ask(app)
        let first = try #require(try person.prompts().last)
        #expect(try told(first.cookie)?["maximumLevel"] == nil)
        rule {
            $0.capsLevel = true
            $0.maximumKeys = ContactKeySet([.givenName])
        }
        #expect(try !call.isOver && person.withdrawn().contains(first.cookie))
        let second = try #require(try person.prompts().last)
        #expect(second.cookie != first.cookie)
        #expect(try told(second.cookie)?["maximumLevel"]?.string == "limited")
        #expect(try told(second.cookie)?["maximumKeys"]?.elements?.compactMap(\.string) == ["givenName"])
        // Under the former cookie, neither `full` nor `denied` reaches the prompt.
        for level in ["full", "denied"] {
            #expect(try person.answer(first, #""level":"\#(level)""#).error == "UnknownPrompt")
        }
        #expect(try person.answer(second, #""level":"full""#).error == "InvalidAnswer")
        let ada = try #require(try person.rows(second).first { $0.contact["givenName"]?.string == "Ada" })
        #expect(try person.answer(second, #""level":"limited","identifiers":["\#(ada.identifier)"]"#).error == nil)
        #expect(try app.replies(1, to: call)[0].parameters["status"]?.string == "limited")
        #expect(try app.fetch().names == ["Ada"])
    }

    @Test("A prompt that cannot get a new cookie ends, so that its former version cannot be answered")
    func withoutRandomness() throws {
        let app = try fixture.app("mail", strength: .installed)
        // Two dismissals by the person would cause a back-off.
        for _ in 1...2 {
            let call = try ask(app)
            let prompt = try #require(try person.prompts().last)
            fixture.prompts.showAnew(where: { _ in true }, randomName: { nil })
            fixture.loop.iterate()
            #expect(try person.withdrawn().last == prompt.cookie)
            #expect(try person.prompts().isEmpty && fixture.prompts.openCount(1_000) == 0)
            #expect(try person.answer(prompt, #""level":"full""#).error == "UnknownPrompt")
            #expect(try app.replies(1, to: call)[0].parameters["status"]?.string == "notDetermined")
            #expect(fixture.access.grant(of: app.principal) == nil)
        }
        // The app did not cause this, so it may ask again.
        #expect(try !ask(app).isOver)
    }

    @Test("A rule that does not change an app's prompt leaves it on the screen")
    func undisturbed() throws {
        _ = try ask(fixture.app("mail", strength: .unverified))
        let prompt = try #require(try person.prompts().last)
        rule { $0.capsLevel = true }
        #expect(try person.prompts().isEmpty && person.withdrawn().isEmpty)
        #expect(try person.answer(prompt, #""level":"full""#).error == nil)
    }

    @Test("Every agent gets the changed prompt, which times out for all at the original time")
    func severalAgents() throws {
        let other = try TestPerson(fixture: fixture)
        let app = try fixture.app("mail", strength: .installed)
        let call = try ask(app)
        let first = try #require(try other.prompts().last)
        fixture.loop.advance(by: .seconds(100))
        rule { $0.capsLevel = true }
        let second = try #require(try other.prompts().last)
        #expect(second.cookie != first.cookie && !call.isOver)
        fixture.loop.advance(by: .seconds(21))
        #expect(call.isOver)
        for person in [person, other] { #expect(try person.withdrawn() == [first.cookie, second.cookie]) }
    }

    @Test(
        "An answer that waits for the password is withdrawn when a rule changes the prompt", arguments: [false, true])
    func whileThePasswordIsTyped(late: Bool) throws {
        let authority = TestAuthority()
        let fixture = try BrokerFixture(authority: authority)
        try fixture.keeper(adding: "Ada")
        let agent = TestApp(fixture: fixture, caller: fixture.caller("agent"), interface: .agent)
        let serve = try agent.begin("Serve", more: true)
        try authority.answer(.granted)
        let token = try #require(try agent.replies(to: serve).first?.parameters["agent"]?.string)
        let call = try fixture.app("mail", strength: .installed).begin("RequestAccess")
        try #require(fixture.loop.run { (try? agent.replies(to: serve).count) == 2 })
        let cookie = try #require(try agent.replies(to: serve)[1].parameters["prompt"]?["cookie"]?.string)
        if late { fixture.loop.advance(by: .seconds(30)) }
        let answer = try agent.begin("Answer", #"{"agent":"\#(token)","cookie":"\#(cookie)","level":"full"}"#)
        try #require(authority.open.count == 1)
        // The prompt has timed out. It stays open only for the password.
        if late { fixture.loop.advance(by: .seconds(90)) }
        try #require(!call.isOver && !answer.isOver)
        var rule = Rule(place: "test.toml:1")
        rule.capsLevel = true
        fixture.rule([rule])
        #expect(answer.isOver && authority.open.isEmpty)
        #expect(try agent.replies(to: answer).allSatisfy { $0.error != nil })
        let told = try agent.replies(to: serve).dropFirst(2)
        #expect(told.first?.parameters["withdrawn"]?.string == cookie)
        #expect(call.isOver == late && told.contains { $0.parameters["prompt"] != nil } == !late)
    }

    @Test("An open manage prompt is closed when the rules change, and can be opened again under the new rules")
    func ownPrompt() throws {
        let app = try fixture.app("mail", .limited(to: fixture.records("Ada")), strength: .installed)
        let open = try #require(try person.manage(app))
        rule { $0.maximumKeys = ContactKeySet([.givenName]) }
        #expect(try person.withdrawn() == [open.cookie])
        #expect(try person.answer(open, #""level":"full""#).error == "UnknownPrompt")
        let again = try #require(try person.manage(app))
        #expect(try person.answer(again, #""level":"denied""#).error == nil)
        #expect(try app.fetch().error == "AccessDenied")
    }
}
