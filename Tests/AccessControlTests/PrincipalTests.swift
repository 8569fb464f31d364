import Testing

@testable import BrokerAccessControl

private let process = ProcessIdentity(pid: 10, startTime: 100)
private let terminal = SessionIdentity(bootIdentifier: "boot", leader: ProcessIdentity(pid: 5, startTime: 50))

private func caller(
    _ strength: IdentityStrength = .unverified, interpreter: Bool = false, session: SessionIdentity? = terminal,
    process: ProcessIdentity = process, sandboxed: Bool = false
) -> Caller {
    Caller(
        uid: 1_000, strength: strength, app: "/usr/bin/app", displayName: "app", executable: "/usr/bin/app",
        process: process, session: session, terminal: nil, isInterpreter: interpreter, isSandboxed: sandboxed)
}

private let access = Principal(uid: 1_000, strength: .unverified, app: "/usr/bin/app")

@Suite("The principals of a caller")
struct PrincipalTests {
    @Test("An app's principals are, in this order, its process, its terminal session and the app itself")
    func app() {
        #expect(
            caller().principals == [
                access.bound(to: .process(process)), access.bound(to: .session(terminal)), access,
            ])
        #expect(caller(session: nil).principals == [access.bound(to: .process(process)), access])
    }

    @Test("An interpreter has no persistent principal, so a script cannot use an earlier script's grant")
    func interpreter() {
        for session in [terminal, nil] {
            let python = caller(interpreter: true, session: session)
            #expect(!python.principals.contains { $0.binding == .persistent })
            #expect(python.principal(for: .untilRevoked) == nil)
            #expect(python.principal(for: .untilTime(1)) == nil)
            #expect(!python.lifetimes.contains(.untilRevoked) && !python.lifetimes.contains(.untilTime))
        }
    }

    @Test("A process does not get the grants of an earlier process with the same process ID")
    func pidReuse() {
        let next = caller(interpreter: true, process: ProcessIdentity(pid: 10, startTime: 101))
        let first = caller(interpreter: true)
        #expect(first.principals[0] != next.principals[0])
        #expect(first.principals[1] == next.principals[1])
    }

    @Test("Callers of different identity strengths share no principal")
    func strengths() {
        for one in IdentityStrength.allCases {
            for other in IdentityStrength.allCases where one != other {
                #expect(Set(caller(one).principals).isDisjoint(with: caller(other).principals))
            }
        }
    }

    @Test("Each lifetime that is offered to a caller belongs to one of the caller's principals")
    func lifetimes() {
        for caller in [caller(), caller(session: nil), caller(interpreter: true), caller(sandboxed: true)] {
            for kind in caller.lifetimes {
                let lifetime: Lifetime =
                    switch kind {
                    case .untilRevoked: .untilRevoked
                    case .untilTime: .untilTime(1)
                    case .session: .session
                    case .process: .process
                    }
                let principal = caller.principal(for: lifetime)
                #expect(principal.map { caller.principals.contains($0) } == true)
            }
        }
    }

    @Test("In a terminal the session is offered first; without a terminal, or in a sandbox, it is not offered")
    func offered() {
        #expect(caller().lifetimes == [.session, .untilRevoked])
        #expect(caller(session: nil).lifetimes == [.untilRevoked])
        #expect(caller(sandboxed: true).lifetimes == [.untilRevoked])
        #expect(caller(interpreter: true).lifetimes == [.process, .session])
        #expect(caller(interpreter: true, session: nil).lifetimes == [.process])
        #expect(caller(session: nil).principal(for: .session) == nil)
    }
}
