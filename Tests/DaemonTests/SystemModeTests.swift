import BrokerJSON
import BrokerVarlinkClient
import Glibc
import Testing

@Suite("When the system's broker does not start")
struct SystemModeTests {
    /// Runs the broker, and returns how it ended and what it wrote.
    private func launch(_ arguments: [String], prefix: [String] = []) throws -> (end: ChildProcess.End, said: String) {
        let fixture = try DaemonFixture(starting: false)
        let log = open(fixture.folder + "/said", O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
        let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer {
            close(log)
            close(nothing)
        }
        let words = prefix + [DaemonFixture.programs + "/contactbrokerd"] + arguments
        let program = try ChildProcess(
            words[0], Array(words.dropFirst()), descriptors: [(0, nothing), (1, log), (2, log)])
        let end = try program.waitForEnd()
        return (end, DaemonFixture.text(of: fixture.folder + "/said"))
    }

    /// A user without privilege who can read /proc, where a Swift program finds its arguments.
    private static let asNobody = Surroundings.ordinaryUser.entering(state: "")

    @Test("It does not start as root", .enabled(if: getuid() == 0, "needs root"))
    func root() throws {
        let (end, said) = try launch(["--system"])
        #expect(end == .exited(2))
        #expect(said.contains("could not start: the system's broker must not run as root\n"))
    }

    @Test(
        "It does not start with capabilities",
        .enabled(if: Surroundings.ordinaryUser.canBeEntered && getuid() == 0, "needs root"))
    func capabilities() throws {
        // The last word, `--`, ends setpriv's options.
        let some = ["--inh-caps", "+sys_ptrace", "--ambient-caps", "+sys_ptrace", "--"]
        let (end, said) = try launch(["--system"], prefix: Self.asNobody.dropLast() + some)
        #expect(end == .exited(2))
        #expect(said.contains("could not start: this process has capabilities"), "\(said)")
    }

    @Test(
        "It does not start without the sockets that systemd passes",
        .enabled(if: Surroundings.ordinaryUser.canBeEntered, "needs setpriv and a build that others may read"))
    func sockets() throws {
        let (end, said) = try launch(["--system"], prefix: Self.asNobody)
        #expect(end == .exited(2))
        #expect(said.contains("could not start: systemd passed no socket for io.contactbroker.Contacts"), "\(said)")
    }

    @Test(
        "It does not start with a socket that is not one of its own",
        .enabled(
            if: Surroundings.ordinaryUser.canBeEntered && access("/usr/bin/systemd-socket-activate", X_OK) == 0,
            "needs systemd-socket-activate"))
    func foreignSocket() throws {
        let fixture = try DaemonFixture(starting: false)
        let path = fixture.folder + "/io.contactbroker.Other"
        chown(fixture.folder, 65_534, 65_534)
        let log = open(fixture.folder + "/said", O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
        defer { close(log) }
        let words =
            Self.asNobody + [
                "/usr/bin/systemd-socket-activate", "--listen", path, "--fdname=varlink",
                DaemonFixture.programs + "/contactbrokerd", "--system",
            ]
        let program = try ChildProcess(words[0], Array(words.dropFirst()), descriptors: [(1, log), (2, log)])
        // The first connection makes systemd-socket-activate start the broker.
        while !program.hasEnded(within: .milliseconds(10)) {
            let knock = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let size = socklen_t(MemoryLayout<sockaddr_un>.size)
            _ = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(knock, $0, size) }
            }
            close(knock)
        }
        let said = DaemonFixture.text(of: fixture.folder + "/said")
        #expect(
            said.contains("could not start: systemd passed an unknown socket: varlink at \(path)"), "\(said)")
    }

    @Test("It does not start with folders from the command line, with both modes or with none")
    func arguments() throws {
        for words in [
            ["--system", "--state-dir", "/tmp/x"], ["--system", "--config-dir", "/tmp/x"], ["--system", "--session"],
            [],
        ] {
            let (end, said) = try launch(words)
            #expect(end != .exited(0), "\(words): \(said)")
        }
    }
}

@Suite("Root at the sockets of a user's own broker")
struct RootTests {
    @Test(
        "Root is refused at every socket: an ordinary user's broker cannot tell it from the root of a container",
        .enabled(if: getuid() == 0 && Surroundings.ordinaryUser.canBeEntered, "needs root, and another user"))
    func root() throws {
        let fixture = try DaemonFixture(in: .ordinaryUser)
        for (path, method) in [
            (fixture.appsSocket, "org.varlink.service.GetInfo"), (fixture.agentSocket, "org.varlink.service.GetInfo"),
            (fixture.adminSocket, "io.contactbroker.Admin.GetStatus"),
        ] {
            let client = try VarlinkClient(path: path, timeout: .seconds(10))
            defer { client.close() }
            #expect(throws: VarlinkClientError.self) { try client.call(method) }
        }
        #expect(fixture.journal.contains("refused a connection of user 0"))
        #expect(fixture.journal.contains("it could not be identified"))
    }
}

@Suite("Purging a user's data")
struct PurgeTests {
    private func contactctl(_ arguments: String..., in fixture: DaemonFixture) throws -> Command {
        try Command(DaemonFixture.programs + "/contactctl", arguments, in: fixture)
    }

    @Test("A purge is confirmed, deletes the data, is recorded, and lasts after a restart")
    func purging() throws {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        let own = "\(getuid())"
        let asked = try contactctl("purge-user", own, in: fixture)
        #expect(asked.end == .exited(2))
        #expect(asked.errors.contains("there is no terminal to ask on"))
        #expect(DaemonFixture.paths(below: fixture.state + "/users").count > 0)
        let purged = try contactctl("purge-user", own, "--yes", in: fixture)
        #expect(purged.end == .exited(0), "\(purged.errors)")
        #expect(purged.output.hasPrefix("removed everything that was stored for "))
        #expect(DaemonFixture.paths(below: fixture.state + "/users").isEmpty)
        #expect(try contactctl("audit", in: fixture).output.contains("purge"))
        #expect(try contactctl("verify", in: fixture).end == .exited(0))
        try fixture.stop()
        try fixture.start()
        #expect(try fixture.app("keeper").call("GetAuthorization").word == "notDetermined")
    }

    @Test("Purging an unknown user is an error")
    func unknown() throws {
        let fixture = try DaemonFixture()
        let unknown = try contactctl("purge-user", "nobody of that name", "--yes", in: fixture)
        #expect(unknown.end == .exited(1))
        #expect(unknown.errors.contains("no user is called nobody of that name"))
    }
}
