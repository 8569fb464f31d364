import BrokerAccessStore
import Dispatch
import Synchronization
import Testing

@testable import BrokerLedger

/// A disk whose syncs last as long as the test decides.
final class SlowDisk: Sendable {
    private let begun = Atomic(0)
    private let gate = DispatchSemaphore(value: 0)
    private let fails = Atomic(false)
    private let waits: Atomic<Bool>

    /// - Parameter waits: each sync blocks until the test ends it.
    init(waits: Bool = true) { self.waits = Atomic(waits) }

    var syncs: Int { begun.load(ordering: .sequentiallyConsistent) }

    func sync() throws(AccessStoreError) {
        begun.add(1, ordering: .sequentiallyConsistent)
        if waits.load(ordering: .sequentiallyConsistent) { gate.wait() }
        if fails.load(ordering: .sequentiallyConsistent) { throw .unavailable(reason: "broken") }
    }

    /// From now on, each sync blocks until the test ends it.
    func wait() { waits.store(true, ordering: .sequentiallyConsistent) }

    /// From now on, every sync fails.
    func fail() { fails.store(true, ordering: .sequentiallyConsistent) }

    /// Ends one sync.
    func end(failing: Bool = false) {
        fails.store(failing, ordering: .sequentiallyConsistent)
        gate.signal()
    }
}

@Suite("Syncs of the access database")
struct AccessSyncTests {
    private let fixture: BrokerFixture
    private let disk = SlowDisk()
    private let sync: AccessSync

    init() throws {
        fixture = try BrokerFixture()
        let disk = disk
        sync = AccessSync(
            access: fixture.access, surroundings: fixture.surroundings, feed: fixture.feed,
            sync: { (_) throws(AccessStoreError) in try disk.sync() })
    }

    @Test("Callers that ask during a sync share the next one, so a revocation waits for two syncs at most")
    func pileUp() throws {
        var done: [String] = []
        sync.onDisk { _ in done.append("first") }
        try #require(fixture.loop.run { disk.syncs == 1 })
        // Schedule syncs as disclosures do, on a disk whose syncs take seconds.
        for _ in 1...100 {
            sync.schedule(within: .milliseconds(100))
            fixture.loop.advance(by: .milliseconds(100))
        }
        sync.onDisk {
            #expect($0); done.append("revocation")
        }
        sync.onDisk {
            #expect($0); done.append("another")
        }
        #expect(done.isEmpty)
        disk.end()
        try #require(fixture.loop.run { done == ["first"] })
        disk.end()
        try #require(fixture.loop.run { done == ["first", "revocation", "another"] })
        fixture.loop.advance(by: .seconds(10))
        #expect(disk.syncs == 2)
    }

    @Test("A request made during a sync is not completed by that sync")
    func notTooEarly() throws {
        var done = 0
        sync.onDisk { _ in done += 1 }
        try #require(fixture.loop.run { disk.syncs == 1 })
        sync.onDisk { _ in done += 10 }
        disk.end()
        try #require(fixture.loop.run { done > 0 })
        #expect(done == 1)
        disk.end()
        try #require(fixture.loop.run { done == 11 })
    }

    @Test("A failed sync reports the failure to a caller that waits for it")
    func failure() throws {
        var done: [Bool] = []
        for _ in 1...3 { sync.onDisk { done.append($0) } }
        disk.end()
        disk.end(failing: true)
        disk.end(failing: true)
        try #require(fixture.loop.run { done.count == 3 })
        #expect(done.contains(false))
        #expect(sync.hasFailed)
    }
}
