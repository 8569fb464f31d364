import BrokerAccessControl
import CTestCaller
import Glibc
import Testing

@testable import BrokerPeerIdentity

/// A caller that executes commands between two inspections.
final class Obedient {
    let caller: TestCaller

    /// Executes lines of Perl. Reads single bytes, so that a program that it executes gets the following lines.
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

    /// A program that echoes its input.
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

/// Inspects directly, as a session's and as the system's broker, and through the helper if it can run.
private struct Sources {
    let all: [any EvidenceSource]
    private let helper: RunningHelper?

    init() throws {
        helper = Machine.canRunHelper ? try RunningHelper() : nil
        let own: [any EvidenceSource] = [try EvidenceCollector(), try EvidenceCollector(vantage: .system)]
        all = try own + (helper.map { [try $0.client()] } ?? [])
    }

    /// The evidence of each source before and after a change of one process.
    func around(
        _ test: Obedient, _ change: () throws -> Void, _ check: (Evidence, Evidence) throws -> Void
    ) throws {
        let peers = try all.map { ($0, try PeerHandle(socket: test.caller.socket)) }
        let before = try peers.map { try $0.collect($1) }
        // A second inspection gives the same.
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

@Suite("Callers that were inspected before", .serialized, .timeLimit(.minutes(10)))
struct KnownCallersTests {
    @Test("A caller that executes another program is identified as that program")
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

    @Test("A caller that executes another file at the same path is identified by that file")
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

    @Test("A caller whose file is moved has the new path; a deleted file is reported as deleted")
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

    @Test("A caller whose folder is moved has the new path")
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
        "A caller that enters its own namespaces counts as sandboxed",
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

    @Test("A caller's changed root is detected", .enabled(if: Machine.isRoot, "needs root to change a root"))
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
        "A .flatpak-info that is added to an existing root is found",
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
        "A caller's new control group is detected",
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

    @Test("A caller that leaves its terminal has no terminal and no session")
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
        "A caller that changes its user is identified as that user",
        .enabled(if: Machine.isRoot, "needs root to become another user"))
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
        "A process that reuses the PID of an ended one is another caller",
        .enabled(if: Machine.canChooseNumbers, "needs to choose a process's number"))
    func reusedNumber() throws {
        let sources = try Sources()
        // Retry, because another process may have got the PID.
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
        Issue.record("the PID could not be reused")
    }

    @Test("A caller that has ended is not identified, even if it was before", arguments: [true, false])
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
