import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerVarlink
import Testing

@testable import BrokerCore

/// Programs that ask too often. The test controls the clock, so a day passes at once.
@Suite("Limits on prompts")
struct PromptAbuseTests {
    private let fixture: BrokerFixture
    private let person: TestPerson

    init() throws {
        fixture = try BrokerFixture()
        try fixture.keeper(adding: "Ada")
        person = try TestPerson(fixture: fixture)
    }

    /// Asks for access. Returns `nil` if the person is prompted, and otherwise the seconds to wait.
    private func ask(_ app: TestApp, _ method: String = "RequestAccess", _ parameters: String = "{}") throws -> Int? {
        let call = try app.begin(method, parameters)
        _ = fixture.loop.run { call.isOver || fixture.broker.prompts.openCount(1_000) > 0 }
        guard call.isOver else { return nil }
        let reply = try app.replies(1, to: call)[0]
        try #require(reply.error == "TooManyPrompts", "\(reply.text)")
        return try #require(reply.parameters["retryAfterSeconds"]?.integer.map { Int($0) })
    }

    /// Asks, and the person dismisses the prompt.
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
        "Every kind of prompt that grants nothing causes a back-off of five seconds",
        arguments: [
            ("ManageAccess", "{}"), ("PickContacts", "{}"), ("RequestContacts", #"{"query":"ada"}"#),
            ("ProposeContact", #"{"contact":{"givenName":"New"}}"#),
        ])
    func everyKind(method: String, parameters: String) throws {
        let app = try fixture.app("mail", .limited(to: try fixture.records("Ada")), strength: .installed)
        try bother(app, method, parameters)
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
        _ = fixture.loop.run { fixture.broker.prompts.openCount(1_000) == 0 }
        try bother(fixture.app("mail", strength: .installed), "PickContacts")
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

    @Test("Prompts of denied programs do not use up the places of other programs")
    func deniedCrowd() throws {
        for number in 0..<4 {
            let app = try fixture.app("nuisance\(number)", .denied)
            _ = try app.begin("RequestContacts", #"{"query":"ada"}"#)
        }
        _ = fixture.loop.run { fixture.broker.prompts.openCount(1_000) == 4 }
        let fifth = try fixture.app("nuisance4", .denied)
        #expect(try fifth.call("RequestContacts", #"{"query":"ada"}"#).error == "TooManyPrompts")
        let mail = try fixture.app("mail").begin("RequestAccess")
        _ = fixture.loop.run { fixture.broker.prompts.openCount(1_000) == 5 || mail.isOver }
        #expect(!mail.isOver)
        #expect(try person.prompts().last?.isQuiet == false)
    }

    @Test(
        "Many copies of a program cause no more prompts than one",
        arguments: [
            IdentityStrength.claimed, .unverified,
        ])
    func copies(strength: IdentityStrength) throws {
        try bother(fixture.app("copy", strength: strength))
        var shown = 0
        for second in 1...1_200 {
            fixture.loop.advance(by: .seconds(1))
            let app = try fixture.app("copy\(second)", strength: strength)
            let call = try app.begin("RequestAccess")
            _ = fixture.loop.run { call.isOver || fixture.broker.prompts.openCount(1_000) > 0 }
            guard !call.isOver else { continue }
            // Three more copies at the same moment.
            for copy in 1...3 {
                let other = try fixture.app("copy\(second).\(copy)", strength: strength)
                #expect(try other.call("RequestAccess").error == "TooManyPrompts")
            }
            shown += 1
            try person.answer(try #require(try person.prompts().last))
        }
        // As for one program, the waits double from 5 to 320 seconds, which is seven prompts in the twenty minutes.
        #expect(shown == 7)
    }

    @Test("The number of back-offs is bounded, and many app names do not displace a longer back-off")
    func names() throws {
        var limits = Limits()
        limits.backOffs = 64
        var backOff = BackOff(limits: limits)
        let nuisance = fixture.caller("nuisance", strength: .sandboxed)
        for _ in 1...10 { backOff.grantedNothing(nuisance, denied: false, now: 0) }
        let neighbour = fixture.caller("neighbour", uid: 1_001, strength: .sandboxed)
        backOff.grantedNothing(neighbour, denied: false, now: 0)
        for number in 1...100_000 {
            backOff.grantedNothing(fixture.caller("app\(number)", strength: .sandboxed), denied: false, now: 0)
        }
        #expect(backOff.count(1_000) == 64)
        #expect(backOff.remaining(1_000, .sandboxed, "nuisance", now: 0) == 600)
        #expect(backOff.remaining(1_001, .sandboxed, "neighbour", now: 0) == 5)
        for number in 1...100_000 {
            backOff.grantedNothing(fixture.caller("app\(number)", strength: .unverified), denied: false, now: 0)
        }
        #expect(backOff.count(1_000) == 64)
    }

    @Test("At most sixteen prompts are queued, one for each app, and they are shown in turn")
    func queue() throws {
        let apps = try (0..<17).map { try fixture.app("app\($0)", strength: .installed) }
        let calls = try apps.map { try $0.begin("RequestAccess") }
        _ = fixture.loop.run { calls[16].isOver }
        #expect(try apps[16].replies(1, to: calls[16])[0].error == "TooManyPrompts")
        #expect(fixture.broker.prompts.openCount(1_000) == 16)
        for number in 0..<16 {
            let prompts = try person.prompts()
            #expect(prompts.count == 1)
            try person.answer(try #require(prompts.first), #""level":"denied""#)
            _ = fixture.loop.run { calls[number].isOver }
            #expect(calls[number].isOver)
        }
    }

    @Test(
        "A call joins an open prompt only if it comes from the same process and program",
        arguments: [
            IdentityStrength.installed, .unverified,
        ])
    func joining(strength: IdentityStrength) throws {
        let first = try fixture.app("mail", strength: strength)
        try #require(try ask(first) == nil)
        let same = TestApp(fixture: fixture, caller: first.caller)
        let joined = try same.begin("RequestAccess")
        #expect(!joined.isOver)
        #expect(try fixture.app("mail", strength: strength).call("RequestAccess").error == "TooManyPrompts")
        #expect(try person.prompts().count == 1)
        // At most sixty-four calls share one prompt.
        for _ in 2..<64 { _ = try same.begin("RequestAccess") }
        #expect(try same.call("RequestAccess").error == "TooManyPrompts")
    }

    @Test("“Never ask again” outlasts restarts and new connections, until the administrator resets the app")
    func silence() throws {
        let query = #"{"query":"ada"}"#
        let app = try fixture.app("mail", strength: .unverified)
        try #require(try ask(app, "RequestContacts", query) == nil)
        try person.answer(try #require(try person.prompts().last), #""neverAskAgain":true"#)
        try fixture.restart()
        let again = try TestPerson(fixture: fixture)
        for method in ["RequestContacts", "PickContacts"] {
            let reply = try fixture.app("mail", strength: .unverified).call(
                method, method == "PickContacts" ? "{}" : query)
            #expect(reply.error == nil)
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
