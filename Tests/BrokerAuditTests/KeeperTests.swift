import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerCalls
import Synchronization
import Testing

@testable import BrokerCore
@testable import BrokerLedger

@Suite("Forwarding the audit to a keeper")
struct KeeperTests {
    /// A keeper that accepts records, refuses them, or never answers.
    private final class Keeper: AuditKeeper {
        enum Manner {
            case takes
            case refuses
            case isSilent
        }

        struct State {
            var manner: Manner
            var taken: [Int64] = []
            var offers = 0
        }

        private let state: Mutex<State>

        init(_ manner: Manner = .takes) { state = Mutex(State(manner: manner)) }

        var taken: [Int64] { state.withLock { $0.taken } }
        var offers: Int { state.withLock { $0.offers } }

        func become(_ manner: Manner) { state.withLock { $0.manner = manner } }

        func take(_ records: [AuditEntry], _ done: @escaping @Sendable (Bool) -> Void) {
            let manner = state.withLock { state in
                state.offers += 1
                if state.manner == .takes { state.taken += records.map(\.sequence) }
                return state.manner
            }
            if manner != .isSilent { done(manner == .takes) }
        }
    }

    /// A new audit begins with the broker's start; the policy is the next record.
    private static let afterStart: Int64 = 2

    /// Waits until the committed records are synced.
    private func sync(_ fixture: BrokerFixture) { fixture.loop.pass(.milliseconds(100)) }

    @Test("The keeper gets every record since it began, once and in order, in batches")
    func all() throws {
        let keeper = Keeper()
        let fixture = try BrokerFixture(keeper: keeper) {
            $0.auditRecordsPerBatch = 4
            $0.keeperPause = .zero
            $0.audit.disclosureWindow = .zero
        }
        fixture.decide(.full, "mail")
        let app = fixture.app("mail")
        for _ in 1...30 { try app.fetch() }
        sync(fixture)
        let count = fixture.broker.access.audit.last.sequence
        for _ in 1...20 where keeper.taken.last != count { takeNext(keeper, fixture) }
        #expect(keeper.taken == Array(Self.afterStart...count))
        #expect(count > 30 && keeper.offers >= 8)
    }

    /// Waits until the keeper has taken more records, and lets the pause after them pass.
    private func takeNext(_ keeper: Keeper, _ fixture: BrokerFixture) {
        let (offers, count) = (keeper.offers, fixture.broker.access.audit.last.sequence)
        _ = fixture.loop.run { keeper.offers > offers || keeper.taken.last == count }
        fixture.loop.pass(fixture.broker.surroundings.limits.keeperPause)
    }

    @Test("A long queue is sent at a pace: a pause follows each full batch")
    func paced() throws {
        let keeper = Keeper(.refuses)
        let fixture = try BrokerFixture(keeper: keeper) { $0.auditRecordsPerBatch = 2 }
        for number in 1...10 { fixture.decide(.full, "app \(number)") }
        try #require(fixture.loop.run { keeper.offers == 1 })
        keeper.become(.takes)
        fixture.loop.pass(fixture.broker.surroundings.limits.keeperRetry)
        try #require(fixture.loop.run { fixture.broker.feed.forwardedPosition == Self.afterStart + 1 })
        fixture.loop.pass(.milliseconds(99))
        // A read that began too early would be before this one in their queue.
        var isRead = false
        fixture.broker.feed.read(
            { (reader) throws(AccessStoreError) in try reader.records(matching: AuditFilter(), after: 0, limit: 1) },
            failed: {}
        ) { _ in isRead = true }
        try #require(fixture.loop.run { isRead })
        fixture.loop.iterate()
        #expect(keeper.taken == [2, 3])
        fixture.loop.pass(.milliseconds(1))
        #expect(fixture.loop.run { keeper.taken == [2, 3, 4, 5] })
    }

    @Test("A record is not forwarded before it is synced")
    func notSynced() throws {
        let keeper = Keeper()
        let fixture = try BrokerFixture(keeper: keeper)
        fixture.decide(.full, "mail")
        try fixture.app("mail").fetch()
        fixture.loop.iterate()
        // The grant's record is synced, and the disclosure's is not.
        #expect(keeper.taken.last ?? 0 < fixture.broker.access.audit.last.sequence)
        sync(fixture)
        #expect(fixture.loop.run { keeper.taken.last == fixture.broker.access.audit.last.sequence })
    }

    @Test("Records that the keeper refuses are offered again ten seconds later, and delay nobody")
    func refused() throws {
        let keeper = Keeper(.refuses)
        let fixture = try BrokerFixture(keeper: keeper)
        fixture.decide(.full, "mail")
        sync(fixture)
        #expect(fixture.loop.run { keeper.offers == 1 })
        fixture.loop.iterate()
        let app = fixture.app("mail")
        try app.fetch()
        #expect(app.answers == 1)
        keeper.become(.takes)
        fixture.loop.pass(.seconds(9))
        #expect(keeper.taken.isEmpty && keeper.offers == 1)
        fixture.loop.pass(.seconds(2))
        let count = fixture.broker.access.audit.last.sequence
        #expect(fixture.loop.run { keeper.taken.last == count })
        #expect(keeper.taken == Array(Self.afterStart...count))
    }

    @Test("A keeper that never answers is offered nothing more, and delays nobody")
    func silent() throws {
        let keeper = Keeper(.isSilent)
        let fixture = try BrokerFixture(keeper: keeper)
        fixture.decide(.full, "mail")
        let app = fixture.app("mail")
        sync(fixture)
        #expect(fixture.loop.run { keeper.offers == 1 })
        for _ in 1...5 { try app.fetch() }
        fixture.loop.pass(.seconds(60))
        #expect(app.answers == 5)
        #expect(keeper.offers == 1)
    }

    @Test("After a restart, forwarding continues at the keeper's position, with what was recorded meanwhile")
    func restart() throws {
        let first = Keeper()
        let fixture = try BrokerFixture(keeper: first)
        fixture.decide(.full, "mail")
        sync(fixture)
        let known = fixture.broker.access.audit.last.sequence
        try #require(fixture.loop.run { fixture.broker.feed.forwardedPosition == known })
        try fixture.restart(keeper: nil)
        try fixture.app("mail").fetch()
        let keeper = Keeper()
        try fixture.restart(keeper: keeper)
        sync(fixture)
        let count = fixture.broker.access.audit.last.sequence
        #expect(fixture.loop.run { keeper.taken.last == count })
        #expect(keeper.taken == Array((known + 1)...count))
    }

    @Test("A keeper that had accepted nothing gets all records since it began")
    func nothingTaken() throws {
        let first = Keeper(.refuses)
        let fixture = try BrokerFixture(keeper: first)
        fixture.decide(.full, "mail")
        let next = Keeper()
        try fixture.restart(keeper: next)
        sync(fixture)
        #expect(fixture.loop.run { next.taken.last == fixture.broker.access.audit.last.sequence })
        #expect(next.taken == Array(Self.afterStart...fixture.broker.access.audit.last.sequence))
    }

    @Test("A keeper whose position is beyond the audit gets only later records")
    func replaced() throws {
        let fixture = try BrokerFixture()
        fixture.broker.access.audit.forwarded = 1_000
        let keeper = Keeper()
        try fixture.restart(keeper: keeper)
        // The start of the broker is the last record before the keeper begins.
        let begun = fixture.broker.feed.forwardedPosition ?? 0
        fixture.decide(.full, "mail")
        sync(fixture)
        let count = fixture.broker.access.audit.last.sequence
        #expect(fixture.loop.run { keeper.taken.last == count })
        #expect(keeper.taken == Array((begun + 1)...count))
    }
}
