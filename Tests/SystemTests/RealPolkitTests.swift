import BrokerAccessControl
import Glibc
import PseudoTerminal
import Testing

@testable import BrokerPasswordPrompt
@testable import BrokerSystem

/// The real polkitd with the project's actions, real passwords and two people, in a mount namespace of its own.
private final class PolkitFixture {
    let bus: PrivateBus
    private(set) var polkitd: PseudoTerminal?

    static let ada: UInt32 = 61_002
    static let boss: UInt32 = 61_003
    static let daemon: UInt32 = 61_001

    static let actions: String = {
        // This file is two folders below the project's folder.
        let project = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
        return project + "/policy/io.contactbroker.policy"
    }()

    init() throws {
        bus = try PrivateBus(
            allowing: "<listen>unix:path=/run/dbus/system_bus_socket</listen>"
                + "<includedir>/usr/share/dbus-1/system.d</includedir>")
        try bus.write(
            Self.contents("/etc/passwd") + """
                contactbroker:x:\(Self.daemon):\(Self.daemon)::/:/bin/false
                ada:x:\(Self.ada):\(Self.ada):Ada:/:/bin/sh
                boss:x:\(Self.boss):\(Self.boss):The boss:/:/bin/sh

                """, to: "passwd")
        // crypt(5), SHA-512: "right password" and "boss password".
        try bus.write(
            """
            ada:$6$contactbroker$Vff0EdkNjMkY9Xo9bPZPdCx2Eo5oxX2mXOxzSdbZ7mNS0F3Z1KLMnbeKG4YhYDzBXnXsNZW1FPIvdd3oLunU21:19000:0:99999:7:::
            boss:$6$contactbroker$yReABukrzykmRpCyLnwMQR7l9pFWO6xoJcVyaY3dYuM3qigxDQLM/jisKWcd2hW6sS8HGNzPcvPHOq7Z41Fzw/:19000:0:99999:7:::

            """, to: "shadow", mode: 0o600)
        let groups = Self.contents("/etc/group").split(separator: "\n").filter { !$0.hasPrefix("sudo:") }
        try bus.write(groups.joined(separator: "\n") + "\nsudo:x:27:boss\n", to: "group")
        let actions = bus.folder + "/actions"
        try #require(mkdir(actions, 0o755) == 0 && chmod(actions, 0o755) == 0)
        try bus.write(Self.contents(Self.actions), to: "actions/io.contactbroker.policy")
        let script = """
            set -e
            # Another test may change the umask meanwhile.
            umask 022
            mount -t tmpfs -o mode=755 tmpfs /run
            mkdir /run/dbus
            # Some containers let only root read theirs.
            mount -t proc proc /proc
            for each in passwd shadow group; do mount --bind "$0/$each" "/etc/$each"; done
            mount --bind "$0/actions" /usr/share/polkit-1/actions
            exec "$@"
            """
        try bus.start(by: ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script, bus.folder])
        try startPolkit()
    }

    deinit { polkitd?.terminate() }

    func startPolkit() throws {
        let started = try program(["/usr/lib/polkit-1/polkitd"])
        polkitd = started
        try started.wait(for: "Acquired the name")
    }

    static func contents(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(file, &part, part.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += part[..<count]
        }
    }

    /// A program in polkit's mount namespace, on a terminal of its own.
    func program(_ words: [String], as uid: UInt32? = nil) throws -> PseudoTerminal {
        let bus = try #require(self.bus.daemon)
        let user =
            uid.map { ["/usr/bin/setpriv", "--reuid", "\($0)", "--regid", "\($0)", "--clear-groups", "--"] } ?? []
        return try PseudoTerminal(
            "/usr/bin/nsenter", arguments: ["-t", "\(bus.pid)", "-m", "--"] + user + words,
            environment: PrivateBus.environment, columns: PrivateBus.columns)
    }

    /// A process of this user, as an agent or contactctl would be.
    func process(of uid: UInt32) throws -> (PseudoTerminal, Subject) {
        let program = try program(["/bin/sh", "-c", "echo here; exec sleep 120"], as: uid)
        try program.wait(for: "here")
        return (program, Subject(pid: program.pid, uid: uid))
    }

    /// Starts polkit's own agent, as `contact-agent` and `contactctl` do, for that process at a terminal in which the
    /// test types. Returns once it is registered. The fixture's logind knows no session.
    func agent(of uid: UInt32, for subject: Subject, isInSession: Bool = false) throws -> PasswordTerminal {
        let words = PasswordAgent.arguments(for: subject.identity.pid, isInSession: isInSession)
        // Descriptor 3 must be open.
        let agent = try program(
            ["/bin/sh", "-c", "exec \"$0\" \"$@\" 3>/dev/null", PasswordAgent.program] + words, as: uid)
        try polkitd?.wait(for: "Registered Authentication Agent for unix-process:\(subject.identity.pid)")
        return PasswordTerminal(agent)
    }
}

/// The person at the terminal of polkit's agent.
private final class PasswordTerminal {
    let terminal: PseudoTerminal
    private var prompts = 0
    /// polkitd 122 sometimes does nothing for 15 seconds before it asks.
    static let patience = Duration.seconds(45)

    init(_ terminal: PseudoTerminal) { self.terminal = terminal }

    /// Waits for the next request for a password.
    func isAsked() throws {
        prompts += 1
        let (terminal, prompts) = (terminal, prompts)
        try terminal.wait(for: "question number \(prompts)", timeout: Self.patience) { _ in
            terminal.text().matches(of: /Password:/).count >= prompts
        }
        // Keys that are typed before the echo is off are discarded.
        let deadline = ContinuousClock.now + .seconds(10)
        while terminal.isInLineMode, ContinuousClock.now < deadline { sched_yield() }
    }

    func type(_ password: String) throws {
        try isAsked()
        terminal.send(password + "\r")
    }
}

@Suite(
    "The real polkit",
    .enabled(if: Machine.canRunPolkit, "needs root, a mount namespace, dbus-daemon, polkitd and pkttyagent"),
    .serialized, .timeLimit(.minutes(10)))
struct RealPolkitTests {
    private let fixture: PolkitFixture
    private var bus: PrivateBus { fixture.bus }

    init() throws { fixture = try PolkitFixture() }

    @Test("The right password grants that action alone, and is asked for each time")
    func right() throws {
        let (program, ada) = try fixture.process(of: PolkitFixture.ada)
        let agent = try fixture.agent(of: PolkitFixture.ada, for: ada)
        let asked = Question(.answer, of: ada, by: bus.authority())
        try agent.isAsked()
        #expect(agent.terminal.screen.contains("Your password is needed to see which apps want your contacts"))
        agent.terminal.send("right password\r")
        #expect(try asked.answer(bus.loop) == .granted)
        for action in AuthorityAction.allCases {
            #expect(try bus.ask(action, of: ada, mayInteract: false) == .wantsInteraction, "\(action)")
        }
        for _ in 1...2 {
            let much = Question(
                .shareAll, of: ada, app: "org.example.Mail", access: "30 contacts", by: bus.authority())
            // What the app gets comes first, so that no name of an app can pretend to be that.
            let words = "It gets: 30 contacts. The app: \"org.example.Mail\""
            try agent.terminal.wait(for: words, timeout: PasswordTerminal.patience) {
                $0.text.replacing("\n", with: "").contains(words)
            }
            try agent.type("right password")
            #expect(try much.answer(bus.loop) == .granted)
            #expect(try bus.ask(.shareAll, of: ada, mayInteract: false) == .wantsInteraction)
        }
        // Another process of the same user is granted nothing.
        let (other, second) = try fixture.process(of: PolkitFixture.ada)
        #expect(try bus.ask(.answer, of: second, mayInteract: false) == .wantsInteraction)
        withExtendedLifetime((program, other)) {}
    }

    @Test("Without a login session polkit ignores an agent that lets a desktop's agent go first")
    func fallback() throws {
        let (program, ada) = try fixture.process(of: PolkitFixture.ada)
        let agent = try fixture.agent(of: PolkitFixture.ada, for: ada, isInSession: true)
        #expect(try bus.ask(.answer, of: ada) == .wantsInteraction)
        withExtendedLifetime((program, agent)) {}
    }

    @Test(
        "A process is in a login session if its control group is in the slice of a user",
        arguments: [
            ("0::/user.slice/user-1000.slice/session-2.scope\n", true),
            ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.scope\n", true),
            ("1:name=systemd:/user.slice/user-7.slice/session-c1.scope\n0::/user.slice\n", true),
            ("0::/system.slice/cron.service\n", false), ("0::/\n", false), ("", false),
        ])
    func session(cgroups: String, isInSession: Bool) {
        #expect(PasswordAgent.isInSession(cgroups: cgroups) == isInSession)
        #expect(!PasswordAgent.ownCgroups().isEmpty)
    }

    @Test("The wrong password grants nothing")
    func wrong() throws {
        let (program, ada) = try fixture.process(of: PolkitFixture.ada)
        let agent = try fixture.agent(of: PolkitFixture.ada, for: ada)
        let asked = Question(.answer, of: ada, by: bus.authority())
        try agent.type("wrong password")
        let answer = try asked.answer(bus.loop)
        #expect(answer == .refused || answer == .wantsInteraction)
        #expect(try bus.ask(.answer, of: ada, mayInteract: false) == .wantsInteraction)
        withExtendedLifetime(program) {}
    }

    @Test("Without interaction, without an agent, or if the agent is interrupted, nothing is granted")
    func absent() throws {
        let (program, ada) = try fixture.process(of: PolkitFixture.ada)
        #expect(try bus.ask(.answer, of: ada, mayInteract: false) == .wantsInteraction)
        #expect(try bus.ask(.answer, of: ada) == .wantsInteraction)
        let agent = try fixture.agent(of: PolkitFixture.ada, for: ada)
        let asked = Question(.answer, of: ada, by: bus.authority())
        try agent.isAsked()
        agent.terminal.signal(SIGINT)
        #expect(try asked.answer(bus.loop) != .granted)
        withExtendedLifetime(program) {}
    }

    @Test("A request that times out is withdrawn from the agent, and a password typed later grants nothing")
    func givenUp() throws {
        let (program, ada) = try fixture.process(of: PolkitFixture.ada)
        let agent = try fixture.agent(of: PolkitFixture.ada, for: ada)
        let monitor = try fixture.program(["/usr/bin/dbus-monitor", "--address", bus.address, "--monitor"])
        // After this message the program monitors the bus.
        try monitor.wait(for: "member=NameLost")
        // Search the transcript, because words leave the screen.
        func hears(_ word: String, _ timeout: Duration) throws {
            try monitor.wait(for: word, timeout: timeout) { _ in
                monitor.text().contains("member=" + word)
            }
        }
        // A request that times out before polkit has received it has no effect, so a busy machine gets a longer wait.
        for wait in [2, 20] {
            guard case .failed = try bus.ask(.answer, of: ada, by: bus.authority(wait: .seconds(wait))) else {
                Issue.record("an answer came without a password")
                return
            }
            if (try? hears("BeginAuthentication", .seconds(20))) != nil { break }
        }
        try hears("CancelAuthentication", .seconds(30))
        // pkttyagent learns of the cancellation once it has read its line.
        try agent.type("right password")
        try agent.terminal.wait(for: "AUTHENTICATION FAILED")
        #expect(try bus.ask(.answer, of: ada, mayInteract: false) == .wantsInteraction)
        // Cancelling by the broker has the same result.
        let asked = Question(.shareAll, of: ada, by: bus.authority())
        asked.handle?.cancel()
        #expect(try bus.ask(.shareAll, of: ada, mayInteract: false) == .wantsInteraction)
        #expect(asked.said == nil)
        withExtendedLifetime(program) {}
    }

    @Test("If a process ends while its user types, the right password grants nothing")
    func ended() throws {
        let (program, ada) = try fixture.process(of: PolkitFixture.ada)
        let agent = try fixture.agent(of: PolkitFixture.ada, for: ada)
        let asked = Question(.answer, of: ada, by: bus.authority())
        try agent.isAsked()
        program.signal(SIGKILL)
        _ = try program.waitForExit()
        agent.terminal.send("right password\r")
        #expect(try asked.answer(bus.loop) != .granted)
    }

    @Test("polkit still works after requests that are withdrawn at the moment when the agent ends")
    func revoked() throws {
        // polkitd 122 hangs for ever if CancelCheckAuthorization arrives within about 20 µs of the agent's end. The
        // tests with a fake polkit show that the broker never calls it. Each round here tries another moment, in case
        // anything else hangs polkitd.
        for round in 0..<20 {
            let (program, ada) = try fixture.process(of: PolkitFixture.ada)
            let agent = try fixture.agent(of: PolkitFixture.ada, for: ada)
            let asked = Question(.answer, of: ada, by: bus.authority())
            try agent.isAsked()
            agent.terminal.signal(SIGKILL)
            let moment = ContinuousClock.now + .microseconds(100 * round)
            while ContinuousClock.now < moment {}
            asked.handle?.cancel()
            _ = try agent.terminal.waitForExit()
            #expect(try bus.ask(.answer, of: ada, mayInteract: false) == .wantsInteraction, "round \(round)")
            withExtendedLifetime(program) {}
        }
    }

    @Test("A polkit that hangs during a request grants nothing, and the next request reaches a new one")
    func hung() throws {
        let (program, ada) = try fixture.process(of: PolkitFixture.ada)
        let agent = try fixture.agent(of: PolkitFixture.ada, for: ada)
        // polkit may be slow for this long, and the request ends after twice the time.
        let asked = Question(.answer, of: ada, by: bus.authority(patience: .seconds(4)))
        try agent.isAsked()
        fixture.polkitd?.signal(SIGSTOP)
        #expect(try asked.answer(bus.loop) == .hung)
        #expect(try bus.ask(.answer, of: ada, by: bus.authority(patience: .seconds(1))) == .hung)
        fixture.polkitd?.signal(SIGKILL)
        _ = try fixture.polkitd?.waitForExit()
        try fixture.startPolkit()
        #expect(try bus.ask(.answer, of: ada, mayInteract: false) == .wantsInteraction)
        withExtendedLifetime(program) {}
    }

    @Test("An administrator's rights need an administrator's password, and uid 0 needs none")
    func administrator() throws {
        let (program, ada) = try fixture.process(of: PolkitFixture.ada)
        let agent = try fixture.agent(of: PolkitFixture.ada, for: ada)
        for (password, isRight) in [("right password", false), ("boss password", true)] {
            let asked = Question(.admin, of: ada, by: bus.authority())
            try agent.type(password)
            #expect(agent.terminal.screen.contains("Authenticating as: The boss (boss)"))
            #expect((try asked.answer(bus.loop) == .granted) == isRight)
        }
        #expect(try bus.ask(.admin, of: .ownProcess, mayInteract: false) == .granted)
        withExtendedLifetime(program) {}
    }

    @Test("A polkit that dies during a request grants nothing, and the next request reaches a new one")
    func killed() throws {
        let (program, ada) = try fixture.process(of: PolkitFixture.ada)
        let agent = try fixture.agent(of: PolkitFixture.ada, for: ada)
        let asked = Question(.answer, of: ada, by: bus.authority())
        try agent.isAsked()
        fixture.polkitd?.signal(SIGKILL)
        guard case .failed = try asked.answer(bus.loop) else {
            Issue.record("a polkit that was killed gave an answer")
            return
        }
        _ = try fixture.polkitd?.waitForExit()
        try fixture.startPolkit()
        #expect(try bus.ask(.answer, of: ada, mayInteract: false) == .wantsInteraction)
        withExtendedLifetime(program) {}
    }

    @Test(
        "Only the broker's user, which owns the actions, may ask about other users' processes",
        arguments: [(PolkitFixture.daemon, true), (PolkitFixture.boss, false)])
    func owner(uid: UInt32, mayAsk: Bool) throws {
        let (program, ada) = try fixture.process(of: PolkitFixture.ada)
        for action in AuthorityAction.allCases {
            let process = "\(ada.identity.pid),\(ada.identity.startTime),\(ada.uid)"
            let check = try fixture.program(
                ["/usr/bin/pkcheck", "--process", process, "--action-id", action.rawValue, "--detail", "app", "x"],
                as: uid)
            let end = try check.waitForExit()
            #expect(check.screen.contains("Only trusted callers") == !mayAsk, "\(check.screen)")
            // Status 2 means that a password is needed. A user who may not ask gets an error.
            #expect((end == .exited(2)) == mayAsk, "\(end) \(check.screen)")
        }
        withExtendedLifetime(program) {}
    }

    @Test("polkit reads every action with its owner, and requires the same password in every kind of session")
    func actions() throws {
        for (action, wanted) in [
            (AuthorityAction.answer, "auth_self"), (.shareAll, "auth_self"), (.manageOwn, "auth_self"),
            (.lookUp, "auth_self"), (.backUp, "auth_self"), (.restore, "auth_self"), (.putBack, "auth_self"),
            (.emptyBin, "auth_self"), (.admin, "auth_admin"),
        ] {
            let shown = try fixture.program(["/usr/bin/pkaction", "--verbose", "--action-id", action.rawValue])
            #expect(try shown.waitForExit() == .exited(0))
            let lines = shown.screen.lines.map { $0.split(separator: " ").joined(separator: " ") }
            for place in ["any", "inactive", "active"] { #expect(lines.contains("implicit \(place): \(wanted)")) }
            #expect(
                lines.contains("annotation: org.freedesktop.policykit.owner -> unix-user:contactbroker"), "\(lines)")
        }
    }
}
