import BrokerAccessControl
import CBrokerLinux
import Glibc
import Testing

@testable import BrokerPeerIdentity

@Suite("Collecting evidence about real callers")
struct CollectorTests {
    private let collector: EvidenceCollector

    init() throws { collector = try EvidenceCollector() }

    private func judged(_ test: TestCaller) throws -> Caller {
        let judgement = judge(try test.evidence(with: collector))
        guard case .caller(let caller) = judgement else {
            Issue.record("refused: \(judgement)")
            throw TestFailure.unreadable("caller")
        }
        return caller
    }

    private func plan(_ arguments: [String]?) -> TestCaller.Plan {
        var plan = TestCaller.Plan()
        plan.arguments = arguments
        return plan
    }

    private func executable(_ evidence: Evidence) throws -> Executable {
        guard case .found(let executable) = evidence.executable else { throw TestFailure.unreadable("executable") }
        return executable
    }

    @Test("A program is identified by its file")
    func program() throws {
        let test = try TestCaller()
        let evidence = try test.evidence(with: collector)
        #expect(evidence.uid == geteuid())
        #expect(evidence.process.pid == test.started)
        #expect(evidence.process.startTime > 0)
        #expect(evidence.namespaces == evidence.ownNamespaces)
        #expect(try executable(evidence).path == "/usr/bin/cat")
        let caller = try judged(test)
        #expect(caller.strength == .unverified)
        #expect(caller.displayName == "cat")
        #expect(caller.app.hasPrefix("/usr/bin/cat sha256:"))
        #expect(caller.app.utf8.count == "/usr/bin/cat sha256:".utf8.count + 64)
        #expect(!caller.isInterpreter)
        #expect(!caller.isSandboxed)
    }

    @Test("Two runs of one program are one app and two processes")
    func twoRuns() throws {
        let (one, other) = (try TestCaller(), try TestCaller())
        let (first, second) = (try judged(one), try judged(other))
        #expect(first.app == second.app)
        #expect(first.process != second.process)
    }

    @Test("A copy of a program is another app with the same hash")
    func copied() throws {
        let folder = try Folder()
        let copy = try folder.copy(of: "/bin/cat", as: "mail client")
        let caller = try judged(try TestCaller(plan([copy])))
        let original = try judged(try TestCaller())
        #expect(caller.app == "\(copy) \(original.app.suffix(71))")
        #expect(caller.displayName == "mail client")
        #expect(!caller.isInterpreter)
    }

    @Test("A program whose file was deleted or replaced is still identified as the running file")
    func deleted() throws {
        let folder = try Folder()
        let copy = try folder.copy(of: "/bin/cat", as: "mail")
        let test = try TestCaller(plan([copy]))
        let before = try judged(test)
        // Another program is moved to the path.
        let other = try folder.copy(of: "/bin/sleep", as: "other")
        try #require(rename(other, copy) == 0)
        let evidence = try test.evidence(with: collector)
        #expect(try executable(evidence).isDeleted)
        #expect(try executable(evidence).path == copy)
        #expect(judge(evidence) == .caller(before))
    }

    @Test("A program that runs from a memfd is refused")
    func inMemory() throws {
        var plan = TestCaller.Plan()
        plan.inMemory = true
        let evidence = try TestCaller(plan).evidence(with: collector)
        #expect(try executable(evidence).path == "/memfd:program")
        #expect(judge(evidence) == .refused(.notHashed(.notLocal)))
    }

    @Test("A shell script is identified as its shell, an interpreter")
    func shell() throws {
        let caller = try judged(try TestCaller(plan(["/bin/sh", "-c", "read line; exit"])))
        #expect(caller.isInterpreter)
        #expect(caller.principal(for: .untilRevoked) == nil)
    }

    @Test(
        "A setgid file's group is collected, and the caller's own group",
        .enabled(if: Machine.isRoot, "needs root to become another user"))
    func setGroup() throws {
        let folder = try Folder()
        let copy = try folder.copy(of: "/usr/bin/cat", as: "cat")
        try #require(chown(copy, 0, 54_322) == 0 && chmod(copy, 0o2755) == 0 && chmod(folder.path, 0o755) == 0)
        var plan = plan([copy])
        plan.uid = 54_321
        // It connected before it executed the file.
        let evidence = try TestCaller(plan).evidence(with: collector)
        #expect(try executable(evidence).setGroup == 54_322)
        #expect(evidence.gid != 54_322)
        try #require(chmod(copy, 0o2745) == 0)
        #expect(try executable(try TestCaller(plan).evidence(with: collector)).setGroup == nil)
    }

    @Test("A copy of an interpreter under another name is recognised as an interpreter")
    func copiedInterpreter() throws {
        let folder = try Folder()
        // Debian always has perl-base, which installs the interpreter also under a name with its version.
        let copy = try folder.copy(of: "/usr/bin/perl", as: "mail")
        let test = try TestCaller(plan([copy, "-e", "<STDIN>"]))
        let original = try executable(try test.evidence(with: collector)).sameAsInterpreter
        #expect(original?.hasPrefix("/usr/bin/perl") == true)
        #expect(try judged(test).isInterpreter)
    }

    @Test("Python is an interpreter", .enabled(if: Machine.python != nil, "needs python3"))
    func python() throws {
        let python = try #require(Machine.python)
        let caller = try judged(try TestCaller(plan([python, "-c", "import sys; sys.stdin.read()"])))
        #expect(caller.isInterpreter)
        #expect(caller.displayName.hasPrefix("python"))
    }

    @Test("Another user's process is another caller", .enabled(if: Machine.isRoot, "needs root to become another user"))
    func otherUser() throws {
        var plan = TestCaller.Plan()
        plan.uid = 54_321
        let other = try judged(try TestCaller(plan))
        #expect(other.uid == 54_321)
        #expect(try judged(try TestCaller()).uid == 0)
        #expect(!Set(other.principals).isSuperset(of: try judged(try TestCaller()).principals))
    }

    @Test("A caller that ends while the evidence is read is not judged", arguments: [true, false])
    func gone(isReaped: Bool) throws {
        let test = try TestCaller()
        let peer = try PeerHandle(socket: test.socket)
        #expect(!peer.hasEnded)
        test.end(reaping: isReaped)
        #expect(peer.hasEnded)
        #expect(throws: PeerError.ended) { try collector.collect(peer) }
    }

    @Test("A caller that ends before the inspection is not judged")
    func goneBefore() throws {
        let test = try TestCaller()
        test.end()
        #expect(throws: PeerError.ended) { try test.evidence(with: collector) }
    }

    @Test("A process that executes another program after connecting is detected")
    func exec() throws {
        let test = try TestCaller(plan(["/bin/sh", "-c", "echo ready; read line; exec /bin/cat"]))
        let peer = try PeerHandle(socket: test.socket)
        let evidence = try collector.collect(peer)
        #expect(collector.check(peer, evidence) == .same)
        #expect(try test.exchange("go").hasPrefix("ready"))
        // An echoed line shows that cat runs.
        #expect(try test.exchange("hello") == "hello\n")
        #expect(collector.check(peer, evidence) == .changed)
        let now = try collector.collect(peer)
        #expect(now.process == evidence.process)
        #expect(collector.check(peer, now) == .same)
        #expect(try executable(now).name == "cat")
    }

    @Test("A process that executes another program of the same path is detected")
    func execOfReplacement() throws {
        let folder = try Folder()
        let path = try folder.copy(of: "/bin/sh", as: "mail")
        let test = try TestCaller(plan([path, "-c", "read line; exec \(path)"]))
        let peer = try PeerHandle(socket: test.socket)
        let evidence = try collector.collect(peer)
        let replacement = try folder.copy(of: "/bin/cat", as: "replacement")
        try #require(rename(replacement, path) == 0)
        try test.send("go")
        #expect(try test.exchange("hello") == "hello\n")
        #expect(collector.check(peer, evidence) == .changed)
        let now = try collector.collect(peer)
        #expect(try executable(now).path == executable(evidence).path)
        #expect(judge(now) != judge(evidence))
    }

    @Test("A check of an ended process gives `changed`")
    func endedIsNotStill() throws {
        let test = try TestCaller()
        let peer = try PeerHandle(socket: test.socket)
        let evidence = try collector.collect(peer)
        #expect(collector.check(peer, evidence) == .same)
        test.end(reaping: false)
        #expect(collector.check(peer, evidence) == .changed)
    }

    @Test("A caller on a terminal belongs to its session leader's session", arguments: [true, false])
    func terminal(isLeader: Bool) throws {
        var plan = TestCaller.Plan()
        plan.terminal = isLeader ? .leader : .childOfLeader
        let test = try TestCaller(plan)
        let caller = try judged(test)
        #expect(caller.session?.leader.pid == test.started)
        #expect((caller.process.pid == test.started) == isLeader)
        #expect(caller.terminal?.hasPrefix("pts/") == true)
        #expect(caller.lifetimes.first == .session)
    }

    @Test(
        "A program in its own namespaces counts as sandboxed",
        .enabled(if: Machine.canMakeNamespaces, "needs user namespaces"), arguments: [true, false])
    func namespaces(alsoMounts: Bool) throws {
        var plan = TestCaller.Plan()
        plan.ownUserNamespace = true
        plan.ownMountNamespace = alsoMounts
        let test = try TestCaller(plan)
        let evidence = try test.evidence(with: collector)
        #expect((evidence.namespaces.mount != evidence.ownNamespaces.mount) == alsoMounts)
        #expect(evidence.namespaces.user != evidence.ownNamespaces.user)
        let caller = try judged(test)
        #expect(caller.isSandboxed)
        #expect(caller.app.hasPrefix("sandbox:unknown /usr/bin/cat sha256:"))
    }

    @Test(
        "A .flatpak-info in a caller's root makes it sandboxed, whatever kind of file it is",
        .enabled(if: Machine.isRoot, "needs root to change a process's root"),
        arguments: ["file", "fifo", "link", "none"])
    func flatpakInfo(mark: String) throws {
        let folder = try Folder()
        let path = folder.path + "/.flatpak-info"
        switch mark {
        case "file": _ = try folder.write(Array("[Application]\nname=org.example.Mail\n".utf8), to: ".flatpak-info")
        case "fifo": try #require(mkfifo(path, 0o600) == 0)
        case "link": try #require(symlink("/nowhere", path) == 0)
        default: break
        }
        var plan = TestCaller.Plan()
        plan.arguments = nil
        plan.root = folder.path
        #expect(try judged(try TestCaller(plan)).isSandboxed == (mark != "none"))
    }

    @Test(
        "A unit of the user's manager names an app; a unit of another user's does not",
        .enabled(if: Machine.controlGroups != nil, "needs root and control groups that no service manager keeps"),
        .serialized,
        arguments: [true, false])
    func claimed(isOwn: Bool) throws {
        let root = try #require(Machine.controlGroups)
        let uid = isOwn ? 54_322 : 54_323
        var group = root
        var made: [String] = []
        // A group can be removed only after its last process, so the caller ends first.
        var test: TestCaller?
        defer {
            test?.end()
            for path in made.reversed() { rmdir(path) }
        }
        for part in [
            "user.slice", "user-\(uid).slice", "user@\(uid).service", "app.slice",
            "app-gnome-org.example.My\\x2dMail-77.scope",
        ] {
            group += "/" + part
            if mkdir(group, 0o755) == 0 { made.append(group) }
        }
        var plan = TestCaller.Plan()
        plan.uid = 54_322
        plan.joins = group + "/cgroup.procs"
        let started = try TestCaller(plan)
        test = started
        let caller = try judged(started)
        #expect(caller.strength == (isOwn ? .claimed : .unverified))
        #expect((caller.app == "org.example.My-Mail") == isOwn)
    }

    @Test("A connection without a peer process identifies no caller")
    func noSocket() throws {
        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        #expect(throws: PeerError.self) { try PeerHandle(socket: file) }
        #expect(throws: PeerError.self) { try PeerHandle(socket: -1) }
    }

    @Test("SO_PEERPIDFD is used if the kernel has it")
    func pidfdSource() throws {
        let test = try TestCaller()
        #expect(
            try test.evidence(with: collector).pidfdSource == (HostFacts.read().hasPeerPidfd ? .socket : .number))
    }
}
