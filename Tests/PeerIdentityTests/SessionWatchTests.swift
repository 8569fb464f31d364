import BrokerAccessControl
import Glibc
import Testing

@testable import BrokerPeerIdentity

@Suite("Watching the processes that grants are bound to")
struct SessionWatchTests {
    private let collector: EvidenceCollector

    init() throws { collector = try EvidenceCollector() }

    /// Waits for the end, for at most ten seconds.
    private func seesEnd(_ watch: SessionWatch) -> Bool {
        var watched = pollfd(fd: watch.fileDescriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 10_000) == 1 && watched.revents & Int16(POLLIN) != 0
    }

    private func isReadable(_ watch: SessionWatch) -> Bool {
        var watched = pollfd(fd: watch.fileDescriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) != 0
    }

    @Test("The end of a session leader is reported, and not earlier")
    func session() throws {
        var plan = TestCaller.Plan()
        plan.terminal = .childOfLeader
        let test = try TestCaller(plan)
        guard case .caller(let caller) = judge(try test.evidence(with: collector)) else {
            throw TestFailure.unreadable("caller")
        }
        let session = try #require(caller.session)
        let watch = try SessionWatch(session)
        #expect(!watch.hasEnded)
        #expect(!isReadable(watch))
        test.kill(SIGKILL)
        #expect(seesEnd(watch))
        #expect(watch.hasEnded)
    }

    @Test("An ended process, another process with its PID, and a process of an earlier boot cannot be watched")
    func over() throws {
        let test = try TestCaller()
        let evidence = try test.evidence(with: collector)
        let process = evidence.process
        guard case .found(let boot) = evidence.bootIdentifier else { throw TestFailure.unreadable("boot") }
        #expect(boot.utf8.count == 36)
        #expect(try !SessionWatch(process).hasEnded)
        #expect(try !SessionWatch(SessionIdentity(bootIdentifier: boot, leader: process)).hasEnded)
        #expect(throws: PeerError.ended) {
            try SessionWatch(ProcessIdentity(pid: process.pid, startTime: process.startTime + 1))
        }
        #expect(throws: PeerError.ended) {
            try SessionWatch(SessionIdentity(bootIdentifier: "another", leader: process))
        }
        test.end(reaping: false)
        #expect(throws: PeerError.ended) { try SessionWatch(process) }
    }
}

@Suite("Kinship of agent and caller")
struct KinshipTests {
    private func identity(of pid: Int32) throws -> ProcessIdentity {
        ProcessIdentity(pid: pid, startTime: try ProcessStatus(of: pid).startTime)
    }

    @Test("A program and its ancestors are kin, in both directions, and a process is kin to itself")
    func direct() throws {
        let collector = try EvidenceCollector()
        var plan = TestCaller.Plan()
        plan.terminal = .childOfLeader
        let test = try TestCaller(plan)
        let grandchild = try test.evidence(with: collector).process
        let child = try identity(of: test.started)
        let own = try identity(of: getpid())
        for (one, other) in [(own, child), (own, grandchild), (child, grandchild), (child, child)] {
            #expect(Kinship.isKin(one, of: other))
            #expect(Kinship.isKin(other, of: one))
        }
        #expect(Kinship.isKin(try identity(of: 1), of: grandchild))
    }

    @Test("Two programs that the same shell started are not kin")
    func siblings() throws {
        let (one, other) = (try TestCaller(), try TestCaller())
        #expect(!Kinship.isKin(try identity(of: one.started), of: try identity(of: other.started)))
    }

    @Test("If kinship cannot be determined, processes count as kin")
    func doubt() throws {
        let test = try TestCaller()
        let own = try identity(of: getpid())
        let child = try identity(of: test.started)
        let other = try TestCaller()
        let stranger = try identity(of: other.started)
        #expect(!Kinship.isKin(stranger, of: child))
        #expect(
            Kinship.isKin(stranger, of: ProcessIdentity(pid: child.pid, startTime: child.startTime + 1)))
        test.end()
        #expect(Kinship.isKin(stranger, of: child))
        #expect(Kinship.isKin(own, of: child))
    }
}

@Suite("Facts about the machine")
struct HostFactsTests {
    @Test("The facts are those that the kernel reports")
    func facts() {
        let facts = HostFacts.read()
        #expect((access("/proc/sys/dev/tty/legacy_tiocsti", R_OK) == 0) == (facts.legacyTIOCSTI != .absent))
        #expect((access("/proc/sys/kernel/yama/ptrace_scope", R_OK) == 0) == (facts.ptraceScope != .absent))
        if case .found(let value) = facts.legacyTIOCSTI { #expect((0...1).contains(value)) }
        if case .found(let value) = facts.ptraceScope { #expect((0...3).contains(value)) }
    }
}
