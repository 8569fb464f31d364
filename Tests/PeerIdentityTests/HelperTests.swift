import BrokerAccessControl
import CBrokerIdentify
import CBrokerLinux
import CTestCaller
import Dispatch
import Glibc
import Synchronization
import Testing

@testable import BrokerPeerIdentity

@Suite(
    "The helper", .enabled(if: Machine.canRunHelper, Machine.helperNeeds), .serialized,
    .timeLimit(.minutes(10)))
struct HelperTests {
    private func pidfd(of caller: TestCaller) throws -> CInt {
        let pidfd = clinux_pidfd_open(caller.started)
        try #require(pidfd >= 0)
        return pidfd
    }

    @Test("It reports the same evidence as a direct inspection with all rights")
    func same() throws {
        let helper = try RunningHelper()
        let client = try helper.client()
        let collector = try EvidenceCollector(vantage: .system)
        #expect(client.isAnswered())
        for uid in [nil, 54_321] as [UInt32?] {
            var plan = TestCaller.Plan()
            plan.uid = uid
            let caller = try TestCaller(plan)
            let (asked, seen) = (try caller.evidence(with: client), try caller.evidence(with: collector))
            #expect(asked == seen)
            guard case .found(let executable) = asked.executable, case .sha256 = executable.digest else {
                Issue.record("not hashed")
                return
            }
            #expect(executable.path == "/usr/bin/cat")
        }
    }

    @Test("It has two capabilities, can gain no others, and is confined")
    func confinement() throws {
        let helper = try RunningHelper()
        #expect(try helper.client().isAnswered())
        let two = "0000000000080004"
        #expect(helper.status("CapPrm") == two)
        #expect(helper.status("CapEff") == two)
        #expect(helper.status("CapBnd") == two)
        #expect(helper.status("CapInh") == "0000000000000000")
        #expect(helper.status("CapAmb") == "0000000000000000")
        #expect(helper.status("NoNewPrivs") == "1")
        #expect(helper.status("Seccomp") == "2")
    }

    @Test("A worker can read files")
    func workerReads() throws { #expect(try worker("reading") == 0) }

    @Test(
        "A worker that tries anything else is killed, also if it opens a file for writing",
        arguments: ["openat2", "writing", "creating", "temporary", "socket", "exec", "ptrace", "handle"])
    func workerIsConfined(what: String) throws { #expect(try worker(what) == -SIGSYS) }

    /// Tries one thing as a confined worker. Returns its exit status, or the negative number of the signal that ended it.
    private func worker(_ what: String) throws -> CInt {
        let probe = RunningHelper.program.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
        return RunningHelper.status(of: try RunningHelper.start([probe + "/ConfinementProbe", "worker", what]))
    }

    @Test("It serves the user of its argument, and no other", arguments: ["54321", "0"])
    func otherUser(uid: String) throws {
        let helper = try RunningHelper(["--for-uid", uid])
        #expect(try helper.client().isAnswered() == (uid == "0"))
        #expect(try helper.sayOnce(RunningHelper.request(), []) == (uid == "0" ? IDENTIFY_MALFORMED.rawValue : nil))
    }

    @Test("By default it serves the owner of its socket file")
    func owner() throws {
        let folder = try Folder()
        let path = folder.path + "/socket"
        let listener = identify_listen(path)
        try #require(listener >= 0)
        defer { close(listener) }
        #expect(identify_owner(listener) == 0)
        try #require(chown(path, 54_321, 54_321) == 0)
        #expect(identify_owner(listener) == 54_321)
        unlink(path)
        #expect(identify_owner(listener) < 0)
    }

    @Test(
        "It does not start with unknown arguments",
        arguments: [
            ["--socket"], ["--socket", "relative"], ["--for-uid", "x"], ["--for-uid", "4294967295"], ["--other", "x"],
            ["x"], [], ["--socket", "/nowhere/at/all"],
        ])
    func arguments(words: [String]) throws {
        #expect(RunningHelper.status(of: try RunningHelper.start([RunningHelper.program] + words)) == 2)
    }

    @Test("An invalid request is answered as such, and the helper continues")
    func garbage() throws {
        let helper = try RunningHelper()
        let caller = try TestCaller()
        let process = try pidfd(of: caller)
        defer { close(process) }
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(null) }
        let good = RunningHelper.request()
        let malformed = IDENTIFY_MALFORMED.rawValue
        #expect(try helper.say(good, [process]) == IDENTIFY_INSPECTED.rawValue)
        #expect(try helper.say(good, []) == malformed)
        #expect(try helper.say(good, [process, process]) == malformed)
        #expect(try helper.say(good, [CInt](repeating: process, count: 16)) == malformed)
        #expect(try helper.say(good, [null]) == malformed)
        #expect(try helper.say([], [process]) == malformed)
        #expect(try helper.say([1], [process]) == malformed)
        #expect(try helper.say(good + [0], [process]) == malformed)
        #expect(try helper.say(good.dropLast(1) + [], [process]) == malformed)
        #expect(try helper.say([UInt8](repeating: 0xff, count: 100_000), [process]) == malformed)
        #expect(try helper.say(RunningHelper.request { $0.magic += 1 }, [process]) == malformed)
        #expect(try helper.say(RunningHelper.request { $0.wants = 4 }, [process]) == malformed)
        #expect(try helper.say(RunningHelper.request { $0.reserved = 1 }, [process]) == malformed)
        #expect(try helper.say(good, [process]) == IDENTIFY_INSPECTED.rawValue)
    }

    @Test("An ended process is reported as ended", arguments: [true, false])
    func ended(isReaped: Bool) throws {
        let helper = try RunningHelper()
        let caller = try TestCaller()
        let process = try pidfd(of: caller)
        defer { close(process) }
        let peer = try PeerHandle(socket: caller.socket)
        caller.end(reaping: isReaped)
        #expect(try helper.say(RunningHelper.request(), [process]) == IDENTIFY_ENDED.rawValue)
        #expect(throws: PeerError.ended) { try helper.client().collectInTheEnd(peer) }
    }

    @Test(
        "A caller's special files do not block the helper, and give no name",
        arguments: ["fifo", "link", "loop", "device", "folder", "huge", "socket"])
    func traps(trap: String) throws {
        let helper = try RunningHelper()
        let folder = try Folder()
        let path = folder.path + "/.flatpak-info"
        switch trap {
        case "fifo": try #require(mkfifo(path, 0o600) == 0)
        case "link": try #require(symlink("/etc/shadow", path) == 0)
        case "loop": try #require(symlink(".flatpak-info", path) == 0)
        case "device": try #require(mknod(path, S_IFCHR | 0o600, 0x0502) == 0)
        case "folder": try #require(mkdir(path, 0o700) == 0)
        case "huge":
            _ = try folder.write(Array("[Application]\nname=org.example.Mail\n".utf8), to: ".flatpak-info")
            try #require(truncate(path, 65_537) == 0)
        default:
            let listener = test_caller_listen(path)
            try #require(listener >= 0)
            close(listener)
        }
        defer { if trap == "folder" { rmdir(path) } }
        var plan = TestCaller.Plan()
        plan.arguments = nil
        plan.root = folder.path
        let evidence = try TestCaller(plan).evidence(with: helper.client())
        #expect(evidence.flatpakInfo == .found(.init(app: nil)))
    }

    @Test("A .flatpak-info is read if it is a regular file, whoever owns it")
    func mark() throws {
        let helper = try RunningHelper()
        let folder = try Folder()
        let path = try folder.write(
            Array("[Application]\nname=org.example.Mail\n[Instance]\ninstance-id=7\n".utf8), to: ".flatpak-info",
            mode: 0o600)
        try #require(chown(path, 54_321, 54_321) == 0)
        var plan = TestCaller.Plan()
        plan.arguments = nil
        plan.root = folder.path
        let evidence = try TestCaller(plan).evidence(with: helper.client())
        #expect(evidence.flatpakInfo == .found(.init(app: "org.example.Mail")))
    }

    @Test("An executable of 10 GB is reported as too large")
    func huge() throws {
        let helper = try RunningHelper()
        let folder = try Folder()
        let copy = try folder.copy(of: "/bin/cat", as: "huge")
        try #require(truncate(copy, 10_000_000_000) == 0)
        var plan = TestCaller.Plan()
        plan.arguments = [copy]
        let caller = try TestCaller(plan)
        let evidence = try caller.evidence(with: helper.client())
        guard case .found(let executable) = evidence.executable else { throw TestFailure.unreadable("executable") }
        #expect(executable.digest == .tooLarge)
    }

    @Test("A worker that hangs is killed after half a second, even if it is stopped, and the caller is not identified")
    func hanging() throws {
        let helper = try RunningHelper()
        let folder = try Folder()
        let copy = try folder.copy(of: "/bin/cat", as: "large")
        // The file is so large that the test can stop the worker that reads it, as a file system could.
        try #require(truncate(copy, 268_000_000) == 0)
        var plan = TestCaller.Plan()
        plan.arguments = [copy]
        let caller = try TestCaller(plan)
        let process = try pidfd(of: caller)
        defer { close(process) }
        let clock = ContinuousClock()
        let end = clock.now + .seconds(60)
        var isCaught = false
        while !isCaught, clock.now < end {
            let start = clock.now
            let said = try helper.sayOnce(
                RunningHelper.request { $0.wants = IDENTIFY_WANTS_DIGEST }, [process], signallingWorkers: SIGSTOP)
            // Retry if the worker answered before it was stopped.
            isCaught = said.isSignalled && said.outcome != IDENTIFY_INSPECTED.rawValue
            guard isCaught else { continue }
            #expect(said.outcome == nil)
            #expect(clock.now - start >= .milliseconds(450))
        }
        #expect(isCaught)
        #expect(comes { helper.busyWorkers.isEmpty })
        #expect(try helper.say(RunningHelper.request(), [process]) == IDENTIFY_INSPECTED.rawValue)
    }

    @Test("A client that sends no request is hung up on after half a second")
    func silent() throws {
        let helper = try RunningHelper()
        let (clock, start) = (ContinuousClock(), ContinuousClock.now)
        let connection = test_identify_connect(helper.path)
        try #require(connection >= 0)
        defer { close(connection) }
        var byte: UInt8 = 0
        #expect(recv(connection, &byte, 1, 0) == 0)
        #expect(clock.now - start >= .milliseconds(450))
        #expect(try helper.client().isAnswered())
    }

    @Test("A worker serves one request and ends; the next request gets another process")
    func oneEach() throws {
        let helper = try RunningHelper()
        let caller = try TestCaller()
        let process = try pidfd(of: caller)
        defer { close(process) }
        for _ in 0..<8 {
            let most = Int(IDENTIFY_WORKERS)
            #expect(comes { helper.workers.count == most })
            let before = Set(helper.workers)
            #expect(try helper.sayOnce(RunningHelper.request(), [process]) == IDENTIFY_INSPECTED.rawValue)
            #expect(comes { helper.workers.count == most && !before.isSubset(of: helper.workers) })
            #expect(before.intersection(helper.workers).count == most - 1)
        }
    }

    @Test("A caller that ends before the inspection is not identified, and occupies no worker")
    func givenUp() throws {
        let helper = try RunningHelper()
        let client = try helper.client()
        let gone = try TestCaller()
        let peer = try PeerHandle(socket: gone.socket)
        gone.end()
        for _ in 0..<100 { #expect(throws: PeerError.ended) { try client.collectInTheEnd(peer) } }
        #expect(comes { helper.busyWorkers.isEmpty })
        #expect(try TestCaller().evidence(with: client).process.pid != peer.pid)
    }

    @Test("If a worker is killed, the helper hangs up on its client, and continues")
    func killed() throws {
        let helper = try RunningHelper()
        let caller = try TestCaller()
        let process = try pidfd(of: caller)
        defer { close(process) }
        let end = ContinuousClock.now + .seconds(60)
        var isCaught = false
        while !isCaught, .now < end {
            let said = try helper.sayOnce(RunningHelper.request(), [process], signallingWorkers: SIGKILL)
            // Retry if the worker answered before it was killed.
            isCaught = said.isSignalled && said.outcome != IDENTIFY_INSPECTED.rawValue
            if isCaught { #expect(said.outcome == nil) }
        }
        #expect(isCaught)
        #expect(try helper.client().isAnswered())
    }

    @Test(
        "A caller whose root is a FUSE file system that never answers is refused at once",
        .enabled(if: access("/dev/fuse", F_OK) == 0))
    func server() throws {
        let helper = try RunningHelper()
        let folder = try Folder()
        let root = folder.path + "/root"
        try #require(mkdir(root, 0o755) == 0)
        let server = test_hanging_mount(root)
        try #require(server > 0)
        defer {
            kill(server, SIGKILL)
            RunningHelper.status(of: server)
            umount2(root, Int32(MNT_DETACH))
            rmdir(root)
        }
        var plan = TestCaller.Plan()
        plan.arguments = nil
        plan.root = root
        let caller = try TestCaller(plan)
        let evidence = try caller.evidence(with: helper.client())
        #expect(evidence.flatpakInfo == .unreadable(errno: EOPNOTSUPP))
    }

    @Test("A thousand requests are all answered, by as many workers at once as there are")
    func thousand() throws {
        let helper = try RunningHelper()
        let client = try helper.client()
        let caller = try TestCaller()
        let peer = try PeerHandle(socket: caller.socket)
        let answers = Atomic(0)
        let killed = Atomic(0)
        let threads = DispatchGroup()
        let end = ContinuousClock.now + .seconds(60)
        for number in 0..<20 {
            DispatchQueue(label: "asker \(number)").async(group: threads) {
                for _ in 0..<50 {
                    let seen = try? client.collectInTheEnd(peer, until: end) {
                        killed.add(1, ordering: .relaxed)
                    }
                    guard seen != nil else { continue }
                    answers.add(1, ordering: .relaxed)
                }
            }
        }
        var most = 0
        while threads.wait(timeout: .now()) == .timedOut { most = max(most, helper.workersAtOnce) }
        #expect(answers.load(ordering: .relaxed) == 1_000)
        #expect(killed.load(ordering: .relaxed) < 100)
        #expect(most <= IDENTIFY_WORKERS)
        // The last workers have answered, and are ending.
        #expect(comes { helper.busyWorkers.isEmpty })
    }

    @Test("Later checks use the helper too")
    func secondLook() throws {
        let helper = try RunningHelper()
        let client = try helper.client()
        var plan = TestCaller.Plan()
        plan.arguments = ["/bin/sh", "-c", "echo ready; read line; exec /bin/cat"]
        let test = try TestCaller(plan)
        let peer = try PeerHandle(socket: test.socket)
        let evidence = try client.collect(peer)
        #expect(client.checkInTheEnd(peer, evidence) == .same)
        #expect(try test.exchange("go").hasPrefix("ready"))
        #expect(try test.exchange("hello") == "hello\n")
        #expect(client.checkInTheEnd(peer, evidence) == .changed)
        #expect(client.checkInTheEnd(peer, try client.collect(peer)) == .same)
        test.end(reaping: false)
        #expect(client.checkInTheEnd(peer, evidence) == .changed)
    }
}
