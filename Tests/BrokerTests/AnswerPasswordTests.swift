import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerGrants

@Suite("Answers that need the person's password")
struct AnswerPasswordTests {
    let authority = TestAuthority([.answer: .granted])
    let fixture: BrokerFixture
    let keeper: TestApp
    let person: TestPerson

    init() throws {
        fixture = try BrokerFixture(authority: authority)
        keeper = try fixture.keeper()
        _ = try keeper.save((0..<30).map { .add(given: "N\(10 + $0)") })
        person = try TestPerson(fixture: fixture)
    }

    private func asking(_ app: TestApp, _ method: String = "RequestAccess") throws -> (Call, TestPerson.Prompt) {
        let call = try app.begin(method)
        return (call, try #require(person.prompts().first))
    }

    private func limited(to count: Int, of prompt: TestPerson.Prompt, from: Int = 0) throws -> String {
        let rows = try person.rows(prompt).dropFirst(from).prefix(count).map { "\"\($0.identifier)\"" }
        return #""level":"limited","identifiers":[\#(rows.joined(separator: ","))]"#
    }

    private static let everything = #""level":"full","lifetime":"untilRevoked""#

    private func status(_ app: TestApp) throws -> String? {
        try app.call("GetAuthorization").parameters["status"]?.string
    }

    @Test(
        "In the password dialog an app's name cannot end its quotation marks or look like the dialog's own words",
        arguments: [
            ("org.example.Mail", "org.example.Mail"), ("Почта 2", "Почта 2"), ("连络", "连络"),
            ("mail. It gets: 1 contact.", "mail. It getsU+003A 1 contact."),
            (#"mail" gets nothing"#, "mailU+0022 gets nothing"), ("mail” “", "mailU+201D U+201C"),
            ("mail\nThe app", "mailU+000AThe app"), ("\u{202E}liam", "U+202Eliam"),
            ("מייל", "U+05DEU+05D9U+05D9U+05DC"),
            ("Маil", "U+041CU+0430il"), ("$(access)", "U+0024U+0028accessU+0029"), ("mail［k］", "mailU+FF3BkU+FF3D"),
            ("e\u{301}\u{3164}", "eU+0301U+3164"),
            (String(repeating: "m", count: 200), String(repeating: "m", count: 120) + "..."),
            (String(repeating: "\u{1F600}", count: 200), String(repeating: "U+1F600", count: 18) + "..."),
        ])
    func hostileName(name: String, shown: String) throws {
        let (_, prompt) = try asking(try fixture.app(name))
        _ = try person.begin(answering: prompt, Self.everything)
        #expect(authority.open.map(\.app) == [shown])
    }

    @Test(
        "An app gets full access only after the password",
        // An app in a declared folder never gets it: DeclaredTests. A connection must be made first: ConnectionTests.
        arguments: IdentityStrength.allCases.filter { $0 != .declared && $0 != .password })
    func full(strength: IdentityStrength) throws {
        let app = try fixture.app("mail", strength: strength)
        let (call, prompt) = try asking(app)
        let answer = try person.begin(answering: prompt, Self.everything)
        #expect(
            authority.open == [
                AuthorityQuestion(
                    action: .shareAll, process: person.agent.caller.process, uid: 1_000, app: "mail",
                    access: "all contacts", mayInteract: true)
            ])
        #expect(!answer.isOver && !call.isOver)
        #expect(try status(app) == "notDetermined")
        // The broker serves the agent while the password is asked for.
        #expect(try person.rows(prompt).count == 30)
        try authority.answer(.granted)
        #expect(try person.agent.replies(1, to: answer)[0].error == nil)
        #expect(try app.replies(1, to: call)[0].parameters["status"]?.string == "full")
        #expect(try app.fetch().names.count == 30)
        #expect(try fixture.audit(.authentication).suffix(2) == ["share-all asked", "share-all granted"])
    }

    @Test("Without authentication nothing is shared, and the person may answer again", arguments: refusals)
    func refused(answer: AuthorityAnswer) throws {
        let app = try fixture.app("mail")
        let (call, prompt) = try asking(app)
        let full = try person.begin(answering: prompt, Self.everything)
        try authority.answer(answer)
        #expect(try person.agent.replies(to: full).map(\.error) == ["AuthenticationFailed"])
        #expect(!call.isOver)
        #expect(try status(app) == "notDetermined")
        let few = try person.answer(prompt, limited(to: 2, of: prompt))
        #expect(few.error == nil)
        #expect(try app.replies(1, to: call)[0].parameters["status"]?.string == "limited")
        #expect(authority.actions == [.answer, .shareAll])
    }

    @Test("Twenty-five contacts need no password, and a twenty-sixth does, in the same answer or a later one")
    func many() throws {
        let app = try fixture.app("mail")
        let (_, prompt) = try asking(app)
        let many = try person.begin(answering: prompt, limited(to: 26, of: prompt))
        #expect(authority.open.map(\.action) == [.shareAll])
        try authority.answer(.refused)
        #expect(many.isOver)
        #expect(try person.answer(prompt, limited(to: 25, of: prompt)).error == nil)
        #expect(authority.asked.count == 2)
        let (_, more) = try asking(app, "ManageAccess")
        let row = try #require(person.rows(more).first { $0.granted == "none" })
        let fields = #""level":"limited","identifiers":["\#(row.identifier)"]"#
        let one = try person.begin(answering: more, fields)
        #expect(authority.open.map(\.action) == [.shareAll])
        #expect(try app.fetch().names.count == 25)
        try authority.answer(.granted)
        #expect(try person.agent.replies(1, to: one)[0].error == nil)
        #expect(try app.fetch().names.count == 26)
    }

    @Test("Revoking access needs no password, however many contacts stay granted")
    func takingBack() throws {
        let app = try fixture.app("mail", .full)
        let prompt = try #require(try person.manage(app))
        #expect(try person.answer(prompt, limited(to: 25, of: prompt)).error == nil)
        try fixture.grant(.limited(to: fixture.records("N10", "N11")), to: app)
        let again = try #require(try person.manage(app))
        #expect(try person.answer(again, #""level":"denied""#).error == nil)
        #expect(authority.actions == [.answer])
    }

    @Test("A policy change while the password is asked for overrides the answer")
    func policyChanges() throws {
        let app = try fixture.app("mail", strength: .installed)
        let (call, prompt) = try asking(app)
        let answer = try person.begin(answering: prompt, Self.everything)
        var rule = Rule(place: "test.toml:1")
        rule.capsLevel = true
        fixture.rule([rule])
        #expect(authority.open.isEmpty)
        try authority.answer(.granted)
        let refusal = try person.agent.replies(1, to: answer)[0]
        #expect(refusal.error == "AuthenticationFailed")
        // The reply needs a reason. Without one the agent assumes a wrong password, and keeps lending its terminal.
        #expect(refusal.parameters["reason"]?.string?.contains("has changed") == true)
        #expect(refusal.parameters["problem"]?.string == "changed")
        #expect(try status(app) == "notDetermined")
        #expect(!call.isOver)
        // The prompt is shown again, and the new policy forbids the earlier answer.
        let again = try #require(person.prompts().first)
        #expect(try person.answer(again, Self.everything).error == "InvalidAnswer")
        // A rule that denies the app ends the prompt and withdraws the password request.
        let second = try person.begin(answering: again, limited(to: 26, of: again))
        rule.denies = true
        fixture.rule([rule])
        #expect(authority.open.isEmpty)
        #expect(try person.agent.replies(to: second).map(\.error) == ["UnknownPrompt"])
        try authority.answer(.granted)
        #expect(try status(app) == "restricted")
    }

    @Test("If the app disconnects while the password is asked for, it gets nothing and the request is withdrawn")
    func appGone() throws {
        let app = try fixture.app("mail")
        let (_, prompt) = try asking(app)
        let answer = try person.begin(answering: prompt, Self.everything)
        app.hangUp()
        #expect(authority.open.isEmpty)
        #expect(try person.agent.replies(to: answer).map(\.error) == ["UnknownPrompt"])
        try authority.answer(.granted)
        #expect(fixture.access.grant(of: app.principal) == nil)
        #expect(try fixture.audit(.authentication).last == "share-all withdrawn")
    }

    @Test("An answer from another agent overrides an answer that waits for the password")
    func otherAgent() throws {
        let app = try fixture.app("mail")
        let other = try TestPerson(fixture: fixture)
        let (call, prompt) = try asking(app)
        let answer = try person.begin(answering: prompt, Self.everything)
        #expect(try other.answer(prompt, #""level":"denied""#).error == nil)
        #expect(try app.replies(1, to: call)[0].parameters["status"]?.string == "denied")
        #expect(try person.agent.replies(to: answer).map(\.error) == ["UnknownPrompt"])
        try authority.answer(.granted)
        #expect(try status(app) == "denied")
    }

    @Test("A prompt that times out while the password is asked for waits for the password", arguments: [true, false])
    func overdue(given: Bool) throws {
        let app = try fixture.app("mail")
        let (call, prompt) = try asking(app)
        fixture.loop.advance(by: .seconds(100))
        let answer = try person.begin(answering: prompt, Self.everything)
        fixture.loop.advance(by: .seconds(30))
        #expect(!call.isOver && authority.open.count == 1)
        try authority.answer(given ? .granted : .refused)
        let told = try app.replies(1, to: call)[0].parameters["status"]?.string
        #expect(told == (given ? "full" : "notDetermined"))
        #expect(try person.agent.replies(1, to: answer)[0].error == (given ? nil : "UnknownPrompt"))
        // The prompt is closed, and a second attempt does not extend it.
        #expect(try person.answer(prompt, #""level":"denied""#).error == "UnknownPrompt")
    }

    @Test("A prompt times out after its agent disconnects while the password is asked for")
    func agentGone() throws {
        let app = try fixture.app("mail")
        let (call, prompt) = try asking(app)
        _ = try person.begin(answering: prompt, Self.everything)
        fixture.loop.advance(by: .seconds(119))
        #expect(authority.open.count == 1)
        person.leave()
        #expect(authority.open.isEmpty)
        fixture.loop.advance(by: .seconds(5))
        #expect(try app.replies(1, to: call)[0].parameters["status"]?.string == "notDetermined")
    }

    @Test(
        "A waiting answer is withdrawn when its agent stops serving or opens another prompt of its own"
    )
    func servesNoMore() throws {
        let app = try fixture.app("mail", .limited(to: fixture.records("N10")))
        let own = try #require(try person.manage(app))
        let full = try person.begin(answering: own, #""level":"full""#)
        #expect(authority.open.count == 1)
        _ = try person.manage(app)
        #expect(authority.open.isEmpty)
        #expect(try person.agent.replies(to: full).map(\.error) == ["UnknownPrompt"])

        let (call, prompt) = try asking(try fixture.app("chat"))
        let second = TestApp(fixture: fixture, caller: person.agent.caller, interface: .agent)
        let answer = try second.begin(
            "Answer", #"{"agent":"\#(person.token)","cookie":"\#(prompt.cookie)",\#(Self.everything)}"#)
        #expect(authority.open.count == 1)
        person.leave()
        #expect(authority.open.isEmpty)
        #expect(try second.replies(to: answer).map(\.error) == ["NotAnAgent"])
        fixture.loop.advance(by: .seconds(5))
        #expect(call.isOver)
    }

    @Test("An agent whose program changes while the password is asked for shares nothing")
    func anotherProgram() throws {
        let app = try fixture.app("mail")
        let (_, prompt) = try asking(app)
        _ = try person.begin(answering: prompt, Self.everything)
        person.agent.process.isItself = false
        try authority.answer(.granted)
        #expect(person.agent.isClosed)
        #expect(try status(app) == "notDetermined")
    }

    @Test("A rule that requires authentication needs the password even for one contact")
    func ruled() throws {
        var rule = Rule(place: "test.toml:1")
        rule.requiresAuthentication = true
        fixture.rule([rule])
        let app = try fixture.app("mail")
        let (call, prompt) = try asking(app)
        let answer = try person.begin(answering: prompt, limited(to: 1, of: prompt))
        #expect(authority.open.map(\.action) == [.shareAll])
        try authority.answer(.refused)
        #expect(answer.isOver)
        #expect(try person.answer(prompt, #""level":"denied""#).error == nil)
        #expect(try app.replies(1, to: call)[0].parameters["status"]?.string == "denied")
    }

    @Test("A program in a terminal gets one session without the password, and a longer grant only with it")
    func session() throws {
        let leader = ProcessIdentity(pid: 7, startTime: 1)
        let session = SessionIdentity(bootIdentifier: "boot", leader: leader)
        let app = TestApp(fixture: fixture, caller: fixture.caller("mail", session: session))
        let (_, prompt) = try asking(app)
        let lasting = try limited(to: 1, of: prompt) + #","lifetime":"untilRevoked""#
        _ = try person.begin(answering: prompt, lasting)
        #expect(authority.open.map(\.action) == [.shareAll])
        try authority.answer(.refused)
        #expect(try person.answer(prompt, limited(to: 1, of: prompt) + #","lifetime":"session""#).error == nil)
        #expect(authority.asked.count == 2)
    }

    @Test("Picking more than twenty-five contacts at once needs the password")
    func picking() throws {
        let app = try fixture.app("mail")
        let call = try app.begin("PickContacts", #"{"multiple":true}"#)
        let prompt = try #require(person.prompts().first)
        func picked(_ count: Int) throws -> String {
            let rows = try person.rows(prompt).prefix(count)
            return
                #""picked":[\#(rows.map { #"{"contact":"\#($0.identifier)","key":"identifier"}"# }.joined(separator: ","))]"#
        }
        let many = try person.begin(answering: prompt, picked(26))
        #expect(authority.open.map(\.action) == [.shareAll])
        try authority.answer(.refused)
        #expect(try person.agent.replies(to: many).map(\.error) == ["AuthenticationFailed"])
        #expect(!call.isOver)
        let again = try person.begin(answering: prompt, picked(26))
        try authority.answer(.granted)
        #expect(try person.agent.replies(1, to: again)[0].error == nil)
        #expect(try app.replies(1, to: call)[0].contacts.count == 26)
        let next = try app.begin("PickContacts", #"{"multiple":true}"#)
        let second = try #require(person.prompts().first)
        let rows = try person.rows(second).prefix(25)
        let few = rows.map { #"{"contact":"\#($0.identifier)","key":"identifier"}"# }.joined(separator: ",")
        #expect(try person.answer(second, #""picked":[\#(few)]"#).error == nil)
        #expect(try app.replies(1, to: next)[0].contacts.count == 25)
        #expect(authority.asked.count == 3)
    }

    @Test("Without an authority, an answer that needs the password counts only if the administrator allows it")
    func absent() throws {
        for allowed in [Policy.WithoutAuthentication?.none, .allow] {
            let authority = TestAuthority([.answer: .granted, .shareAll: .absent])
            let fixture = try BrokerFixture(authority: authority, withoutAuthentication: allowed)
            try fixture.keeper(adding: "Ada")
            let person = try TestPerson(fixture: fixture)
            let app = try fixture.app("mail")
            let call = try app.begin("RequestAccess")
            let prompt = try #require(person.prompts().first)
            #expect(try person.answer(prompt, Self.everything).error == (allowed == nil ? "AuthenticationFailed" : nil))
            #expect(call.isOver == (allowed != nil))
        }
    }
}
