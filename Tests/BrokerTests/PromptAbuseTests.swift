import BrokerAccessControl
import BrokerBounds
import BrokerInterface
import BrokerJSON
import BrokerVarlink
import Testing

@testable import BrokerCore
@testable import BrokerGrants

/// Programs that prompt too often. The tests control the clock, so a day passes at once.
@Suite("Limits on prompts")
struct PromptAbuseTests {
    private let fixture: BrokerFixture
    private let person: TestPerson

    init() throws {
        fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada")
        person = try TestPerson(fixture: fixture)
    }

    /// Makes a call. Returns `nil` if it prompts the person, and otherwise the seconds to wait.
    private func ask(_ app: TestApp, _ method: String = "RequestAccess", _ parameters: String = "{}") throws -> Int? {
        let call = try app.begin(method, parameters)
        _ = fixture.loop.run { call.isOver || fixture.prompts.openCount(1_000) > 0 }
        guard call.isOver else { return nil }
        let reply = try app.replies(1, to: call)[0]
        try #require(reply.error == "TooManyPrompts", "\(reply.text)")
        return try #require(reply.parameters["retryAfterSeconds"]?.integer.map { Int($0) })
    }

    /// Makes a call whose prompt the person dismisses.
    private func bother(_ app: TestApp, _ method: String = "RequestAccess", _ parameters: String = "{}") throws {
        try #require(try ask(app, method, parameters) == nil)
        try person.answer(try #require(try person.prompts().last))
        fixture.loop.iterate()
    }

    @Test(
        "The back-off doubles from 5 seconds to 10 minutes and ends on time",
        arguments: [
            IdentityStrength.sandboxed, .installed, .claimed, .unverified,
        ])
    func doubling(strength: IdentityStrength) throws {
        // The first prompt causes no back-off.
        try bother(fixture.app("mail", strength: strength))
        for wait in [5, 10, 20, 40, 80, 160, 320, 600, 600] {
            // Each attempt uses a new connection from a new process.
            try bother(fixture.app("mail", strength: strength))
            #expect(try ask(fixture.app("mail", strength: strength)) == wait)
            fixture.loop.advance(by: .seconds(wait - 1))
            #expect(try ask(fixture.app("mail", strength: strength)) == 1)
            fixture.loop.advance(by: .seconds(1))
        }
    }

    @Test(
        "The second prompt that grants nothing causes a back-off of five seconds, whatever its kind",
        arguments: [
            ("ManageAccess", "{}"), ("PickContacts", "{}"), ("RequestContacts", #"{"query":"ada"}"#),
            ("ProposeContact", #"{"contact":{"givenName":"New"}}"#),
        ])
    func everyKind(method: String, parameters: String) throws {
        let app = try fixture.app("mail", .limited(to: try fixture.records("Ada")), strength: .installed)
        for _ in 1...2 { try bother(app, method, parameters) }
        #expect(try ask(app, method, parameters) == 5)
    }

    @Test("An approval resets the back-off")
    func approval() throws {
        for _ in 1...4 {
            try bother(fixture.app("mail", strength: .installed))
            fixture.loop.advance(by: .seconds(600))
        }
        let app = try fixture.app("mail", strength: .installed)
        try #require(try ask(app, "RequestContacts", #"{"query":"ada"}"#) == nil)
        let prompt = try #require(try person.prompts().last)
        let row = try #require(try person.rows(prompt, query: "ada").first?.identifier)
        #expect(try person.answer(prompt, #""level":"limited","identifiers":["\#(row)"]"#).error == nil)
        _ = fixture.loop.run { fixture.prompts.openCount(1_000) == 0 }
        for _ in 1...2 { try bother(fixture.app("mail", strength: .installed), "PickContacts") }
        #expect(try ask(fixture.app("mail", strength: .installed), "PickContacts") == 5)
    }

    @Test("A denied program backs off for up to a day and delays no other program")
    func denied() throws {
        let query = #"{"query":"ada"}"#
        let nuisance = try fixture.app("nuisance", .denied, strength: .unverified)
        let wait = Duration.seconds(24 * 3_600)
        for _ in 1...16 {
            try bother(nuisance, "RequestContacts", query)
            fixture.loop.advance(by: wait)
        }
        try bother(nuisance, "RequestContacts", query)
        #expect(try ask(nuisance, "RequestContacts", query) == 24 * 3_600)
        // Other unverified programs are not delayed.
        #expect(try ask(fixture.app("mail", strength: .unverified)) == nil)
        try person.answer(try #require(try person.prompts().last))
    }

    @Test("Open prompts of denied programs do not use up the limit of other programs")
    func deniedCrowd() throws {
        for number in 0..<4 {
            let app = try fixture.app("nuisance\(number)", .denied)
            _ = try app.begin("RequestContacts", #"{"query":"ada"}"#)
        }
        _ = fixture.loop.run { fixture.prompts.openCount(1_000) == 4 }
        let fifth = try fixture.app("nuisance4", .denied)
        #expect(try fifth.call("RequestContacts", #"{"query":"ada"}"#).error == "TooManyPrompts")
        let mail = try fixture.app("mail").begin("RequestAccess")
        _ = fixture.loop.run { fixture.prompts.openCount(1_000) == 5 || mail.isOver }
        #expect(!mail.isOver)
        #expect(try person.prompts().last?.isQuiet == false)
    }

    @Test("A refusal, a dismissal, a timeout, no match and a withdrawal get the same reply and the same back-off")
    func alike() throws {
        for name in ["refused", "dismissed", "late", "nobody", "withdrawn"] {
            let query = #"{"query":"\#(name == "nobody" ? "zzz" : "ada")"}"#
            for (number, wait) in [nil, 5, 10].enumerated() {
                let app = try fixture.app(name, strength: .sandboxed)
                try #require(try ask(app, "RequestContacts", query) == nil)
                let call = try #require(fixture.prompts.open(1_000).first?.prompt.waiting.first?.call)
                switch name {
                case "late": fixture.loop.advance(by: .seconds(120))
                case "withdrawn": app.hangUp()
                // After a refusal the app's prompts are quiet, and a quiet prompt cannot be refused again.
                case "refused" where number == 0: try answer(call, #""level":"denied""#)
                default: try answer(call)
                }
                if name != "withdrawn" {
                    #expect(try app.replies(1, to: call)[0].text == #"{"identifiers":[]}"#, "\(name)")
                }
                let seconds = try ask(fixture.app(name, strength: .sandboxed), "RequestContacts", query)
                #expect(seconds == wait, "\(name) \(number)")
                if let seconds {
                    fixture.loop.advance(by: .seconds(seconds))
                } else {
                    // The first prompt caused no back-off, so this call prompts. Withdraw this prompt uncounted.
                    fixture.prompts.withdraw { _ in true }
                }
            }
        }
    }

    private func answer(_ call: Call, _ fields: String = "") throws {
        try person.answer(try #require(try person.prompts().last), fields)
        try #require(fixture.loop.run { call.isOver })
    }

    @Test("At most sixteen prompts are queued, one for each app, and they are shown one after another")
    func queue() throws {
        let apps = try (0..<17).map { try fixture.app("app\($0)", strength: .installed) }
        let calls = try apps.map { try $0.begin("RequestAccess") }
        _ = fixture.loop.run { calls[16].isOver }
        #expect(try apps[16].replies(1, to: calls[16])[0].error == "TooManyPrompts")
        #expect(fixture.prompts.openCount(1_000) == 16)
        for number in 0..<16 {
            let prompts = try person.prompts()
            #expect(prompts.count == 1)
            try person.answer(try #require(prompts.first), #""level":"denied""#)
            _ = fixture.loop.run { calls[number].isOver }
            #expect(calls[number].isOver)
        }
    }

    @Test(
        "A call joins an open prompt only if it comes from the same app",
        arguments: [
            IdentityStrength.installed, .unverified,
        ])
    func joining(strength: IdentityStrength) throws {
        let first = try fixture.app("mail", strength: strength)
        try #require(try ask(first) == nil)
        let same = TestApp(fixture: fixture, caller: first.caller)
        let joined = try same.begin("RequestAccess")
        #expect(!joined.isOver)
        #expect(try !fixture.app("mail", strength: strength).begin("RequestAccess").isOver)
        // A new build of an unverified program has the same path, but is another app.
        let built = fixture.caller("mail2", strength: .unverified, path: "/usr/bin/mail")
        if strength == .unverified {
            #expect(
                try TestApp(fixture: fixture, caller: built).call("RequestAccess").error == "TooManyPrompts")
        }
        #expect(try person.prompts().count == 1)
        // At most sixty-four calls share one prompt.
        for _ in 3..<64 { _ = try same.begin("RequestAccess") }
        #expect(try same.call("RequestAccess").error == "TooManyPrompts")
    }

    @Test("Notify-only agents do not count as agents, and learn only how many prompts wait")
    func notifiers() throws {
        let notifiers = try (0..<8).map { _ in
            let notifier = TestApp(fixture: fixture, caller: fixture.caller("notifier"), interface: .agent)
            return (notifier, try notifier.begin("Serve", #"{"notifyOnly":true}"#, more: true))
        }
        let ninth = TestApp(fixture: fixture, caller: fixture.caller("notifier"), interface: .agent)
        let refused = try ninth.begin("Serve", #"{"notifyOnly":true}"#, more: true)
        #expect(try ninth.replies(to: refused).first?.error == "TooManyAgents")
        let second = try TestPerson(fixture: fixture)
        try bother(fixture.app("mail"), "RequestContacts", #"{"query":"ada"}"#)
        for (notifier, serve) in notifiers {
            #expect(
                try notifier.replies(to: serve).map(\.text) == [
                    #"{"waiting":0}"#, #"{"waiting":1}"#, #"{"waiting":0}"#,
                ])
        }
        #expect(try second.prompts().isEmpty)
    }
}
