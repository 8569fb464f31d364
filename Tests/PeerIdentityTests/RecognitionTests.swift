import AccessControl
import CIdentify
import Glibc
import Testing

@testable import PeerIdentity

/// A caller that obeys, and a collector that has seen it. The program is nobody else's, so that it is no interpreter.
private struct Acquainted {
    let folder: Folder
    let program: String
    let test: Obedient
    let collector: EvidenceCollector
    let peer: PeerHandle
    let evidence: Evidence

    init(in place: String = "mail", _ change: (inout TestCaller.Plan) -> Void = { _ in }) throws {
        folder = try Folder()
        if let slash = place.firstIndex(of: "/") {
            try #require(mkdir(folder.path + "/" + place[..<slash], 0o755) == 0)
        }
        let program = try folder.copy(of: "/usr/bin/perl", as: place, ending: [0])
        self.program = program
        test = try Obedient {
            $0.arguments?[0] = program
            change(&$0)
        }
        // The program has just been made; its hash is remembered all the same.
        collector = try EvidenceCollector(hashes: HashCache(capacity: 16, settlingTime: 0))
        peer = try collector.begin(socket: test.caller.socket)
        evidence = try collector.collect(peer)
    }

    /// Nothing is told of it on the loop any more. Elsewhere something else is told than before.
    func expectChange(_ place: SourceLocation = #_sourceLocation) throws {
        #expect(collector.recognize(peer) == nil, sourceLocation: place)
        #expect(collector.recognize(peer) == nil, sourceLocation: place)
        #expect(try collector.collect(peer) != evidence, sourceLocation: place)
    }
}

@Suite(
    "Callers that are recognized on the loop",
    .enabled(if: Machine.tellsControlGroups, "needs Linux 6.13 and the control groups' hierarchy"),
    .serialized, .timeLimit(.minutes(10)))
struct RecognitionTests {
    @Test("One that is what it was is recognized, with all that a whole look would find")
    func recognized() throws {
        let known = try Acquainted()
        for _ in 0..<3 { #expect(known.collector.recognize(known.peer) == known.evidence) }
        #expect(known.collector.isStillInMemory(known.peer, known.evidence))
        #expect(try known.collector.collect(known.peer) == known.evidence)
        guard case .caller(let caller) = judge(known.evidence) else { throw TestFailure.unreadable("caller") }
        #expect(!caller.isInterpreter)
        #expect(caller.executable == known.program)
    }

    @Test(
        "Another process with the number of one that was recognized, and its program, is not",
        .enabled(if: Machine.canChooseNumbers, "needs to choose a process's number"))
    func reusedNumber() throws {
        // Somebody else's process may have taken the number.
        for _ in 0..<20 {
            let known = try Acquainted()
            #expect(known.collector.recognize(known.peer) == known.evidence)
            known.test.caller.end()
            var plan = TestCaller.Plan()
            plan.arguments = [known.program, "-e", "<STDIN>"]
            plan.number = known.peer.pid
            guard let other = try? TestCaller(plan) else { continue }
            let peer = try known.collector.begin(socket: other.socket)
            #expect(peer.pid == known.peer.pid)
            #expect(known.collector.recognize(peer) == nil)
            #expect(try known.collector.collect(peer).process.pid == known.peer.pid)
            return
        }
        Issue.record("no process got the number again")
    }

    @Test("One that was never looked at is not recognized")
    func neverSeen() throws {
        let known = try Acquainted()
        let (other, same) = (try TestCaller(), try Obedient { $0.arguments?[0] = known.program })
        for stranger in [other, same.caller] {
            let peer = try known.collector.begin(socket: stranger.socket)
            #expect(known.collector.recognize(peer) == nil)
            #expect(try known.collector.collect(peer).process.pid == stranger.started)
        }
        let another = try EvidenceCollector()
        #expect(another.recognize(try another.begin(socket: known.test.caller.socket)) == nil)
    }

    @Test("One that becomes another program is not recognized, nor is one that becomes another file in the same place")
    func exec() throws {
        let known = try Acquainted()
        try known.test.become("/usr/bin/cat")
        #expect(!known.collector.isStillInMemory(known.peer, known.evidence))
        try known.expectChange()
        // What it is now is remembered; it is not what it was.
        #expect(!known.collector.isStillInMemory(known.peer, known.evidence))
        #expect(known.collector.check(known.peer, known.evidence) == .changed)

        let replaced = try Acquainted()
        let other = try replaced.folder.copy(of: "/usr/bin/cat", as: "other")
        try #require(rename(other, replaced.program) == 0)
        try replaced.test.become(replaced.program)
        #expect(!replaced.collector.isStillInMemory(replaced.peer, replaced.evidence))
        try replaced.expectChange()
        #expect(!replaced.collector.isStillInMemory(replaced.peer, replaced.evidence))
    }

    @Test("One whose file is moved, changed in its rights or deleted is not recognized, nor one whose folder is moved")
    func files() throws {
        let moved = try Acquainted()
        try #require(rename(moved.program, moved.folder.path + "/post") == 0)
        try moved.expectChange()

        let changed = try Acquainted()
        try #require(chmod(changed.program, 0o700) == 0)
        try changed.expectChange()

        let deleted = try Acquainted()
        try #require(unlink(deleted.program) == 0)
        try deleted.expectChange()

        let inFolder = try Acquainted(in: "one/mail")
        let (one, other) = (inFolder.folder.path + "/one", inFolder.folder.path + "/other")
        try #require(rename(one, other) == 0)
        defer {
            unlink(other + "/mail")
            rmdir(other)
        }
        try inFolder.expectChange()
    }

    @Test(
        "A file that is mounted over the executable changes nothing for who runs, and is seen once it is run",
        .enabled(if: Machine.canMount, "needs to mount"))
    func mountedOver() throws {
        let known = try Acquainted()
        let other = try known.folder.copy(of: "/usr/bin/cat", as: "other")
        try #require(mount(other, known.program, nil, UInt(MS_BIND), nil) == 0)
        defer { umount2(known.program, CInt(MNT_DETACH)) }
        #expect(known.collector.recognize(known.peer) == nil || known.collector.recognize(known.peer) == known.evidence)
        #expect(try known.collector.collect(known.peer) == known.evidence)
        try known.test.become(known.program)
        try known.expectChange()
        let now = try known.collector.collect(known.peer)
        guard case .found(let was) = known.evidence.executable, case .found(let executable) = now.executable else {
            throw TestFailure.unreadable("executable")
        }
        #expect(executable.path == was.path)
        #expect(executable.digest != was.digest)
    }

    @Test(
        "One that goes into a namespace of its own is not recognized, then or later",
        .enabled(if: Machine.canMakeNamespaces, "needs user namespaces"), arguments: [0x1000_0000, 0x1002_0000])
    func namespaces(kinds: Int) throws {
        let known = try Acquainted()
        try known.test.obey("syscall(\(Obedient.unshare), \(kinds)) == 0")
        try known.expectChange()
        // Whoever has mounts of its own is looked at elsewhere each time.
        let now = try known.collector.collect(known.peer)
        let recognized = known.collector.recognize(known.peer)
        #expect(recognized == (kinds & 0x20000 == 0 ? now : nil))
    }

    @Test("One that changes its root is not recognized", .enabled(if: Machine.isRoot, "needs root to change a root"))
    func root() throws {
        let known = try Acquainted()
        let folder = try Folder()
        _ = try folder.write(Array("[Application]\nname=org.example.Mail\n".utf8), to: ".flatpak-info")
        try known.test.obey("chroot('\(folder.path)')")
        try known.expectChange()
        #expect(known.collector.recognize(known.peer) == nil)
    }

    @Test(
        "A mark that is put into a root of long standing is seen",
        .enabled(if: Machine.isRoot, "needs root to change a root"))
    func mark() throws {
        let known = try Acquainted()
        let folder = try Folder()
        try known.test.obey("chroot('\(folder.path)')")
        var now = known.evidence
        // A root that has just been made is looked at anew each time, until it has been as it is for long enough.
        repeat {
            now = try known.collector.collect(known.peer)
            usleep(10_000)
        } while known.collector.recognize(known.peer) == nil
        #expect(known.collector.recognize(known.peer) == now)
        _ = try folder.write(Array("[Application]\nname=org.example.Mail\n".utf8), to: ".flatpak-info")
        #expect(known.collector.recognize(known.peer) == nil)
        #expect(
            try known.collector.collect(known.peer).flatpakInfo == .found(.init(app: "org.example.Mail", instance: nil))
        )
    }

    @Test("One that leaves its terminal, or begins a session, is recognized as one that has")
    func session() throws {
        let known = try Acquainted { $0.terminal = .leader }
        #expect(known.evidence.terminal != nil)
        #expect(known.collector.recognize(known.peer) == known.evidence)
        // TIOCNOTTY, which hangs up its leader.
        try known.test.obey("$SIG{HUP} = 'IGNORE'; open(F, '<', '/dev/tty') && ioctl(F, 0x5422, 0)")
        let recognized = known.collector.recognize(known.peer)
        #expect(recognized?.terminal == nil)
        #expect(recognized == (try known.collector.collect(known.peer)))

        let other = try Acquainted()
        try other.test.obey("use POSIX; POSIX::setsid() > 0")
        let leader = try #require(other.collector.recognize(other.peer)).sessionLeader
        #expect(leader == .found(other.evidence.process))
        #expect(leader != other.evidence.sessionLeader)
    }

    @Test("One whose session's leader is another process is looked at elsewhere")
    func distantLeader() throws {
        let known = try Acquainted { $0.terminal = .childOfLeader }
        #expect(known.evidence.terminal != nil)
        #expect(known.collector.recognize(known.peer) == nil)
    }

    @Test(
        "One that is moved to a control group that nobody was seen in is not recognized",
        .enabled(if: Machine.controlGroups != nil, "needs root and control groups that no service manager keeps"))
    func controlGroup() throws {
        let group = try #require(Machine.controlGroups) + "/recognized-\(getpid())"
        try #require(mkdir(group, 0o755) == 0)
        defer { rmdir(group) }
        let known = try Acquainted()
        try known.test.obey("open(F, '>', '\(group)/cgroup.procs') && syswrite(F, '0')")
        try known.expectChange()
        // The path is known by now.
        #expect(known.collector.recognize(known.peer)?.controlGroup == .found("/recognized-\(getpid())"))
        known.test.caller.end()
    }

    @Test("One that has ended is not recognized", arguments: [true, false])
    func ended(isReaped: Bool) throws {
        let known = try Acquainted()
        #expect(known.collector.recognize(known.peer) == known.evidence)
        known.test.caller.end(reaping: isReaped)
        #expect(known.collector.recognize(known.peer) == nil)
    }

    @Test("An interpreter, and a file whose hash is not remembered, are looked at elsewhere each time")
    func never() throws {
        let folder = try Folder()
        let fresh = try folder.copy(of: "/usr/bin/perl", as: "fresh", ending: [0])
        for program in ["/usr/bin/perl", fresh] {
            let test = try Obedient { $0.arguments?[0] = program }
            let collector = try EvidenceCollector()
            let peer = try collector.begin(socket: test.caller.socket)
            for _ in 0..<2 {
                _ = try collector.collect(peer)
                #expect(collector.recognize(peer) == nil)
            }
        }
    }

    @Test("A broker that sees what process 1 sees recognizes nobody on the loop: it looks along paths")
    func systemsBroker() throws {
        let test = try TestCaller()
        let collector = try EvidenceCollector(vantage: .system)
        let peer = try collector.begin(socket: test.socket)
        for _ in 0..<2 {
            _ = try collector.collect(peer)
            #expect(collector.recognize(peer) == nil)
        }
    }

    @Test(
        "What waits for something is not known to be in memory: another mount namespace, a file without a device of its own"
    )
    func inMemory() throws {
        let test = try TestCaller()
        let collector = try EvidenceCollector()
        let peer = try collector.begin(socket: test.socket)
        let process = try ProcessDirectory(pid: peer.pid)
        var known = identify_known()
        try #require(identify_know(peer.pidfd, 0, process.descriptor, 0, 0, &known) == 0)
        #expect(known.is_in_memory == 1)
        try #require(identify_know(peer.pidfd, 0, process.descriptor, IDENTIFY_WANTS_PLACE, 0, &known) == 0)
        #expect(known.is_in_memory == (known.look.place_reading == 0 && known.look.place == 0 ? 1 : 0))

        var plan = TestCaller.Plan()
        plan.inMemory = true
        let fromMemory = try TestCaller(plan)
        let other = try collector.begin(socket: fromMemory.socket)
        let directory = try ProcessDirectory(pid: other.pid)
        try #require(identify_know(other.pidfd, 0, directory.descriptor, 0, 0, &known) == 0)
        #expect(known.look.digest == Int32(IDENTIFY_DIGEST_NOT_LOCAL.rawValue))
        #expect(known.is_in_memory == 0)
    }
}
