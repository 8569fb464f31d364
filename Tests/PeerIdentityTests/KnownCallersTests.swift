import BrokerAccessControl
import CBrokerIdentify
import CBrokerLinux
import CTestCaller
import Glibc
import Testing

@testable import BrokerPeerIdentity

/// A caller that does what it is told between two looks at it.
final class Obedient {
    let caller: TestCaller

    /// Lines of Perl, read a byte at a time, so that none is lost to a program that comes after it.
    private static let script = #"""
        sub line { my ($line, $byte) = (""); while (sysread(STDIN, $byte, 1)) { return $line if $byte eq "\n"; $line .= $byte } exit }
        while (1) { my $done = eval line(); syswrite(STDOUT, ($@ ? "bad $@" : $done ? "ok" : "no $!") . "\n") }
        """#

    init(_ change: (inout TestCaller.Plan) -> Void = { _ in }) throws {
        var plan = TestCaller.Plan()
        plan.arguments = ["/usr/bin/perl", "-e", Self.script]
        change(&plan)
        caller = try TestCaller(plan)
    }

    func obey(_ line: String) throws {
        let answer = try caller.exchange(line)
        try #require(answer == "ok\n", "\(line): \(answer)")
    }

    /// A program that says again what it hears.
    func become(_ program: String) throws {
        try caller.send("exec '\(program)'")
        try #require(try caller.exchange("hello") == "hello\n")
    }

    #if arch(x86_64)
        static let unshare = 272
    #else
        static let unshare = 97
    #endif
}

/// By itself, with and without the view of process 1, and through the helper where it can be started.
private struct Sources {
    let all: [any EvidenceSource]
    private let helper: RunningHelper?

    init() throws {
        helper = Machine.canRunHelper ? try RunningHelper() : nil
        let own: [any EvidenceSource] = [try EvidenceCollector(), try EvidenceCollector(vantage: .system)]
        all = try own + (helper.map { [try $0.client()] } ?? [])
    }

    /// What each sees before and after something has happened to one and the same process.
    func around(
        _ test: Obedient, _ change: () throws -> Void, _ check: (Evidence, Evidence) throws -> Void
    ) throws {
        let peers = try all.map { ($0, try $0.begin(socket: test.caller.socket)) }
        let before = try peers.map { try $0.collect($1) }
        // Known by now: once more, and it is the same.
        for ((source, peer), evidence) in zip(peers, before) { #expect(try source.collect(peer) == evidence) }
        try change()
        let after = try peers.map { try $0.collect($1) }
        for (one, other) in zip(before, after) { try check(one, other) }
    }
}

private func digest(_ evidence: Evidence) -> Executable.Digest? {
    guard case .found(let executable) = evidence.executable else { return nil }
    return executable.digest
}

private func path(_ evidence: Evidence) -> String? {
    guard case .found(let executable) = evidence.executable else { return nil }
    return executable.path
}

@Suite("Callers that were seen before", .serialized, .timeLimit(.minutes(10)))
struct KnownCallersTests {
    @Test("One that becomes another program is that program")
    func exec() throws {
        let test = try Obedient()
        try Sources().around(test) {
            try test.become("/usr/bin/cat")
        } _: { before, after in
            #expect(path(before)?.hasPrefix("/usr/bin/perl") == true)
            #expect(path(after) == "/usr/bin/cat")
            #expect(after.process == before.process)
            #expect(digest(after) != digest(before))
        }
    }

    @Test("One that becomes another file in the same place is that file")
    func replaced() throws {
        let folder = try Folder()
        let place = try folder.copy(of: "/usr/bin/perl", as: "mail")
        let test = try Obedient { $0.arguments?[0] = place }
        let other = try folder.copy(of: "/usr/bin/cat", as: "other")
        try Sources().around(test) {
            try #require(rename(other, place) == 0)
            try test.become(place)
        } _: { before, after in
            #expect(path(before) == path(after))
            #expect(digest(after) != digest(before))
        }
    }

    @Test("One whose file is moved is known by its new path, and one whose file is deleted as such")
    func moved() throws {
        let folder = try Folder()
        let place = try folder.copy(of: "/usr/bin/perl", as: "mail")
        let test = try Obedient { $0.arguments?[0] = place }
        let sources = try Sources()
        try sources.around(test) {
            try #require(rename(place, folder.path + "/post") == 0)
        } _: { _, after in
            #expect(path(after) == folder.path + "/post")
        }
        try sources.around(test) {
            try #require(unlink(folder.path + "/post") == 0)
        } _: { _, after in
            guard case .found(let executable) = after.executable else { throw TestFailure.unreadable("executable") }
            #expect(executable.isDeleted)
        }
    }

    @Test("One whose folder is moved, which changes nothing of its file, is known by its new path")
    func folderMoved() throws {
        let folder = try Folder()
        let (one, other) = (folder.path + "/one", folder.path + "/other")
        try #require(mkdir(one, 0o755) == 0)
        let place = try folder.copy(of: "/usr/bin/perl", as: "one/mail")
        defer {
            unlink(other + "/mail")
            rmdir(other)
        }
        let test = try Obedient { $0.arguments?[0] = place }
        try Sources().around(test) {
            try #require(rename(one, other) == 0)
        } _: { _, after in
            #expect(path(after) == other + "/mail")
        }
    }

    @Test(
        "One that goes into namespaces of its own is in a sandbox",
        .enabled(if: Machine.canMakeNamespaces, "needs user namespaces"))
    func namespaces() throws {
        let test = try Obedient()
        let sources = try Sources()
        try sources.around(test) {
            try test.obey("syscall(\(Obedient.unshare), 0x10000000) == 0")
        } _: { before, after in
            #expect(before.namespaces.user != after.namespaces.user)
            #expect(before.namespaces.mount == after.namespaces.mount)
        }
        try sources.around(test) {
            try test.obey("syscall(\(Obedient.unshare), 0x20000) == 0")
        } _: { before, after in
            #expect(before.namespaces.mount != after.namespaces.mount)
        }
    }

    @Test("One that changes its root is seen in it", .enabled(if: Machine.isRoot, "needs root to change a root"))
    func root() throws {
        let folder = try Folder()
        _ = try folder.write(Array("[Application]\nname=org.example.Mail\n".utf8), to: ".flatpak-info")
        let test = try Obedient()
        try Sources().around(test) {
            try test.obey("chroot('\(folder.path)')")
        } _: { before, after in
            #expect(before.flatpakInfo == .absent)
            #expect(after.flatpakInfo == .found(.init(app: "org.example.Mail", instance: nil)))
        }
    }

    @Test(
        "A mark that is put into a root of long standing is found",
        .enabled(if: Machine.isRoot, "needs root to change a root"))
    func mark() throws {
        let folder = try Folder()
        let test = try Obedient()
        try test.obey("chroot('\(folder.path)')")
        // A root that has just been made is never remembered: until this one has been as it is for long enough.
        var (status, now) = (stat(), timespec())
        try #require(lstat(folder.path, &status) == 0)
        repeat {
            clock_gettime(CLOCK_REALTIME, &now)
            usleep(10_000)
        } while Int(now.tv_sec) < Int(status.st_ctim.tv_sec) + Int(IDENTIFY_SETTLING_SECONDS) + 1
        try Sources().around(test) {
            _ = try folder.write(Array("[Application]\nname=org.example.Mail\n".utf8), to: ".flatpak-info")
        } _: { before, after in
            #expect(before.flatpakInfo == .absent)
            #expect(after.flatpakInfo == .found(.init(app: "org.example.Mail", instance: nil)))
        }
    }

    @Test(
        "One that is moved to another control group is in that one",
        .enabled(if: Machine.controlGroups != nil, "needs root and control groups that no service manager keeps"))
    func controlGroup() throws {
        let group = try #require(Machine.controlGroups) + "/known-\(getpid())"
        try #require(mkdir(group, 0o755) == 0)
        defer { rmdir(group) }
        let test = try Obedient()
        try Sources().around(test) {
            try test.obey("open(F, '>', '\(group)/cgroup.procs') && syswrite(F, '0')")
        } _: { before, after in
            #expect(before.controlGroup != after.controlGroup)
            #expect(after.controlGroup == .found("/known-\(getpid())"))
        }
        test.caller.end()
    }

    @Test("One that leaves its terminal has none, and is in no session")
    func terminal() throws {
        let test = try Obedient { $0.terminal = .childOfLeader }
        try Sources().around(test) {
            // TIOCNOTTY.
            try test.obey("open(F, '<', '/dev/tty') && ioctl(F, 0x5422, 0)")
        } _: { before, after in
            #expect(before.terminal != nil)
            #expect(after.terminal == nil)
        }
    }

    @Test(
        "One that becomes another user is that user", .enabled(if: Machine.isRoot, "needs root to become another user"))
    func user() throws {
        let folder = try Folder()
        let path = folder.path + "/door"
        let listener = test_caller_listen(path)
        try #require(listener >= 0)
        defer { close(listener) }
        let test = try Obedient()
        let sources = try Sources()
        for source in sources.all {
            let before = try source.collect(source.begin(socket: test.caller.socket))
            try test.obey(
                "$> = 54321; use Socket; socket($door, PF_UNIX, SOCK_STREAM, 0) && connect($door, sockaddr_un('\(path)'))"
            )
            let connection = accept(listener, nil, nil)
            try #require(connection >= 0)
            defer { close(connection) }
            let after = try source.collect(source.begin(socket: connection))
            #expect(before.uid == 0)
            #expect(after.uid == 54_321)
            #expect(after.process == before.process)
            try test.obey("$> = 0; 1")
        }
    }

    @Test(
        "Another process with the number of one that has ended is another one",
        .enabled(if: Machine.canChooseNumbers, "needs to choose a process's number"))
    func reusedNumber() throws {
        let sources = try Sources()
        // Somebody else's process may have taken the number.
        for _ in 0..<20 {
            let first = try TestCaller()
            let before = try sources.all.map { try first.evidence(with: $0) }
            for source in sources.all { _ = try first.evidence(with: source) }
            first.end()
            var plan = TestCaller.Plan()
            plan.arguments = ["/usr/bin/perl", "-e", "<STDIN>"]
            plan.number = first.started
            guard let second = try? TestCaller(plan) else { continue }
            #expect(second.started == first.started)
            for (source, evidence) in zip(sources.all, before) {
                let after = try second.evidence(with: source)
                #expect(after.process.pid == evidence.process.pid)
                #expect(path(after)?.hasPrefix("/usr/bin/perl") == true)
                #expect(digest(after) != digest(evidence))
            }
            return
        }
        Issue.record("no process got the number again")
    }

    @Test("One that has ended is nobody, however well it was known", arguments: [true, false])
    func ended(isReaped: Bool) throws {
        let sources = try Sources()
        for source in sources.all {
            let test = try TestCaller()
            let peer = try source.begin(socket: test.socket)
            for _ in 0..<3 { _ = try source.collect(peer) }
            test.end(reaping: isReaped)
            #expect(throws: PeerError.ended) { try source.collect(peer) }
        }
    }

    @Test("One of whom nothing has changed is known again without looking anew, and one of another number is not")
    func knownAgain() throws {
        let (test, other) = (try TestCaller(), try TestCaller())
        let collector = try EvidenceCollector()
        let (peer, stranger) = (try collector.begin(socket: test.socket), try collector.begin(socket: other.socket))
        let process = try ProcessDirectory(pid: peer.pid)
        var known = identify_known()
        try #require(identify_know(peer.pidfd, 0, process.descriptor, IDENTIFY_WANTS_PLACE, 0, &known) == 0)
        // The machine's root is older than the test.
        #expect(known.can_be_known_again == 1)
        #expect(identify_is_as_known(peer.pidfd, 0, process.descriptor, &known) == 1)
        #expect(identify_is_as_known(stranger.pidfd, 0, process.descriptor, &known) == 0)
        // What is not the very same is looked at anew, whatever it is.
        for change in [
            { $0.root.inode += 1 }, { $0.root.changed_nanoseconds ^= 1 }, { $0.look.executable.inode += 1 },
            { $0.look.executable.changed_seconds -= 1 }, { $0.look.path_size -= 1 }, { $0.look.namespaces.user += 1 },
            { $0.look.namespaces.mount += 1 }, { $0.look.pid += 1 }, { $0.can_be_known_again = 0 },
            { $0.executable_mount = 1 }, { $0.root_mount = 1 }, { $0.look.place = Int32(IDENTIFY_PLACE_SAME.rawValue) },
        ] as [(inout identify_known) -> Void] {
            var changed = known
            change(&changed)
            #expect(identify_is_as_known(peer.pidfd, 0, process.descriptor, &changed) == 0)
        }
        test.end(reaping: false)
        #expect(identify_is_as_known(peer.pidfd, 0, process.descriptor, &known) == 0)
    }

    @Test("A mark, and a root that has just been changed, are looked for anew each time", .enabled(if: Machine.isRoot))
    func neverKnown() throws {
        let folder = try Folder()
        var plan = TestCaller.Plan()
        plan.arguments = nil
        plan.root = folder.path
        let test = try TestCaller(plan)
        let collector = try EvidenceCollector()
        let peer = try collector.begin(socket: test.socket)
        let process = try ProcessDirectory(pid: peer.pid)
        var known = identify_known()
        try #require(identify_know(peer.pidfd, 0, process.descriptor, 0, 0, &known) == 0)
        #expect(known.look.info_reading == IDENTIFY_ABSENT)
        #expect(known.can_be_known_again == 0)
        #expect(identify_is_as_known(peer.pidfd, 0, process.descriptor, &known) == 0)
    }

    @Test("More processes than are remembered are all identified, and hold no more descriptors")
    func many() throws {
        let collector = try EvidenceCollector()
        let most = Acquaintances.capacity + Acquaintances.surplus
        let callers = try (0..<most + 8).map { _ in try TestCaller() }
        for _ in 0..<2 {
            for caller in callers { #expect(try caller.evidence(with: collector).process.pid == caller.started) }
        }
        // What is too much is closed elsewhere. The directories of these processes that we hold:
        let deadline = ContinuousClock.now + .seconds(20)
        var held = Int.max
        while held > most, .now < deadline { held = heldDirectories(of: Set(callers.map(\.started))) }
        #expect(held <= most)
    }
}

/// How many of those processes' directories below `/proc` are open here.
private func heldDirectories(of processes: Set<Int32>) -> Int {
    guard let stream = opendir("/proc/self/fd") else { return 0 }
    defer { closedir(stream) }
    var count = 0
    while let entry = readdir(stream) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        var text = [CChar](repeating: 0, count: 256)
        let size = readlink("/proc/self/fd/" + name, &text, 255)
        let path = String(decoding: text.prefix(max(0, size)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if path.hasPrefix("/proc/"), let pid = Int32(path.dropFirst("/proc/".count)), processes.contains(pid) {
            count += 1
        }
    }
    return count
}
