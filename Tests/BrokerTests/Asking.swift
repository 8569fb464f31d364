import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerVarlink
import Testing

@testable import BrokerCore
@testable import BrokerGrants

/// Makes apps' calls, and gives the person's answers to their prompts.
struct Asking {
    let fixture: BrokerFixture
    let person: TestPerson

    static let query = #"{"query":"ada"}"#

    init(_ fixture: BrokerFixture) throws {
        self.fixture = fixture
        try fixture.keeper(adding: "Ada")
        person = try TestPerson(fixture: fixture)
    }

    /// The outcome of a call that needs a prompt.
    enum Outcome: Equatable {
        /// The agent got the prompt, to show on the whole screen or as one line.
        case screen, line
        /// The prompt is queued, and the agent did not get it yet.
        case queued
        case refused(seconds: Int, reason: String?)
        case answered
    }

    /// Runs the loop until the call is answered or has queued a prompt.
    static func outcome(of call: Call, _ app: TestApp, _ person: TestPerson?, before open: Int) throws -> Outcome {
        let prompts = app.fixture.prompts
        _ = app.fixture.loop.run { call.isOver || prompts.openCount(app.caller.uid) > open }
        guard call.isOver else {
            guard let last = try person?.prompts().last else { return .queued }
            return last.isQuiet ? .line : .screen
        }
        let reply = try app.replies(1, to: call)[0]
        guard reply.error == "TooManyPrompts", let seconds = reply.parameters["retryAfterSeconds"]?.integer else {
            return .answered
        }
        return .refused(seconds: Int(seconds), reason: reply.parameters["reason"]?.string)
    }

    /// Makes a call and leaves its prompt open.
    func ask(
        _ app: TestApp, _ method: String = "RequestAccess", _ parameters: String = "{}"
    ) throws -> (call: Call, outcome: Outcome) {
        _ = try person.prompts()
        let open = fixture.prompts.openCount(app.caller.uid)
        let call = try app.begin(method, parameters)
        return (call, try Self.outcome(of: call, app, person, before: open))
    }

    func ask(_ caller: Caller) throws -> (call: Call, outcome: Outcome) {
        try ask(TestApp(fixture: fixture, caller: caller))
    }

    /// Makes a call. If it prompts, the person gives this answer; without fields, the person dismisses the prompt.
    @discardableResult
    func asked(
        _ app: TestApp, _ method: String = "RequestAccess", _ parameters: String = "{}", answering fields: String = ""
    ) throws -> Outcome {
        _ = try person.prompts()
        let open = fixture.prompts.openCount(app.caller.uid)
        let call = try app.begin(method, parameters)
        let prompts = fixture.prompts
        _ = fixture.loop.run { call.isOver || prompts.openCount(app.caller.uid) > open }
        guard !call.isOver, let prompt = try person.prompts().last else {
            return try Self.outcome(of: call, app, nil, before: open)
        }
        let answer = try person.answer(prompt, fields)
        try #require(answer.error == nil, "\(answer.text)")
        try #require(fixture.loop.run { call.isOver })
        return prompt.isQuiet ? .line : .screen
    }

    @discardableResult
    func asked(_ caller: Caller, answering fields: String = "") throws -> Outcome {
        try asked(TestApp(fixture: fixture, caller: caller), answering: fields)
    }

    /// An unverified program at this path, in a process of its own.
    func program(
        _ path: String, hash: String = "1", session: SessionIdentity? = nil, isInterpreter: Bool = false,
        sandbox: String? = nil
    ) -> Caller {
        let place = sandbox.map { "sandbox:\($0) " } ?? ""
        return fixture.caller(
            "\(place)\(path) sha256:\(hash)", strength: .unverified, path: path, session: session,
            isInterpreter: isInterpreter, isSandboxed: sandbox != nil, sandbox: sandbox)
    }

    /// A terminal session whose leader has this process ID.
    static func terminal(_ leader: Int32) -> SessionIdentity {
        SessionIdentity(bootIdentifier: "boot", leader: ProcessIdentity(pid: leader, startTime: 1))
    }
}
