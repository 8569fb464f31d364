import BrokerPeerIdentity
import BrokerVarlink
import BrokerVarlinkServer
import Dispatch
import Synchronization
import Testing

@testable import contactbrokerd

@Suite("Inspection threads", .timeLimit(.minutes(5)))
struct InspectionWorkersTests {
    @Test("All waiting jobs run eventually, within the limits on threads and on one user's jobs")
    func everything() throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let counts = Counts()
        let workers = try loop.run { LoopBound(InspectionWorkers(4, perLane: 2, loop: loop), loop: loop) }
        try loop.run {
            for number in 0..<600 {
                let uid = UInt32(number % 3)
                let place = InspectionPlace(.user(uid), uid: uid, pid: Int32(number % 40))
                _ = workers.value.inspect(at: place) {
                    counts.begin(uid)
                    counts.end(uid)
                } done: {
                    counts.done()
                }
            }
        }
        #expect(counts.all.wait(timeout: .now() + .seconds(60)) == .success)
        #expect(counts.mostAtOnce <= 4 && counts.mostOfOne <= 2)
    }

    @Test("A user whose inspections have used up the pace waits; other users and unknown ones do not")
    func pace() throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        // Two at once, then two in each second. Inspections that must wait have still not run at the end of the test, because
        // the loop is stopped before their timer.
        let workers = try loop.run {
            LoopBound(InspectionWorkers(4, perLane: 2, perSecond: 2, loop: loop), loop: loop)
        }
        let ended = Mutex<[InspectionPlace.Lane]>([])
        let others = DispatchGroup()
        let inspect = { @Sendable (lane: InspectionPlace.Lane, uid: UInt32, count: Int) in
            for number in 0..<count {
                if lane != .user(1_000) { others.enter() }
                _ = workers.value.inspect(at: InspectionPlace(lane, uid: uid, pid: Int32(number))) {
                } done: {
                    ended.withLock { $0.append(lane) }
                    if lane != .user(1_000) { others.leave() }
                }
            }
        }
        try loop.run {
            inspect(.user(1_000), 1_000, 100)
            inspect(.user(1_001), 1_001, 1)
            inspect(.newcomers, 1_002, 20)
        }
        #expect(others.wait(timeout: .now() + .seconds(60)) == .success)
        let done = ended.withLock { $0 }
        #expect(done.count { $0 == .user(1_000) } < 100)
    }

    private final class Counts: Sendable {
        private let state = Mutex<(running: [UInt32: Int], most: Int, ofOne: Int, done: Int)>(([:], 0, 0, 0))
        let all = DispatchSemaphore(value: 0)

        func begin(_ uid: UInt32) {
            state.withLock {
                $0.running[uid, default: 0] += 1
                $0.ofOne = max($0.ofOne, $0.running[uid] ?? 0)
                $0.most = max($0.most, $0.running.values.reduce(0, +))
            }
        }

        func end(_ uid: UInt32) { state.withLock { $0.running[uid, default: 1] -= 1 } }

        func done() {
            let count = state.withLock { state in
                state.done += 1
                return state.done
            }
            if count == 600 { all.signal() }
        }

        var mostAtOnce: Int { state.withLock { $0.most } }
        var mostOfOne: Int { state.withLock { $0.ofOne } }
    }
}
