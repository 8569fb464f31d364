import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerVarlink
import Testing

@testable import BrokerGrants

/// How long prompts stay open, with and without an agent. The test controls the clock.
@Suite("How long prompts wait")
struct PromptWaitingTests {
    private static let uid: UInt32 = 1_000

    private func begin(
        _ fixture: BrokerFixture, _ name: String = "mail", _ method: String = "RequestAccess"
    ) throws -> (app: TestApp, call: Call) {
        let app = try fixture.app(name, strength: .installed)
        let open = fixture.prompts.openCount(Self.uid)
        let call = try app.begin(method, method == "RequestContacts" ? Asking.query : "{}")
        try #require(fixture.loop.run { call.isOver || fixture.prompts.openCount(Self.uid) > open })
        return (app, call)
    }

    @Test(
        "Without an agent a call waits 5 seconds, or 120 if the person is logged in or has a notify-only agent",
        arguments: [(false, false, 5), (true, false, 120), (false, true, 120)])
    func noAgent(isLoggedIn: Bool, hasNotifier: Bool, seconds: Int) throws {
        let fixture = try BrokerFixture(hasLoginSession: isLoggedIn)
        let notifier = TestApp(fixture: fixture, caller: fixture.caller("notifier"), interface: .agent)
        if hasNotifier { _ = try notifier.begin("Serve", #"{"notifyOnly":true}"#, more: true) }
        for method in ["RequestAccess", "RequestContacts", "RequestAccess", "RequestContacts"] {
            // Both prompts wait for an agent at the same time.
            let calls = [try begin(fixture, "mail", method), try begin(fixture, "chat", method)]
            fixture.loop.advance(by: .seconds(seconds) - .milliseconds(1))
            #expect(calls.allSatisfy { !$0.call.isOver })
            fixture.loop.advance(by: .milliseconds(1))
            for (app, call) in calls {
                let reply = try app.replies(1, to: call)[0]
                #expect(reply.error == (method == "RequestAccess" ? "NoAgent" : nil))
                if method == "RequestContacts" { #expect(reply.text == #"{"identifiers":[]}"#) }
            }
            // These prompts do not count, so the next calls need not wait.
        }
    }

    @Test("Prompts that no agent showed are recorded once an hour for each app, and a shown one when it is shown")
    func records() throws {
        let fixture = try BrokerFixture()
        func ask(_ parameters: String, _ method: String = "RequestAccess") throws {
            let app = try fixture.app("mail", strength: .installed)
            let call = try app.begin(method, parameters)
            try #require(fixture.loop.run { call.isOver || fixture.prompts.openCount(Self.uid) > 0 })
            fixture.loop.advance(by: .seconds(5))
            #expect(call.isOver)
        }
        for number in 1...20 {
            // Nothing that the app can vary makes another record.
            try ask(#"{"purpose":"for the \#(number)th time"}"#)
            try ask(#"{"query":"ada \#(number)"}"#, "RequestContacts")
            let gone = try fixture.app("mail", strength: .installed)
            _ = try gone.begin("ManageAccess")
            gone.hangUp()
        }
        #expect(try fixture.audit(.prompt) == ["not shown"])
        let other = try begin(fixture, "chat")
        #expect(try fixture.audit(.prompt) == ["not shown"])
        // This one was waiting when the agent came.
        let person = try TestPerson(fixture: fixture)
        #expect(try person.prompts().count == 1)
        fixture.loop.iterate()
        #expect(try fixture.audit(.prompt) == ["not shown", "access"])
        other.app.hangUp()
        fixture.loop.iterate()
        person.leave()
        fixture.loop.advance(by: .seconds(3_600))
        try ask("{}")
        let records = try fixture.access.audit.reader.records(
            matching: AuditFilter(event: .prompt), after: nil, limit: .max)
        #expect(records.map(\.app) == ["mail", "chat", "mail", "mail"])
        #expect(records.map(\.repeats)[..<3] == [nil, nil, 39] && records[3].repeats == nil)
    }

    @Test("An agent that starts meanwhile gets the prompts in turn, and each prompt has its full time")
    func agentArrives() throws {
        let fixture = try BrokerFixture(hasLoginSession: true)
        let (first, second) = (try begin(fixture, "mail"), try begin(fixture, "chat"))
        fixture.loop.advance(by: .seconds(119))
        let person = try TestPerson(fixture: fixture)
        #expect(try person.prompts().count == 1)
        fixture.loop.advance(by: .seconds(119))
        #expect(!first.call.isOver && !second.call.isOver)
        fixture.loop.advance(by: .seconds(1))
        #expect(first.call.isOver && !second.call.isOver)
        #expect(try person.prompts().count == 1)
        // The agent disconnects, and no other one connects.
        person.leave()
        fixture.loop.advance(by: .seconds(119))
        #expect(!second.call.isOver)
        fixture.loop.advance(by: .seconds(1))
        #expect(second.call.isOver)
    }

    @Test("Each key keeps a prompt open for two minutes, up to ten minutes in all, and every agent learns the new end")
    func keys() throws {
        let fixture = try BrokerFixture()
        let (person, other) = (try TestPerson(fixture: fixture), try TestPerson(fixture: fixture))
        let (_, call) = try begin(fixture)
        let prompt = try #require(try person.prompts().last)
        for seconds in [100, 200, 300, 400, 500] {
            fixture.loop.advance(by: .seconds(100))
            #expect(try person.keepOpen(prompt).error == nil)
            let end = min(seconds + 120, 600)
            for agent in [person, other] {
                #expect(try agent.extensions().last == [prompt.cookie, Self.time(end)])
            }
        }
        #expect(try person.extensions().count == 5)
        fixture.loop.advance(by: .seconds(99))
        #expect(try person.keepOpen(prompt).error == nil)
        #expect(try person.extensions().count == 5)
        #expect(!call.isOver)
        fixture.loop.advance(by: .seconds(1))
        #expect(call.isOver)
        #expect(try person.keepOpen(prompt).error == "UnknownPrompt")
    }

    /// The time this many seconds after the start of the loop's clock, 2027-01-15T08:00:00Z.
    private static func time(_ seconds: Int) -> String {
        let (minute, second) = (seconds / 60, seconds % 60)
        return "2027-01-15T08:\(minute < 10 ? "0" : "")\(minute):\(second < 10 ? "0" : "")\(second)Z"
    }

    @Test("Without a key a prompt ends after two minutes")
    func noKey() throws {
        let fixture = try BrokerFixture()
        let person = try TestPerson(fixture: fixture)
        let (_, call) = try begin(fixture)
        #expect(try person.prompts().count == 1)
        fixture.loop.advance(by: .seconds(119))
        #expect(!call.isOver)
        fixture.loop.advance(by: .seconds(1))
        #expect(call.isOver)
    }

    @Test("The broker reports one app's prompts to notify-only agents once in ten minutes")
    func notifier() throws {
        let fixture = try BrokerFixture()
        let notifier = TestApp(fixture: fixture, caller: fixture.caller("notifier"), interface: .agent)
        let serve = try notifier.begin("Serve", #"{"notifyOnly":true}"#, more: true)
        func most() throws -> Int64? {
            try notifier.replies(to: serve).compactMap { $0.parameters["waiting"]?.integer }.max()
        }
        #expect(try most() == 0)
        try begin(fixture).app.hangUp()
        #expect(try most() == 1)
        let before = try notifier.replies(to: serve).count
        for _ in 1...4 {
            fixture.loop.advance(by: .seconds(149))
            try begin(fixture).app.hangUp()
        }
        let since = try notifier.replies(to: serve).dropFirst(before).map { $0.parameters["waiting"]?.integer }
        #expect(since.allSatisfy { $0 == 0 })
        fixture.loop.advance(by: .seconds(4))
        try begin(fixture).app.hangUp()
        let last = try notifier.replies(to: serve).dropFirst(before).map { $0.parameters["waiting"]?.integer }
        #expect(last.contains(1))
    }
}
