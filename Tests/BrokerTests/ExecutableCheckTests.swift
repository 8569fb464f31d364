import BrokerAccessControl
import BrokerBounds
import BrokerJSON
import BrokerModel
import BrokerVarlink
import Testing

@testable import BrokerAppCalls
@testable import BrokerGrants
@testable import BrokerLedger

@Suite("Executable checks off the event loop")
struct ExecutableCheckTests {
    let fixture: BrokerFixture
    let keeper: TestApp

    init() throws {
        fixture = try BrokerFixture()
        keeper = try fixture.keeper(adding: "Ada", "Bob")
    }

    private static let fetching = #"{"keys":["givenName"]}"#
    /// Calls that use a grant.
    private static let granted = [
        ("FetchContacts", fetching, false), ("CountContacts", "{}", false), ("WatchChanges", "{}", true),
        ("SaveContacts", #"{"changes":[{"operation":"add","contact":{"givenName":"Cid"}}]}"#, false),
        ("FetchHistory", "{}", false),
    ]

    private func hung(_ access: Access? = .full) throws -> TestApp {
        let app = try fixture.app("mail", access)
        app.process.finding = nil
        return app
    }

    /// Ends the checks in progress and their retries without a result.
    private func findNothing(_ app: TestApp) {
        app.process.found(.unknown)
        app.process.finding = .unknown
        fixture.loop.advance(by: .seconds(1))
    }

    @Test(
        "Other connections are served during a check, and the waiting call is answered after it",
        arguments: granted)
    func served(method: String, parameters: String, more: Bool) throws {
        let app = try hung()
        let call = try app.begin(method, parameters, more: more)
        #expect(app.process.looksUnderWay == 1)
        #expect(try keeper.fetch().names == ["Ada", "Bob"])
        #expect(try app.replies(to: call).isEmpty && !call.isOver)
        app.process.found(.same)
        #expect(try app.replies(1, to: call)[0].error == nil)
        // A connection is checked only once.
        app.process.finding = .unknown
        #expect(try app.fetch().names.count >= 2)
        #expect(app.process.lookCount == 1)
    }

    @Test(
        "A call in the name of a process that has ended closes the connection, even if it used its grant before",
        arguments: granted)
    func ended(method: String, parameters: String, more: Bool) throws {
        let app = try fixture.app("mail", .full)
        #expect(try app.fetch().names == ["Ada", "Bob"])
        app.process.hasEnded = true
        let call = try app.begin(method, parameters, more: more)
        #expect(app.isClosed)
        #expect(try app.replies(to: call).isEmpty)
        #expect(try keeper.fetch().names == ["Ada", "Bob"])
    }

    @Test(
        "If no check gives a result, the call fails as unavailable, nothing is recorded and the connection stays open",
        arguments: granted)
    func unknown(method: String, parameters: String, more: Bool) throws {
        let app = try hung()
        let call = try app.begin(method, parameters, more: more)
        findNothing(app)
        #expect(try app.replies(1, to: call).map(\.error) == ["StoreUnavailable"])
        #expect(app.process.lookCount == fixture.surroundings.limits.inspectionsPerCheck)
        #expect(try fixture.audit(.refusal).isEmpty)
        #expect(try fixture.audit(.disclosure).isEmpty)
        #expect(!app.isClosed)
        #expect(fixture.journal.lines.contains { $0.contains("cannot tell whether its process still runs") })
        #expect(fixture.history.watchers == 0)
        // Once a check succeeds, calls are answered again.
        app.process.isItself = true
        #expect(try app.fetch().names == ["Ada", "Bob"])
    }

    @Test("A check without a result is retried before the call is refused")
    func again() throws {
        let app = try hung()
        let call = try app.begin("FetchContacts", Self.fetching)
        app.process.found(.unknown)
        #expect(!call.isOver && app.process.looksUnderWay == 0)
        fixture.loop.advance(by: fixture.surroundings.limits.inspectionInterval)
        #expect(app.process.looksUnderWay == 1)
        app.process.found(.same)
        #expect(try app.replies(1, to: call)[0].names == ["Ada", "Bob"])
        #expect(app.process.lookCount == 2)
    }

    @Test(
        "An app that a check finds changed gets nothing: the refusal is recorded and the connection closes",
        arguments: granted)
    func changed(method: String, parameters: String, more: Bool) throws {
        let app = try hung()
        let call = try app.begin(method, parameters, more: more)
        app.process.found(.changed)
        fixture.loop.iterate()
        #expect(try fixture.audit(.refusal) == ["executable changed"])
        #expect(try fixture.audit(.disclosure).isEmpty)
        #expect(app.isClosed && call.isOver)
        #expect(try app.replies(to: call).allSatisfy { $0.error == "AccessDenied" })
        #expect(fixture.history.watchers == 0)
    }

    @Test("Calls on one connection share a check, and another connection has its own")
    func shared() throws {
        let (app, other) = (try hung(), try fixture.app("mail"))
        other.process.finding = nil
        let calls = try (0..<3).map { _ in try app.begin("FetchContacts", Self.fetching) }
        let own = try other.begin("FetchContacts", Self.fetching)
        #expect(app.process.looksUnderWay == 1 && other.process.looksUnderWay == 1)
        app.process.found(.same)
        for call in calls { #expect(try app.replies(1, to: call)[0].names == ["Ada", "Bob"]) }
        #expect(!own.isOver)
    }

    @Test("After a check, a call is decided again with the current grant")
    func decidedAgain() throws {
        let app = try hung(.limited(to: fixture.records("Ada", "Bob")))
        let narrowed = try app.begin("FetchContacts", Self.fetching)
        try fixture.grant(.limited(to: fixture.records("Bob")), to: app)
        app.process.found(.same)
        #expect(try app.replies(1, to: narrowed)[0].names == ["Bob"])

        let other = try fixture.app("chat", .full)
        other.process.finding = nil
        let denied = try other.begin("FetchContacts", Self.fetching)
        try fixture.grant(.denied, to: other)
        other.process.found(.same)
        #expect(try other.replies(1, to: denied).map(\.error) == ["AccessDenied"])
    }

    @Test("A check is cancelled when its connection closes, even between two attempts")
    func gone() throws {
        let app = try hung()
        _ = try app.begin("FetchContacts", Self.fetching)
        app.hangUp()
        #expect(app.process.looksUnderWay == 0)
        let other = try fixture.app("mail")
        other.process.finding = nil
        _ = try other.begin("FetchContacts", Self.fetching)
        other.process.found(.unknown)
        other.hangUp()
        fixture.loop.advance(by: .seconds(1))
        #expect(other.process.lookCount == 1)
        #expect(try fixture.audit(.refusal).isEmpty)
    }

    // MARK: Prompts

    /// Calls of an undecided app that prompt the person.
    private static let asking = [
        ("RequestAccess", "{}"), ("FetchContacts", fetching), ("RequestContacts", #"{"query":"ada"}"#),
        ("PickContacts", "{}"), ("ProposeContact", #"{"contact":{"givenName":"Cid"}}"#),
    ]

    @Test("The person is not prompted before the check of the app is done", arguments: asking)
    func prompt(method: String, parameters: String) throws {
        let person = try TestPerson(fixture: fixture)
        let app = try hung(nil)
        let call = try app.begin(method, parameters)
        #expect(try person.prompts().isEmpty)
        app.process.found(.same)
        fixture.loop.iterate()
        #expect(try person.prompts().count == 1)
        // One prompt needs one check.
        #expect(app.process.lookCount == 1)
        app.hangUp()

        let late = try fixture.app("late", strength: .installed)
        late.process.finding = nil
        let unknown = try late.begin(method, parameters)
        findNothing(late)
        #expect(try late.replies(1, to: unknown).map(\.error) == ["StoreUnavailable"])
        #expect(try person.prompts().isEmpty && !late.isClosed)
        #expect(try fixture.audit(.refusal).isEmpty)
        #expect(call.isOver)
    }

    @Test("The person is not prompted if access is decided during the check")
    func promptDecidedAgain() throws {
        let person = try TestPerson(fixture: fixture)
        let app = try hung(nil)
        let call = try app.begin("RequestAccess")
        try fixture.grant(.full, to: app)
        app.process.found(.same)
        #expect(try app.replies(1, to: call)[0].parameters["status"]?.string == "full")
        #expect(try person.prompts().isEmpty)
    }

    @Test(
        "Picked contacts are handed over only if the program is unchanged",
        arguments: [ExecutableCheck.same, .changed, .unknown])
    func picked(found: ExecutableCheck) throws {
        let person = try TestPerson(fixture: fixture)
        let app = try fixture.app("mail")
        let call = try app.begin("PickContacts", #"{"keys":["givenName"]}"#)
        let prompt = try #require(person.prompts().first)
        let row = try #require(person.rows(prompt).first)
        app.process.finding = nil
        let answer = try person.begin(
            answering: prompt, #""picked":[{"contact":"\#(row.identifier)","key":"identifier"}]"#)
        #expect(fixture.loop.run { answer.isOver && app.process.looksUnderWay == 1 })
        #expect(!call.isOver)
        if found == .unknown { findNothing(app) } else { app.process.found(found) }
        fixture.loop.iterate()
        switch found {
        case .same: #expect(try app.replies(1, to: call)[0].names == ["Ada"])
        case .changed: #expect(app.isClosed && call.isOver)
        case .unknown: #expect(try app.replies(1, to: call).map(\.error) == ["StoreUnavailable"])
        }
        #expect(try fixture.audit(.disclosure) == (found == .same ? ["picked"] : []))
        #expect(try fixture.audit(.refusal) == (found == .changed ? ["executable changed"] : []))
    }
}
