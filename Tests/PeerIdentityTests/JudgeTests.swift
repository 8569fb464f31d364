import BrokerAccessControl
import Testing

@testable import BrokerPeerIdentity

private let sha256 = String(repeating: "a1", count: 32)
let file = FileIdentity(
    deviceMajor: 8, deviceMinor: 1, inode: 42, size: 1_000, modified: .init(seconds: 1, nanoseconds: 2),
    changed: .init(seconds: 3, nanoseconds: 4))
private let appScope =
    "/user.slice/user-1000.slice/user@1000.service/app.slice/app-gnome-org.example.Mail-1234.scope"

/// An ordinary program of user 1000 without a terminal, with the test's changes.
func evidence(_ change: (inout Evidence) -> Void = { _ in }) -> Evidence {
    let namespaces = Evidence.Namespaces(mount: .found(100), user: .found(200))
    var evidence = Evidence(
        uid: 1_000, gid: 1_000, process: ProcessIdentity(pid: 77, startTime: 5_000), pidfdSource: .socket,
        bootIdentifier: .found("boot"),
        sessionLeader: .found(ProcessIdentity(pid: 70, startTime: 4_000)), terminal: nil,
        controlGroup: .found("/user.slice/user-1000.slice/session-1.scope"), namespaces: namespaces,
        ownNamespaces: namespaces,
        initNamespaces: Evidence.Namespaces(mount: .unreadable(errno: 13), user: .unreadable(errno: 13)),
        label: .absent, executable: .found(executable("/usr/bin/mail")), flatpakInfo: .absent)
    change(&evidence)
    return evidence
}

func executable(
    _ path: String, digest: Executable.Digest = .sha256(sha256), sameAsInterpreter: String? = nil
) -> Executable {
    Executable(path: path, isDeleted: false, file: file, digest: digest, sameAsInterpreter: sameAsInterpreter)
}

func caller(_ change: (inout Evidence) -> Void = { _ in }) throws -> Caller {
    let judgement = judge(evidence(change))
    guard case .caller(let caller) = judgement else {
        Issue.record("refused: \(judgement)")
        throw TestFailure.unreadable("caller")
    }
    return caller
}

@Suite("Judging a caller")
struct JudgeTests {
    private let terminal = Terminal(major: 136, minor: 3)

    @Test("A program is identified by its path and its contents")
    func unverified() throws {
        let caller = try caller()
        #expect(caller.strength == .unverified)
        #expect(caller.app == "/usr/bin/mail sha256:\(sha256)")
        #expect(caller.displayName == "mail")
        #expect(caller.executable == "/usr/bin/mail")
        #expect(!caller.isInterpreter)
        #expect(!caller.isSandboxed)
        #expect(caller.session == nil)
        #expect(caller.uid == 1_000)
        #expect(caller.process == ProcessIdentity(pid: 77, startTime: 5_000))
        #expect(caller.lifetimes == [.untilRevoked])
    }

    @Test("The same contents at another path, and other contents at the same path, are other programs")
    func contentsAndPlace() throws {
        let here = try caller()
        let elsewhere = try caller { $0.executable = .found(executable("/home/u/mail")) }
        let changed = try caller {
            $0.executable = .found(executable("/usr/bin/mail", digest: .sha256(String(repeating: "b2", count: 32))))
        }
        #expect(Set([here.app, elsewhere.app, changed.app]).count == 3)
    }

    @Test("An app that the user's service manager started has the unit's app name")
    func claimed() throws {
        let caller = try caller { $0.controlGroup = .found(appScope) }
        #expect(caller.strength == .claimed)
        #expect(caller.app == "org.example.Mail")
        #expect(caller.displayName == "org.example.Mail")
        #expect(caller.executable == "/usr/bin/mail")
        #expect(!caller.isSandboxed)
    }

    @Test(
        "A unit's app name is ignored if other evidence contradicts it",
        arguments: [
            { @Sendable (evidence: inout Evidence) in evidence.uid = 1_001 },
            { @Sendable evidence in evidence.uid = 0 },
            { @Sendable evidence in evidence.terminal = Terminal(major: 136, minor: 3) },
            { @Sendable evidence in evidence.pidfdSource = .number },
            { @Sendable evidence in evidence.executable = .found(executable("/usr/bin/python3.11")) },
            { @Sendable evidence in
                evidence.executable = .found(executable("/tmp/x", sameAsInterpreter: "/usr/bin/perl"))
            },
            { @Sendable evidence in evidence.namespaces.mount = .found(101) },
        ] as [@Sendable (inout Evidence) -> Void])
    func notClaimed(change: @Sendable (inout Evidence) -> Void) throws {
        let caller = try caller {
            $0.controlGroup = .found(appScope)
            change(&$0)
        }
        #expect(caller.strength == .unverified)
        #expect(caller.app.hasSuffix(" sha256:\(sha256)"))
    }

    @Test("A caller on a terminal belongs to the session of that terminal")
    func session() throws {
        let caller = try caller { $0.terminal = terminal }
        #expect(
            caller.session
                == SessionIdentity(bootIdentifier: "boot", leader: ProcessIdentity(pid: 70, startTime: 4_000)))
        #expect(caller.terminal == "pts/3")
        #expect(caller.lifetimes.first == .session)
        #expect(try self.callerOffTerminal().session == nil)
    }

    private func callerOffTerminal() throws -> Caller { try caller() }

    @Test("An interpreter never has an app name, whatever its name or unit")
    func interpreters() throws {
        for path in ["/usr/bin/python3.11", "/home/u/.local/bin/perl5.36.0", "/bin/dash"] {
            let caller = try caller { $0.executable = .found(executable(path)) }
            #expect(caller.isInterpreter)
            #expect(caller.app == "\(path) sha256:\(sha256)")
            #expect(caller.lifetimes == [.process])
        }
        #expect(
            try caller { $0.executable = .found(executable("/tmp/mail", sameAsInterpreter: "/usr/bin/perl")) }
                .isInterpreter)
        #expect(try caller { $0.executable = .found(executable("/usr/bin/mail")) }.isInterpreter == false)
    }

    @Test(
        "A caller that looks sandboxed is never identified as a program of the host",
        arguments: [
            ({ @Sendable (evidence: inout Evidence) in evidence.namespaces.mount = .found(101) }, "unknown"),
            ({ @Sendable evidence in evidence.namespaces.user = .found(201) }, "unknown"),
            ({ @Sendable evidence in evidence.flatpakInfo = .found(.init(app: nil)) }, "unknown"),
            ({ @Sendable evidence in evidence.label = .found("snap.mail.app (enforce)") }, "snap.mail"),
            (
                { @Sendable evidence in
                    evidence.controlGroup = .found(
                        "/user.slice/user-1000.slice/user@1000.service/app.slice/snap.mail.app-1f2e.scope")
                }, "snap.mail"
            ),
            (
                { @Sendable evidence in
                    evidence.controlGroup = .found(
                        "/user.slice/user-1000.slice/user@1000.service/app.slice/app-flatpak-org.example.Mail-9.scope")
                }, "flatpak.org.example.Mail"
            ),
            (
                { @Sendable evidence in
                    evidence.controlGroup = .found("/elsewhere/app-flatpak-.scope")
                }, "flatpak"
            ),
        ] as [(@Sendable (inout Evidence) -> Void, String)])
    func sandboxed(change: @Sendable (inout Evidence) -> Void, name: String) throws {
        let caller = try caller(change)
        #expect(caller.strength == .unverified)
        #expect(caller.isSandboxed)
        #expect(caller.app == "sandbox:\(name) /usr/bin/mail sha256:\(sha256)")
        #expect(caller.app != (try self.caller().app))
        // A sandbox without a name gets no persistent grant.
        #expect((caller.principal(for: .untilRevoked) == nil) == (name == "unknown"))
    }

    private func caller() throws -> Caller { try PeerIdentityTests.caller() }
    private func caller(_ change: (inout Evidence) -> Void) throws -> Caller {
        try PeerIdentityTests.caller(change)
    }

    @Test("A program in process 1's namespaces, or with a label of no sandbox, is not sandboxed")
    func notSandboxed() throws {
        let host = try caller {
            $0.ownNamespaces.mount = .found(300)
            $0.initNamespaces.mount = .found(100)
        }
        #expect(!host.isSandboxed)
        #expect(try !caller { $0.label = .found("unconfined") }.isSandboxed)
        #expect(try !caller { $0.label = .found("/usr/bin/man (enforce)") }.isSandboxed)
        #expect(try !caller { $0.controlGroup = .absent }.isSandboxed)
    }

    @Test("Only a caller in another mount namespace has a sandbox, with the sandbox's name or the namespace's number")
    func sandbox() throws {
        #expect(try caller().sandbox == nil)
        #expect(try caller { $0.namespaces.mount = .found(7) }.sandbox == "mount namespace 7")
        let flatpak = "/user.slice/app-flatpak-org.example.Mail-1234.scope"
        #expect(
            try caller {
                $0.namespaces.mount = .found(7)
                $0.controlGroup = .found(flatpak)
            }.sandbox == "flatpak.org.example.Mail")
        // A caller with only a forged control group and a user namespace of its own still has process 1's paths.
        #expect(
            try caller {
                $0.namespaces.user = .found(7)
                $0.controlGroup = .found(flatpak)
            }.sandbox == nil)
    }

    @Test(
        "A caller that cannot be identified is refused",
        arguments: [
            (
                { @Sendable (evidence: inout Evidence) in evidence.namespaces.mount = .unreadable(errno: 13) },
                .unreadable(.mountNamespace, errno: 13)
            ),
            ({ @Sendable evidence in evidence.namespaces.mount = .absent }, .unreadable(.mountNamespace, errno: 2)),
            (
                { @Sendable evidence in evidence.ownNamespaces.user = .unreadable(errno: 13) },
                .unreadable(.userNamespace, errno: 13)
            ),
            (
                { @Sendable evidence in evidence.flatpakInfo = .unreadable(errno: 95) },
                .unreadable(.flatpakInfo, errno: 95)
            ),
            ({ @Sendable evidence in evidence.label = .unreadable(errno: 34) }, .unreadable(.label, errno: 34)),
            (
                { @Sendable evidence in evidence.controlGroup = .unreadable(errno: 13) },
                .unreadable(.controlGroup, errno: 13)
            ),
            (
                { @Sendable evidence in evidence.executable = .unreadable(errno: 13) },
                .unreadable(.executable, errno: 13)
            ),
            ({ @Sendable evidence in evidence.executable = .absent }, .noExecutable),
            (
                { @Sendable evidence in
                    evidence.terminal = Terminal(major: 136, minor: 3)
                    evidence.sessionLeader = .absent
                }, .noSessionLeader
            ),
            (
                { @Sendable evidence in
                    evidence.terminal = Terminal(major: 136, minor: 3)
                    evidence.bootIdentifier = .unreadable(errno: 13)
                }, .unreadable(.session, errno: 13)
            ),
            (
                { @Sendable evidence in
                    evidence.controlGroup = .found(appScope)
                    evidence.executable = .unreadable(errno: 13)
                }, .unreadable(.executable, errno: 13)
            ),
            (
                { @Sendable evidence in
                    evidence.controlGroup = .found(appScope)
                    evidence.executable = .absent
                }, .noExecutable
            ),
        ] as [(@Sendable (inout Evidence) -> Void, Refusal)])
    func refused(change: @Sendable (inout Evidence) -> Void, refusal: Refusal) {
        #expect(judge(evidence(change)) == .refused(refusal))
    }

    @Test(
        "A file that cannot be distinguished from another one identifies no caller",
        arguments: [
            .tooLarge, .notRegular, .notLocal, .changing, .unreadable(errno: 13),
        ] as [Executable.Digest])
    func notHashed(digest: Executable.Digest) {
        let judgement = judge(evidence { $0.executable = .found(executable("/usr/bin/mail", digest: digest)) })
        #expect(judgement == .refused(.notHashed(digest)))
    }

    @Test("An app that the unit names needs no hash")
    func claimedWithoutHash() throws {
        let caller = try caller {
            $0.controlGroup = .found(appScope)
            $0.executable = .found(executable("/tmp/.mount/mail", digest: .notLocal))
        }
        #expect(caller.strength == .claimed)
    }

    @Test("A missing session matters only to callers on a terminal")
    func sessionOffTerminal() throws {
        #expect(try caller { $0.sessionLeader = .absent }.session == nil)
        #expect(try caller { $0.bootIdentifier = .unreadable(errno: 13) }.session == nil)
    }

}
