import BrokerAccessControl
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
        let peers = try all.map { ($0, try PeerHandle(socket: test.caller.socket)) }
        let before = try peers.map { try $0.collect($1) }
        // Once more, and it is the same.
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
            #expect(after.flatpakInfo == .found(.init(app: "org.example.Mail")))
        }
    }

    @Test(
        "A mark that is put into a root of long standing is found",
        .enabled(if: Machine.isRoot, "needs root to change a root"))
    func mark() throws {
        let folder = try Folder()
        let test = try Obedient()
        try test.obey("chroot('\(folder.path)')")
        try Sources().around(test) {
            _ = try folder.write(Array("[Application]\nname=org.example.Mail\n".utf8), to: ".flatpak-info")
        } _: { before, after in
            #expect(before.flatpakInfo == .absent)
            #expect(after.flatpakInfo == .found(.init(app: "org.example.Mail")))
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
            let before = try source.collect(PeerHandle(socket: test.caller.socket))
            try test.obey(
                "$> = 54321; use Socket; socket($door, PF_UNIX, SOCK_STREAM, 0) && connect($door, sockaddr_un('\(path)'))"
            )
            let connection = accept(listener, nil, nil)
            try #require(connection >= 0)
            defer { close(connection) }
            let after = try source.collect(PeerHandle(socket: connection))
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
            let peer = try PeerHandle(socket: test.socket)
            for _ in 0..<3 { _ = try source.collect(peer) }
            test.end(reaping: isReaped)
            #expect(throws: PeerError.ended) { try source.collect(peer) }
        }
    }
}
