import BrokerAccessControl
import BrokerBounds
import Testing

@testable import BrokerGrants

@Suite("Back-off, buckets and holds")
struct PromptArithmeticTests {
    private static func program(_ path: String, hash: String = "1", session: SessionIdentity? = nil) -> Caller {
        Caller(
            uid: 1_000, strength: .unverified, app: "\(path) sha256:\(hash)", displayName: path, executable: path,
            process: ProcessIdentity(pid: 7, startTime: 1), session: session, terminal: nil, isInterpreter: false,
            isSandboxed: false)
    }

    private static let second: Int64 = 1_000_000

    @Test(
        "The wait depends on how many prompts in a row granted nothing",
        arguments: [
            (1, 0, 0), (2, 5, 5), (3, 10, 10), (4, 20, 20), (8, 320, 320), (9, 600, 640), (10, 600, 1_280),
            (16, 600, 81_920), (17, 600, 86_400), (1_000_000, 600, 86_400),
        ])
    func waits(failures: Int, seconds: Int, whenDenied: Int) {
        let backOff = BackOff(limits: Limits())
        #expect(backOff.wait(after: failures, denied: false) == .seconds(seconds))
        #expect(backOff.wait(after: failures, denied: true) == .seconds(whenDenied))
    }

    @Test("A wait is given in whole seconds, rounded up, and ends on time")
    func remaining() {
        var backOff = BackOff(limits: Limits())
        let mail = Self.program("/opt/mail")
        backOff.grantedNothing(mail, denied: false, now: 0)
        #expect(backOff.remaining(AppKey(mail), now: 0) == nil)
        backOff.grantedNothing(mail, denied: false, now: 0)
        for (now, left) in [(0, 5), (1, 5), (Self.second, 4), (4_999_999, 1)] as [(Int64, Int)] {
            #expect(backOff.remaining(AppKey(mail), now: now) == left)
            #expect(backOff.remaining(.unverified, mail.app, now: now) == left)
        }
        #expect(backOff.remaining(AppKey(mail), now: 5 * Self.second) == nil)
        #expect(backOff.remaining(.installed, mail.app, now: 0) == nil)
        backOff.approved(mail)
        #expect(backOff.count == 0)
    }

    @Test("The number of back-offs is bounded, and many app names do not displace a longer back-off")
    func names() {
        var limits = Limits()
        limits.backOffs = 64
        var backOff = BackOff(limits: limits)
        let nuisance = Self.program("/opt/nuisance")
        for _ in 1...10 { backOff.grantedNothing(nuisance, denied: false, now: 0) }
        for number in 1...10_000 {
            for _ in 1...2 { backOff.grantedNothing(Self.program("/tmp/\(number)"), denied: false, now: 0) }
        }
        #expect(backOff.count == 64)
        #expect(backOff.remaining(AppKey(nuisance), now: 0) == 600)
    }

    @Test(
        "The time for which prompts are held depends on the number of withdrawals",
        arguments: [(0, 0), (1, 0), (2, 2), (3, 4), (4, 8), (5, 16), (6, 32), (7, 60), (8, 60), (1_000_000, 60)])
    func holds(withdrawals: Int, seconds: Int) {
        #expect(Crowd(limits: Limits()).hold(after: withdrawals) == .seconds(seconds))
    }

    @Test("A bucket allows eight prompts in any ten minutes")
    func bucket() {
        var crowd = Crowd(limits: Limits())
        let times: [Int64] = [0, 0, 100, 200, 300, 400, 500, 599]
        for time in times {
            let isTaken = crowd.take(from: .common, now: time * Self.second)
            #expect(isTaken)
        }
        for (time, isThere) in [(599, false), (600, true), (600, true), (600, false), (699, false), (700, true)] {
            let isTaken = crowd.take(from: .common, now: Int64(time) * Self.second)
            #expect(isTaken == isThere, "\(time)")
        }
    }

    @Test("The count of withdrawals restarts ten minutes after the last one, and each bucket has its own")
    func withdrawals() {
        var crowd = Crowd(limits: Limits())
        for _ in 1...3 { crowd.withdrew(.common, now: 0) }
        #expect(crowd.heldUntil(.common) == 4 * Self.second)
        #expect(crowd.heldUntil(.session(Asking.terminal(7))) == 0)
        crowd.withdrew(.common, now: 599 * Self.second)
        #expect(crowd.heldUntil(.common) == 607 * Self.second)
        crowd.withdrew(.common, now: 1_199 * Self.second)
        #expect(crowd.heldUntil(.common) == 1_199 * Self.second)
    }

    @Test("Only exactly the approved program is exempt, and the number of approvals and sessions is bounded")
    func approvals() {
        var limits = Limits()
        limits.approvals = 2
        limits.approvedSessions = 1
        var crowd = Crowd(limits: limits)
        let (mine, other) = (Asking.terminal(7), Asking.terminal(8))
        let mail = Self.program("/opt/mail", session: mine)
        #expect(crowd.bucket(of: mail, hasGrant: false) == .common)
        #expect(crowd.bucket(of: mail, hasGrant: true) == nil)
        crowd.approved(mail, now: 1)
        #expect(crowd.bucket(of: mail, hasGrant: false) == nil)
        #expect(crowd.bucket(of: Self.program("/opt/mail", hash: "2"), hasGrant: false) == .common)
        #expect(crowd.bucket(of: Self.program("/tmp/a", session: mine), hasGrant: false) == .session(mine))
        #expect(crowd.bucket(of: Self.program("/tmp/a", session: other), hasGrant: false) == .common)
        for number in 2...3 { crowd.approved(Self.program("/opt/\(number)", session: other), now: Int64(number)) }
        #expect(crowd.bucket(of: mail, hasGrant: false) == .common)
        #expect(crowd.bucket(of: Self.program("/tmp/a", session: other), hasGrant: false) == .session(other))
        crowd.reset { _, app in app == "/opt/3 sha256:1" }
        #expect(crowd.bucket(of: Self.program("/opt/2"), hasGrant: false) == nil)
        #expect(crowd.bucket(of: Self.program("/opt/3"), hasGrant: false) == .common)
    }
}
