import BrokerAccessControl
import Testing

@testable import BrokerPeerIdentity

private typealias Change = @Sendable (inout Evidence) -> Void

private let scopes = "/user.slice/user-1000.slice/user@1000.service/app.slice"
private let mail = AppManifests([
    AppManifest(app: "org.example.Mail", name: "Mail", executables: ["/usr/bin/mail"])
])

/// Evidence collected with all rights, of an ordinary program of user 1000 in process 1's namespaces.
private func seen(_ changes: Change...) -> Evidence {
    evidence { evidence in
        evidence.vantage = .system
        evidence.initNamespaces = evidence.namespaces
        // The system's broker is in its own mount namespace.
        evidence.ownNamespaces.mount = .found(999)
        for change in changes { change(&evidence) }
    }
}

private func strength(_ evidence: Evidence, _ manifests: AppManifests = mail) -> IdentityStrength? {
    guard case .caller(let caller) = judge(evidence, manifests: manifests) else { return nil }
    return caller.strength
}

private let snap: Change = { evidence in
    evidence.label = .found("snap.mail.reader (enforce)")
    evidence.namespaces.mount = .found(101)
    evidence.controlGroup = .found(scopes + "/snap.mail.reader-1f2e.scope")
}

private let flatpak: Change = { evidence in
    evidence.flatpakInfo = .found(.init(app: "org.example.Mail"))
    evidence.namespaces = .init(mount: .found(101), user: .found(201))
    evidence.controlGroup = .found(scopes + "/app-flatpak-org.example.Mail-4711.scope")
}

private let service: Change = { evidence in
    evidence.controlGroup = .found("/system.slice/backup.service")
    evidence.unit = .found(SystemUnit(name: "backup.service", user: 1_000))
}

private let installed: Change = { $0.place = .found(.same(isOnlyRoots: true)) }

@Suite("Judging the strong identities")
struct StrengthTests {
    @Test("Each strength has its own evidence and name")
    func kinds() throws {
        for (change, strength, app) in [
            (snap, .labelled, "snap.mail"), (flatpak, .sandboxed, "org.example.Mail"),
            (service, .service, "backup.service"), (installed, .installed, "org.example.Mail"),
        ] as [(Change, IdentityStrength, String)] {
            guard case .caller(let caller) = judge(seen(change), manifests: mail) else {
                Issue.record("unexpectedly refused")
                return
            }
            #expect(caller.strength == strength)
            #expect(caller.app == app)
            #expect(caller.isSandboxed == (strength == .labelled || strength == .sandboxed))
            #expect(caller.lifetimes == [.untilRevoked])
            #expect(!caller.isInterpreter)
        }
    }

    @Test("An ordinary program has none of these strengths")
    func ordinary() {
        #expect(strength(seen()) == .unverified)
        #expect(
            strength(seen({ $0.controlGroup = .found(scopes + "/app-gnome-org.example.Mail-1.scope") })) == .claimed)
    }

    @Test("An ordinary user's broker assigns none of these strengths", arguments: 0..<4)
    func session(kind: Int) {
        let change = [snap, flatpak, service, installed][kind]
        let judged = strength(
            seen(
                change,
                {
                    $0.vantage = .session
                    $0.initNamespaces = .init(mount: .unreadable(errno: 13), user: .unreadable(errno: 13))
                    $0.ownNamespaces = .init(mount: .found(100), user: .found(200))
                }))
        #expect(judged == .unverified)
    }

    @Test("Without SO_PEERPIDFD every caller is unverified", arguments: 0..<4)
    func withoutPeerPidfd(kind: Int) {
        let change = [snap, flatpak, service, installed][kind]
        #expect(strength(seen(change, { $0.pidfdSource = .number })) == .unverified)
    }

    @Test(
        "A snap with contradictory evidence is not labelled, and gets no other name",
        arguments: [
            { @Sendable (evidence: inout Evidence) in evidence.label = .absent },
            { @Sendable evidence in evidence.label = .found("snap.mail.reader (complain)") },
            { @Sendable evidence in evidence.label = .found("snap.mail.reader") },
            { @Sendable evidence in evidence.label = .found("snap.other.reader (enforce)") },
            { @Sendable evidence in evidence.label = .found("snap.mail (enforce)") },
            { @Sendable evidence in evidence.label = .found("mail (enforce)") },
            { @Sendable evidence in evidence.namespaces.mount = evidence.initNamespaces.mount },
            { @Sendable evidence in evidence.controlGroup = .found(scopes + "/snap.other.reader-1.scope") },
            { @Sendable evidence in evidence.controlGroup = .found(scopes + "/app-gnome-mail-1.scope") },
            { @Sendable evidence in evidence.controlGroup = .absent },
        ] as [@Sendable (inout Evidence) -> Void])
    func notLabelled(change: @escaping @Sendable (inout Evidence) -> Void) {
        #expect(strength(seen(snap, installed, change)) == .unverified)
    }

    @Test(
        "A flatpak with contradictory evidence is not sandboxed, and gets no other name",
        arguments: [
            { @Sendable (evidence: inout Evidence) in evidence.flatpakInfo = .found(.init(app: nil)) },
            { @Sendable evidence in evidence.flatpakInfo = .found(.init(app: "org.example.Other")) },
            { @Sendable evidence in evidence.flatpakInfo = .absent },
            { @Sendable evidence in evidence.namespaces.mount = evidence.initNamespaces.mount },
            { @Sendable evidence in evidence.controlGroup = .absent },
            { @Sendable evidence in evidence.controlGroup = .found(scopes + "/app-gnome-org.example.Mail-1.scope") },
            { @Sendable evidence in evidence.controlGroup = .found(scopes + "/app-org.example.Mail-1.scope") },
            { @Sendable evidence in evidence.controlGroup = .found(scopes + "/app-flatpak-org.example.Mail.service") },
            { @Sendable evidence in evidence.controlGroup = .found(scopes + "/app-flatpak-org.example.Other-1.scope") },
            { @Sendable evidence in
                evidence.controlGroup = .found("/user.slice/app-flatpak-org.example.Mail-1.scope")
            },
            // A unit of another user's manager.
            { @Sendable evidence in evidence.uid = 1_001 },
            { @Sendable evidence in evidence.label = .found("snap.mail.reader (enforce)") },
        ] as [@Sendable (inout Evidence) -> Void])
    func notSandboxed(change: @escaping @Sendable (inout Evidence) -> Void) {
        #expect(strength(seen(flatpak, installed, change)) == .unverified)
    }

    @Test("A sandbox without a name gets no persistent grant")
    func unnamed() throws {
        let evidence = seen(
            flatpak, { $0.controlGroup = .found("/user.slice/user-1000.slice/session-1.scope") })
        guard case .caller(let caller) = judge(evidence) else {
            Issue.record("unexpectedly refused")
            return
        }
        #expect(caller.isSandboxed)
        #expect(caller.app.hasPrefix("sandbox:unknown "))
        #expect(caller.principal(for: .untilRevoked) == nil)
    }

    @Test("Python in a flatpak, snap or service is identified as that flatpak, snap or service")
    func interpreters() throws {
        let python: Change = { $0.executable = .found(executable("/usr/bin/python3.11")) }
        for change in [snap, flatpak, service] {
            guard case .caller(let caller) = judge(seen(change, python)) else {
                Issue.record("unexpectedly refused")
                return
            }
            #expect(!caller.isInterpreter)
            #expect([.labelled, .sandboxed, .service].contains(caller.strength))
        }
    }

    @Test("A caller that is identified otherwise needs no hash")
    func withoutHash() {
        let large: Change = { $0.executable = .found(executable("/usr/bin/mail", digest: .tooLarge)) }
        for change in [snap, flatpak, service, installed] { #expect(strength(seen(change, large)) != nil) }
        #expect(judge(seen(large)) == .refused(.notHashed(.tooLarge)))
    }

    @Test("A service counts only for the user that its unit names", arguments: [nil, 0, 1_001] as [UInt32?])
    func notService(user: UInt32?) {
        #expect(
            strength(seen(service, { $0.unit = .found(SystemUnit(name: "cron.service", user: user)) })) == .unverified)
    }

    @Test("A caller whose unit cannot be read is refused")
    func serviceUnreadable() {
        #expect(
            judge(seen(service, { $0.unit = .unreadable(errno: 13) })) == .refused(.unreadable(.unit, errno: 13)))
    }

    @Test(
        "A program is installed only if it is root's file, in process 1's namespaces",
        arguments: [
            { @Sendable (evidence: inout Evidence) in evidence.place = .found(.other) },
            { @Sendable evidence in evidence.place = .found(.same(isOnlyRoots: false)) },
            { @Sendable evidence in evidence.place = .absent },
            { @Sendable evidence in evidence.namespaces.mount = .found(101) },
            { @Sendable evidence in evidence.namespaces.user = .found(201) },
            { @Sendable evidence in evidence.label = .found("snap.mail.reader (enforce)") },
            { @Sendable evidence in evidence.executable = .found(executable("/usr/local/bin/mail")) },
            { @Sendable evidence in evidence.executable = .found(executable("/usr/bin/mail2")) },
            { @Sendable evidence in
                evidence.executable = .found(
                    Executable(
                        path: "/usr/bin/mail", isDeleted: true, file: file, digest: .sha256(anyHash),
                        sameAsInterpreter: nil))
            },
            { @Sendable evidence in
                evidence.executable = .found(executable("/usr/bin/mail", sameAsInterpreter: "/usr/bin/perl"))
            },
            { @Sendable evidence in evidence.executable = .found(setgid(50)) },
            { @Sendable evidence in
                evidence.executable = .found(setgid(50))
                evidence.gid = 51
            },
        ] as [@Sendable (inout Evidence) -> Void])
    func notInstalled(change: @escaping @Sendable (inout Evidence) -> Void) {
        #expect(strength(seen(installed, change)) == .unverified)
    }

    @Test("A setgid program is installed if it connected with the file's group")
    func setGroup() {
        let change: Change = {
            $0.executable = .found(setgid(50))
            $0.gid = 50
        }
        #expect(strength(seen(installed, change)) == .installed)
    }

    @Test("If the file at an installed program's path cannot be inspected, only callers of that path are refused")
    func placeUnreadable() {
        let unreadable: Change = { $0.place = .unreadable(errno: 5) }
        #expect(judge(seen(unreadable), manifests: mail) == .refused(.unreadable(.place, errno: 5)))
        #expect(strength(seen(unreadable), AppManifests()) == .unverified)
    }

    @Test("An installed program on a terminal is offered the terminal session first")
    func installedInTerminal() throws {
        let terminal: Change = { $0.terminal = Terminal(major: 136, minor: 3) }
        guard case .caller(let caller) = judge(seen(installed, terminal), manifests: mail) else {
            Issue.record("unexpectedly refused")
            return
        }
        #expect(caller.lifetimes == [.session, .untilRevoked])
        #expect(
            judge(seen(installed, terminal, { $0.sessionLeader = .absent }), manifests: mail)
                == .refused(.noSessionLeader))
    }

    @Test("A path that two manifests name gives no identity")
    func twoManifests() {
        let other = AppManifest(app: "org.example.Post", name: "Post", executables: ["/usr/bin/mail"])
        let mine = AppManifest(app: "org.example.Mail", name: "Mail", executables: ["/usr/bin/mail"])
        for count in 2...4 {
            let all = AppManifests(Array([mine, other, mine, other].prefix(count)))
            #expect(strength(seen(installed), all) == .unverified)
        }
    }

    @Test(
        "If process 1's namespaces cannot be read, every caller is refused",
        arguments: [
            Observation<UInt64>.unreadable(errno: 13), .absent,
        ])
    func firstUnreadable(reading: Observation<UInt64>) {
        #expect(strength(seen(installed, { $0.initNamespaces.mount = reading })) == nil)
        #expect(strength(seen(flatpak, { $0.initNamespaces.user = reading })) == nil)
    }

    @Test("The system's broker does not compare callers with its own namespaces")
    func ownNamespaces() {
        #expect(strength(seen(installed, { $0.namespaces.mount = .found(999) })) == .unverified)
    }
}

/// A file that gives a group to the process that executes it.
private func setgid(_ group: UInt32) -> Executable {
    var file = executable("/usr/bin/mail")
    file.setGroup = group
    return file
}

private let anyHash = String(repeating: "c3", count: 32)
