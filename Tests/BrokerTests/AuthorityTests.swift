import BrokerAccessControl
import BrokerBounds
import BrokerInterface
import BrokerJSON
import BrokerVarlink
import Testing

@testable import BrokerAdminCalls
@testable import BrokerCore
@testable import BrokerGrants

/// Every answer but a grant.
let refusals: [AuthorityAnswer] = [.refused, .wantsInteraction, .failed(reason: "no reply"), .hung, .absent]

@Suite("The password that an agent needs to serve")
struct ServingPasswordTests {
    let authority = TestAuthority()
    let fixture: BrokerFixture
    let agent: TestApp

    init() throws {
        fixture = try BrokerFixture(authority: authority)
        try fixture.keeper(adding: "Ada", "Grace")
        agent = TestApp(fixture: fixture, caller: fixture.caller("agent"), interface: .agent)
    }

    @Test("An agent gets nothing before its person has given the password, and every prompt afterwards")
    func beforeAnything() throws {
        let app = try fixture.app("mail")
        let call = try app.begin("RequestAccess")
        let serve = try agent.begin("Serve", more: true)
        #expect(
            authority.open == [
                AuthorityQuestion(
                    action: .answer, process: agent.caller.process, uid: 1_000, app: nil, mayInteract: true)
            ])
        #expect(try agent.replies(to: serve).isEmpty)
        #expect(fixture.prompts.agentCount(1_000) == 0)
        // The broker records the password request before it sends the request.
        #expect(try fixture.audit(.authentication) == ["answer asked"])
        try authority.answer(.granted)
        let replies = try agent.replies(to: serve)
        #expect(replies.count == 2 && replies[0].parameters["agent"] != nil && replies[1].parameters["prompt"] != nil)
        #expect(try fixture.audit(.authentication) == ["answer asked", "answer granted"])
        #expect(!call.isOver)
    }

    @Test("An agent that is not authenticated gets no token and no prompt", arguments: refusals)
    func refused(answer: AuthorityAnswer) throws {
        _ = try fixture.app("mail").begin("RequestAccess")
        let serve = try agent.begin("Serve", more: true)
        try authority.answer(answer)
        let replies = try agent.replies(to: serve)
        #expect(replies.map(\.error) == ["AuthenticationFailed"])
        #expect(fixture.prompts.agentCount(1_000) == 0)
        #expect(try fixture.audit(.authentication).count == 2)
        // A person who was asked and failed gets no reason. Otherwise the reply says what failed and what to do.
        let reason = replies.first?.parameters["reason"]?.string
        let problem = replies.first?.parameters["problem"]?.string.flatMap(PasswordProblem.init)
        switch answer {
        case .refused, .granted: #expect(problem == nil)
        case .wantsInteraction: #expect(problem == .noPasswordAgent)
        case .absent: #expect(problem == .noAuthority)
        case .failed: #expect(problem == .authorityFailed)
        case .hung: #expect(problem == .authorityHangs)
        }
        switch answer {
        case .refused, .granted: #expect(reason == nil)
        case .wantsInteraction: #expect(reason?.contains("pkttyagent") == true)
        case .absent: #expect(reason?.contains("polkit is not installed") == true)
        case .failed:
            #expect(reason?.contains("no reply") == true && reason?.contains("systemctl status polkit") == true)
            #expect(fixture.journal.lines.last?.contains("no reply") == true)
        case .hung:
            #expect(reason?.contains("systemctl restart polkit.service") == true)
            #expect(fixture.journal.lines.last?.contains("systemctl restart polkit.service") == true)
        }
    }

    @Test("An agent whose program changes while the password is asked for does not serve")
    func anotherProgram() throws {
        let serve = try agent.begin("Serve", more: true)
        agent.process.isItself = false
        try authority.answer(.granted)
        #expect(agent.isClosed)
        #expect(try agent.replies(to: serve).allSatisfy { $0.error != nil })
        #expect(fixture.prompts.agentCount(1_000) == 0)
        // For a program that has already changed, the broker does not ask for a password.
        let other = TestApp(fixture: fixture, caller: fixture.caller("agent"), interface: .agent)
        other.process.isItself = false
        _ = try other.begin("Serve", more: true)
        #expect(authority.asked.count == 1)
    }

    @Test("The password request is withdrawn when the agent disconnects, and a late answer has no effect")
    func gone() throws {
        _ = try agent.begin("Serve", more: true)
        agent.hangUp()
        #expect(authority.open.isEmpty && authority.asked.last?.isCancelled == true)
        try authority.answer(.granted)
        #expect(fixture.prompts.agentCount(1_000) == 0)
        #expect(try fixture.audit(.authentication) == ["answer asked", "answer withdrawn"])
    }

    @Test("The broker stops waiting for a password after two minutes")
    func hung() throws {
        let serve = try agent.begin("Serve", more: true)
        fixture.loop.advance(by: .seconds(119))
        #expect(authority.open.count == 1)
        fixture.loop.advance(by: .seconds(1))
        #expect(authority.open.isEmpty)
        let replies = try agent.replies(to: serve)
        #expect(replies.map(\.error) == ["AuthenticationFailed"])
        #expect(replies.first?.parameters["reason"]?.string?.contains("not given in time") == true)
        #expect(replies.first?.parameters["problem"]?.string == "timedOut")
        try authority.answer(.granted)
        #expect(fixture.prompts.agentCount(1_000) == 0)
    }

    @Test("An agent that only learns how many prompts wait needs no password")
    func notifier() throws {
        let serve = try agent.begin("Serve", #"{"notifyOnly":true}"#, more: true)
        #expect(authority.asked.isEmpty)
        #expect(try agent.replies(to: serve).map(\.text) == [#"{"waiting":0}"#])
    }

    @Test(
        "Without an authority an agent serves only if the administrator allows it, and the stricter setting applies",
        arguments: [
            (nil, nil, false), (Policy.WithoutAuthentication.allow, nil, true), (nil, .allow, true),
            (.allow, .refuse, false), (.refuse, .allow, false), (.refuse, nil, false),
        ] as [(Policy.WithoutAuthentication?, Policy.WithoutAuthentication?, Bool)])
    func absent(
        configured: Policy.WithoutAuthentication?, policy: Policy.WithoutAuthentication?, serves: Bool
    ) throws {
        let authority = TestAuthority([.answer: .absent])
        let fixture = try BrokerFixture(authority: authority, withoutAuthentication: configured)
        fixture.reloads.bringIntoForce(Policy(withoutAuthentication: policy))
        let agent = TestApp(fixture: fixture, caller: fixture.caller("agent"), interface: .agent)
        let serve = try agent.begin("Serve", more: true)
        #expect(try agent.replies(to: serve).first?.error == (serves ? nil : "AuthenticationFailed"))
        #expect(fixture.prompts.agentCount(1_000) == (serves ? 1 : 0))
        // The setting applies only to a missing authority. Any other failure is a refusal.
        for answer in [AuthorityAnswer.refused, .wantsInteraction, .failed(reason: "")] {
            authority.automatic = [.answer: answer]
            let other = TestApp(fixture: fixture, caller: fixture.caller("agent"), interface: .agent)
            let call = try other.begin("Serve", more: true)
            #expect(try other.replies(to: call).map(\.error) == ["AuthenticationFailed"])
        }
    }

    @Test("The number of open password requests is limited for each user, and other users are not delayed")
    func bounds() throws {
        let limits = Limits()
        var calls: [(TestApp, Call)] = []
        for _ in 0...limits.passwordsPerUser {
            let agent = TestApp(fixture: fixture, caller: fixture.caller("agent"), interface: .agent)
            calls.append((agent, try agent.begin("Serve", more: true)))
        }
        #expect(authority.open.count == limits.passwordsPerUser)
        // The newest replaces the oldest: idle agents must not keep the person's own from starting.
        let (first, call) = calls[0]
        #expect(try first.replies(to: call).map(\.error) == ["AuthenticationFailed"])
        #expect(calls.dropFirst().allSatisfy { !$0.1.isOver })
        let other = TestApp(fixture: fixture, caller: fixture.caller("agent", uid: 1_001), interface: .agent)
        _ = try other.begin("Serve", more: true)
        #expect(authority.open.count == limits.passwordsPerUser + 1)
        // The limit is lower at the administrator's socket, which any program can open.
        for count in 1...3 {
            let admin = TestApp(fixture: fixture, caller: fixture.caller("ctl", uid: 1_002), interface: .admin)
            let status = try admin.begin("VerifyAudit", #"{"allowInteractiveAuthentication":true}"#)
            #expect(status.isOver == (count > limits.passwordsAtAdminSocket))
        }
    }
}
