import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerVarlink
import Testing

@testable import BrokerCore

@Suite("Passwords and executable checks")
struct PasswordCheckTests {
    let authority = TestAuthority()
    let house: BrokerHouse
    let agent: TestApp

    init() throws {
        house = try BrokerHouse(authority: authority)
        try house.keeper(adding: "Ada")
        agent = TestApp(house: house, caller: house.caller("agent"), door: .agent)
        agent.process.finding = nil
    }

    private func findNothing() {
        agent.process.found(.unknown)
        agent.process.finding = .unknown
        house.loop.advance(by: .seconds(1))
    }

    @Test("The password is asked after the first check and counts after the second")
    func granted() throws {
        let serve = try agent.begin("Serve", more: true)
        #expect(authority.asked.isEmpty)
        #expect(try house.audit(.authentication).isEmpty)
        agent.process.found(.same)
        house.loop.turn()
        #expect(authority.open.count == 1)
        try authority.answer(.granted)
        #expect(try agent.replies(to: serve).isEmpty)
        // The password was given in time. Its timeout does not apply to the check.
        house.loop.advance(by: house.broker.app.limits.passwordTimeout)
        agent.process.found(.same)
        house.loop.turn()
        #expect(house.broker.prompts.agentCount(1_000) == 1)
        #expect(try house.audit(.authentication) == ["answer asked", "answer granted"])
    }

    @Test(
        "If a check gives no result, no password is asked, and one that was given does not count",
        arguments: [false, true])
    func unknown(isGiven: Bool) throws {
        let serve = try agent.begin("Serve", more: true)
        if isGiven {
            agent.process.found(.same)
            house.loop.turn()
            try authority.answer(.granted)
        }
        findNothing()
        let replies = try agent.replies(to: serve)
        #expect(replies.map(\.error) == ["AuthenticationFailed"])
        #expect(replies.first?.parameters["reason"]?.string?.contains("cannot tell") == true)
        #expect(authority.asked.count == (isGiven ? 1 : 0))
        #expect(house.broker.prompts.agentCount(1_000) == 0)
        #expect(try house.audit(.refusal).isEmpty)
        #expect(!agent.isClosed && house.broker.passwords.wanted.isEmpty)
    }

    @Test("If the agent disconnects before the question, nothing is recorded and the check is cancelled")
    func gone() throws {
        _ = try agent.begin("Serve", more: true)
        agent.hangUp()
        #expect(agent.process.looksUnderWay == 0)
        #expect(authority.asked.isEmpty && house.broker.passwords.wanted.isEmpty)
        #expect(try house.audit(.authentication).isEmpty)
    }

    @Test("If the second check finds an administrator's program changed, the request has no effect")
    func administrator() throws {
        let app = try house.app("mail", .full)
        let ctl = TestApp(house: house, caller: house.caller("ctl"), door: .admin)
        ctl.process.finding = nil
        let reset = try ctl.begin("ResetGrant", #"{"app":"mail"}"#)
        ctl.process.found(.same)
        house.loop.turn()
        try authority.answer(.granted)
        ctl.process.found(.changed)
        house.loop.turn()
        #expect(ctl.isClosed && reset.isOver)
        #expect(house.broker.access.grant(of: app.principal) != nil)
        #expect(try house.audit(.refusal) == ["executable changed"])
    }
}
