import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerInterface
import BrokerJSON
import BrokerVarlink
import Testing

@testable import BrokerGrants
@testable import BrokerLedger

@Suite("Passwords and executable checks")
struct PasswordCheckTests {
    let authority = TestAuthority()
    let fixture: BrokerFixture
    let agent: TestApp

    init() throws {
        fixture = try BrokerFixture(authority: authority)
        try fixture.keeper(adding: "Ada")
        agent = TestApp(fixture: fixture, caller: fixture.caller("agent"), interface: .agent)
        agent.process.finding = nil
    }

    private func findNothing() {
        agent.process.found(.unknown)
        agent.process.finding = .unknown
        fixture.loop.advance(by: .seconds(1))
    }

    @Test("The password is asked for after the first check, and counts after the second")
    func granted() throws {
        let serve = try agent.begin("Serve", more: true)
        #expect(authority.asked.isEmpty)
        #expect(try fixture.audit(.authentication).isEmpty)
        agent.process.found(.same)
        fixture.loop.iterate()
        #expect(authority.open.count == 1)
        try authority.answer(.granted)
        #expect(try agent.replies(to: serve).isEmpty)
        // The password was given in time. Its timeout does not apply to the check.
        fixture.loop.advance(by: fixture.surroundings.limits.passwordTimeout)
        agent.process.found(.same)
        fixture.loop.iterate()
        #expect(fixture.prompts.agentCount(1_000) == 1)
        #expect(try fixture.audit(.authentication) == ["answer asked", "answer granted"])
    }

    @Test(
        "If a check gives no result, no password is asked for, and one that was given does not count",
        arguments: [false, true])
    func unknown(isGiven: Bool) throws {
        let serve = try agent.begin("Serve", more: true)
        if isGiven {
            agent.process.found(.same)
            fixture.loop.iterate()
            try authority.answer(.granted)
        }
        findNothing()
        let replies = try agent.replies(to: serve)
        #expect(replies.map(\.error) == ["AuthenticationFailed"])
        #expect(replies.first?.parameters["reason"]?.string?.contains("cannot tell") == true)
        #expect(replies.first?.parameters["problem"]?.string == "programUnknown")
        #expect(authority.asked.count == (isGiven ? 1 : 0))
        #expect(fixture.prompts.agentCount(1_000) == 0)
        #expect(try fixture.audit(.refusal).isEmpty)
        #expect(!agent.isClosed && fixture.passwords.wanted.isEmpty)
    }

    @Test("If the agent disconnects before the password request, nothing is recorded and the check is cancelled")
    func gone() throws {
        _ = try agent.begin("Serve", more: true)
        agent.hangUp()
        #expect(agent.process.looksUnderWay == 0)
        #expect(authority.asked.isEmpty && fixture.passwords.wanted.isEmpty)
        #expect(try fixture.audit(.authentication).isEmpty)
    }

    @Test("If the second check finds an administrator's program changed, the request has no effect")
    func administrator() throws {
        let app = try fixture.app("mail", .full)
        let ctl = TestApp(fixture: fixture, caller: fixture.caller("ctl"), interface: .admin)
        ctl.process.finding = nil
        let reset = try ctl.begin("ResetGrant", #"{"app":"mail"}"#)
        ctl.process.found(.same)
        fixture.loop.iterate()
        try authority.answer(.granted)
        ctl.process.found(.changed)
        fixture.loop.iterate()
        #expect(ctl.isClosed && reset.isOver)
        #expect(fixture.access.grant(of: app.principal) != nil)
        #expect(try fixture.audit(.refusal) == ["executable changed"])
    }
}
