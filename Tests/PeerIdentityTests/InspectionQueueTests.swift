import Testing

@testable import BrokerPeerIdentity

@Suite("The order of inspections")
struct InspectionQueueTests {
    private func place(_ uid: UInt32, _ pid: Int32 = 1) -> InspectionPlace {
        InspectionPlace(.user(uid), uid: uid, pid: pid)
    }
    private func stranger(_ uid: UInt32) -> InspectionPlace { InspectionPlace(.strangers, uid: uid, pid: Int32(uid)) }

    /// Starts the jobs that may start, and ends none.
    private func begin(_ queue: inout InspectionQueue<String>) -> [String] {
        var begun: [String] = []
        while let next = queue.next() { begun.append(next.job) }
        return begun
    }

    /// Runs one job at a time until the queue is empty.
    private func drain(_ queue: inout InspectionQueue<String>) -> [String] {
        var done: [String] = []
        while let next = queue.next() {
            done.append(next.job)
            queue.ended(next.place)
        }
        return done
    }

    @Test("Users take turns, however many jobs each has")
    func users() {
        var queue = InspectionQueue<String>(perLane: 2)
        for pid: Int32 in 1...4 { queue.add("a\(pid)", at: place(1_000, pid)) }
        queue.add("b", at: place(1_016, 17))
        queue.add("c1", at: place(1_001, 33))
        queue.add("c2", at: place(1_001, 34))
        #expect(drain(&queue) == ["a1", "b", "c1", "a2", "c2", "a3", "a4"])
        #expect(queue.isEmpty)
    }

    @Test("A user's processes take turns, and each process's jobs stay in order")
    func processes() {
        var queue = InspectionQueue<String>(perLane: 2)
        for job in ["x1", "x2", "x3"] { queue.add(job, at: place(1_000, 1)) }
        queue.add("y1", at: place(1_000, 2))
        queue.add("z1", at: place(1_000, 3))
        #expect(drain(&queue) == ["x1", "y1", "z1", "x2", "x3"])
    }

    @Test("One job of a process runs at a time, so that a slow process does not delay its user's others")
    func oneOfAProcess() {
        var queue = InspectionQueue<String>(perLane: 2)
        for job in ["slow 1", "slow 2", "slow 3"] { queue.add(job, at: place(1_000, 1)) }
        for pid: Int32 in 2...3 { queue.add("quick \(pid)", at: place(1_000, pid)) }
        #expect(begin(&queue) == ["slow 1", "quick 2"])
        queue.ended(place(1_000, 2))
        #expect(begin(&queue) == ["quick 3"])
        queue.ended(place(1_000, 3))
        #expect(begin(&queue).isEmpty && !queue.isEmpty)
        queue.ended(place(1_000, 1))
        #expect(drain(&queue) == ["slow 2", "slow 3"])
    }

    @Test("A user's running jobs are bounded, and do not delay other users")
    func perLane() {
        var queue = InspectionQueue<String>(perLane: 2)
        for pid: Int32 in 1...5 { queue.add("a\(pid)", at: place(1_000, pid)) }
        for pid: Int32 in 11...13 { queue.add("b\(pid)", at: place(1_016, pid)) }
        #expect(begin(&queue) == ["a1", "b11", "a2", "b12"])
        queue.ended(place(1_016, 11))
        #expect(begin(&queue) == ["b13"])
        queue.ended(place(1_000, 1))
        queue.ended(place(1_000, 2))
        #expect(begin(&queue) == ["a3", "a4"])
    }

    @Test("Fifty UIDs without an account count as one user, and take turns among themselves")
    func strangers() {
        var queue = InspectionQueue<String>(perLane: 2)
        for uid: UInt32 in 100_000..<100_050 {
            for round in 1...2 { queue.add("s\(uid) \(round)", at: stranger(uid)) }
        }
        for pid: Int32 in 1...3 { queue.add("a\(pid)", at: place(1_000, pid)) }
        #expect(begin(&queue) == ["s100000 1", "a1", "s100001 1", "a2"])
        queue.ended(stranger(100_000))
        queue.ended(place(1_000, 1))
        #expect(begin(&queue).sorted() == ["a3", "s100002 1"])
        for other in [stranger(100_001), stranger(100_002), place(1_000, 2), place(1_000, 3)] { queue.ended(other) }
        // Each UID gets its first turn before any UID gets its second.
        let rest = drain(&queue)
        #expect(rest.count == 97)
        #expect(rest.prefix(47).allSatisfy { $0.hasSuffix(" 1") } && rest.suffix(50).allSatisfy { $0.hasSuffix(" 2") })
    }

    @Test("New users are looked up in their own place, not behind UIDs without an account")
    func newcomers() {
        var queue = InspectionQueue<String>(perLane: 2)
        for uid: UInt32 in 100_000..<100_050 { queue.add("look \(uid)", at: stranger(uid)) }
        #expect(begin(&queue).count == 2)
        queue.add("name", at: InspectionPlace(.newcomers, uid: 1_000, pid: 1))
        #expect(begin(&queue) == ["name"])
    }

    @Test("An abandoned job is dropped, and no other")
    func removed() {
        var queue = InspectionQueue<String>(perLane: 2)
        for job in ["x1", "x2"] { queue.add(job, at: place(1_000, 1)) }
        queue.add("y", at: place(1_000, 2))
        queue.add("b", at: place(1_016, 3))
        queue.remove(at: place(1_000, 1)) { $0 == "x2" }
        queue.remove(at: place(1_016, 3)) { $0 == "b" }
        // Removing a job that does not exist has no effect.
        queue.remove(at: place(1_001, 9)) { _ in true }
        #expect(drain(&queue) == ["x1", "y"])
        queue.add("b again", at: place(1_016, 3))
        #expect(drain(&queue) == ["b again"] && queue.isEmpty)
    }

    @Test("In any sequence every job runs once, in its process's order, and within the bounds")
    func everything() {
        var random = Seeded(state: 19)
        var queue = InspectionQueue<Int>(perLane: 3)
        var running: [InspectionPlace] = []
        var last: [InspectionPlace: Int] = [:]
        var (added, served) = (0, 0)
        while served < 5_000 {
            switch random.next() % 3 {
            case 0 where added < 5_000:
                let uid = UInt32(random.next() % 7)
                let lane: InspectionPlace.Lane = uid < 4 ? .user(uid) : uid == 4 ? .newcomers : .strangers
                queue.add(added, at: InspectionPlace(lane, uid: uid, pid: Int32(uid * 10) + Int32(random.next() % 5)))
                added += 1
            case 1:
                guard running.count < 8, let (job, place) = queue.next() else { continue }
                #expect(!running.contains { $0.pid == place.pid })
                #expect(running.count { $0.lane == place.lane } < 3)
                #expect(last[place] ?? -1 < job)
                last[place] = job
                running.append(place)
            default:
                guard !running.isEmpty else { continue }
                queue.ended(running.remove(at: Int(random.next() % UInt64(running.count))))
                served += 1
            }
        }
        #expect(queue.isEmpty && running.isEmpty)
    }
}

/// Pseudo-random numbers, the same in every run (xorshift).
private struct Seeded {
    var state: UInt64

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state >> 8
    }
}
