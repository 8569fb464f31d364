import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerManifests
import BrokerPolicy
import BrokerVarlink
import CBrokerLinux
import Dispatch
import Glibc
import Logging
import Synchronization
import Testing

@testable import BrokerCore
@testable import BrokerLedger
@testable import BrokerPeerIdentity
@testable import BrokerVarlinkServer
@testable import contactbrokerd

/// A source whose inspections of certain processes block until the test releases them.
private final class HeldSource: EvidenceSource {
    private struct State {
        var held: Set<Int32> = []
        var collected: [Int32] = []
        var running = 0
        var most = 0
    }

    private let state = Mutex(State())
    private let changed = DispatchSemaphore(value: 0)
    private let gate = DispatchSemaphore(value: 0)
    private let collector: EvidenceCollector

    init(holding held: Set<Int32>) throws {
        collector = try EvidenceCollector()
        state.withLock { $0.held = held }
    }

    func prepare() {}

    func collect(_ peer: PeerHandle) throws(PeerError) -> Evidence {
        wait(for: peer.pid)
        return try collector.collect(peer)
    }

    func check(_ peer: PeerHandle, _ evidence: Evidence) -> ExecutableCheck {
        wait(for: peer.pid)
        return .unknown
    }

    private func wait(for pid: Int32) {
        let isHeld = state.withLock { state in
            state.collected.append(pid)
            state.running += 1
            state.most = max(state.most, state.running)
            return state.held.contains(pid)
        }
        changed.signal()
        if isHeld {
            gate.wait()
            gate.signal()
        }
        state.withLock { $0.running -= 1 }
    }

    func hold(_ pid: Int32) { state.withLock { _ = $0.held.insert(pid) } }

    /// Waits until that many inspections have started.
    func hasBegun(_ count: Int) -> Bool {
        let end = DispatchTime.now() + .seconds(20)
        while state.withLock({ $0.collected.count }) < count {
            guard changed.wait(timeout: end) == .success else { return false }
        }
        return true
    }

    /// Releases all inspections, including later ones.
    func letGo() { gate.signal() }

    var collected: [Int32] { state.withLock { $0.collected } }
    var most: Int { state.withLock { $0.most } }
}

/// A simulated connection, and the decision about its admission.
private final class Knock: Sendable {
    private let decided = DispatchSemaphore(value: 0)
    private let session = Mutex<LoopBound<CallerSession?>?>(nil)

    func decide(_ admission: Admission, _ loop: EventLoop) {
        var admitted: CallerSession?
        if case .admit(let context, _) = admission { admitted = context as? CallerSession }
        let bound = LoopBound(admitted, loop: loop)
        session.withLock { $0 = bound }
        decided.signal()
    }

    /// Whether the admission is decided within this time. The default is long enough for any machine. Returns `true` at
    /// most once.
    func isDecided(within time: DispatchTimeInterval = .seconds(20)) -> Bool {
        decided.wait(timeout: .now() + time) == .success
    }

    /// Only for use on the loop.
    var admitted: LoopBound<CallerSession?>? { session.withLock { $0 } }
}

/// The reception of the apps' socket in system mode, on its own event loop.
private final class TestReception {
    let loop: EventLoop
    private let folder: Folder
    private let reception: LoopBound<Reception>

    init(_ source: some EvidenceSource, knowing known: [UInt32] = []) throws {
        let loop = try EventLoop()
        self.loop = loop
        folder = try Folder()
        let path = folder.path
        reception = try loop.run {
            let now = { Int64(0) }
            let surroundings = Surroundings(
                loop: loop, now: now, uptime: now, stateFolder: path, ownUID: getuid(), userName: { "user \($0)" },
                watch: { _, _ in nil }, areKin: { _, _ in false }, facts: [], log: { _ in })
            let broker = Broker(surroundings: surroundings, access: try AccessStore.open(folder: path, now: 0))
            let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let users = KnownUsers(state: path, sessions: path + "/sessions")
            for uid in known { users.learn(uid) }
            let inspections = CallerInspections(.system, users: users, loop: loop)
            let setting = Setting(
                mode: .system, whom: "tests", state: path, configuration: PolicyFolder(configuration: path), places: [:]
            )
            return LoopBound(
                Reception(
                    interface: .contacts, setting: setting, broker: broker, loop: loop, source: source,
                    manifests: AppManifests(), complaints: Complaints(loop: loop, log: log), inspections: inspections),
                loop: loop)
        }
    }

    deinit {
        let reception = self.reception
        try? loop.run { reception.value.broker.close() }
        loop.stop()
    }

    /// Simulates a connection.
    ///
    /// - Returns: its admission, and an action that hangs up.
    func knock(_ caller: TestCaller) throws -> (knock: Knock, hangUp: () throws -> Void) {
        let (knock, loop, reception, socket) = (Knock(), loop, reception, caller.socket)
        let pending = try loop.run {
            let pending = PendingAdmission { knock.decide($0, loop) }
            var credentials = clinux_credentials()
            #expect(clinux_peer_credentials(socket, &credentials) == 0)
            reception.value.admit(
                AcceptedPeer(descriptor: socket, userID: credentials.uid, processID: credentials.pid), pending)
            return LoopBound(pending, loop: loop)
        }
        return (knock, { try loop.run { pending.value.abandon() } })
    }
}

@Suite(
    "Identifying callers does not delay others", .enabled(if: Machine.isRoot, "needs root, to be several users"),
    .serialized, .timeLimit(.minutes(5)))
struct ReceptionTests {
    private func caller(_ uid: UInt32) throws -> TestCaller {
        var plan = TestCaller.Plan()
        plan.uid = uid
        return try TestCaller(plan)
    }

    /// A caller whose PID has the same remainder modulo sixteen as that of `other`.
    private func caller(_ uid: UInt32, like other: TestCaller) throws -> TestCaller {
        while true {
            let caller = try caller(uid)
            if (caller.started - other.started) % 16 == 0 { return caller }
        }
    }

    @Test("Users 1000 and 1016 do not wait for each other, whatever their processes' PIDs")
    func users() throws {
        let slow = try caller(1_000)
        let other = try caller(1_016, like: slow)
        let source = try HeldSource(holding: [slow.started])
        let reception = try TestReception(source, knowing: [1_000, 1_016])
        let first = try reception.knock(slow).knock
        #expect(source.hasBegun(1))
        let second = try reception.knock(other).knock
        #expect(second.isDecided())
        #expect(!first.isDecided(within: .seconds(0)))
        source.letGo()
        #expect(first.isDecided())
    }

    @Test("A slow program does not delay another program of its user")
    func programs() throws {
        let slow = try caller(1_000)
        let other = try caller(1_000, like: slow)
        let source = try HeldSource(holding: [slow.started])
        let reception = try TestReception(source, knowing: [1_000])
        // The slow program connects several times.
        let first = try (0..<3).map { _ in try reception.knock(slow).knock }
        #expect(source.hasBegun(1))
        let second = try reception.knock(other).knock
        #expect(second.isDecided())
        #expect(!first[0].isDecided(within: .seconds(0)))
        source.letGo()
        for knock in first { #expect(knock.isDecided()) }
    }

    @Test(
        "Many UIDs without an account count as one user, and do not delay a new user")
    func strangers() throws {
        let crowd = try (0..<12).map { try caller(3_000_000_000 + $0) }
        let person = try caller(65_534)
        try #require(userName(65_534) != "65534" && userName(3_000_000_000) == "3000000000")
        let source = try HeldSource(holding: Set(crowd.map(\.started)))
        let reception = try TestReception(source)
        let first = try crowd.map { try reception.knock($0).knock }
        #expect(source.hasBegun(2))
        #expect(try reception.knock(person).knock.isDecided())
        #expect(!first.contains { $0.isDecided(within: .seconds(0)) })
        // At most two inspections of those UIDs and one of the new user run at a time.
        #expect(source.most <= 3)
        source.letGo()
        for knock in first { #expect(knock.isDecided()) }
    }

    @Test("A caller that hangs up while it waits is not inspected")
    func gone() throws {
        let slow = try caller(1_000)
        let source = try HeldSource(holding: [slow.started])
        let reception = try TestReception(source, knowing: [1_000])
        let first = try reception.knock(slow)
        #expect(source.hasBegun(1))
        let second = try reception.knock(slow)
        let third = try reception.knock(slow)
        try second.hangUp()
        // The first is being inspected, and its result is dropped.
        try first.hangUp()
        source.letGo()
        #expect(third.knock.isDecided())
        #expect(source.collected.count == 2)
        #expect(!first.knock.isDecided(within: .seconds(0)) && !second.knock.isDecided(within: .seconds(0)))
    }

    @Test("A check does not block the loop, and its result arrives on the loop")
    func checks() throws {
        let test = try caller(1_000)
        let source = try HeldSource(holding: [])
        let reception = try TestReception(source, knowing: [1_000])
        let knock = try reception.knock(test).knock
        #expect(knock.isDecided())
        let admitted = try #require(knock.admitted)
        source.hold(test.started)
        let (turned, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let found = Found()
        reception.loop.execute {
            _ = admitted.value?.inspect { check in
                found.check.withLock { $0 = check }
                done.signal()
            }
        }
        #expect(source.hasBegun(2))
        // This runs in a later iteration, while the check is still running.
        reception.loop.execute { turned.signal() }
        #expect(turned.wait(timeout: .now() + .seconds(20)) == .success)
        #expect(found.check.withLock { $0 } == nil)
        source.letGo()
        #expect(done.wait(timeout: .now() + .seconds(20)) == .success)
        #expect(found.check.withLock { $0 } == .unknown)
    }

    private final class Found: Sendable {
        let check = Mutex<ExecutableCheck?>(nil)
    }
}
