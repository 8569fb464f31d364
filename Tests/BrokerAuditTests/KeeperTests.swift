import BrokerAccessControl
import BrokerAccessStore
import Synchronization
import Testing

@testable import BrokerCore

@Suite("The audit in a second place")
struct KeeperTests {
    /// Takes records, or does not, or does not say.
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
            var begun: Int64?
        }

        let position: Int64?
        private let state: Mutex<State>

        init(after position: Int64? = nil, _ manner: Manner = .takes) {
            self.position = position
            state = Mutex(State(manner: manner))
        }

        var taken: [Int64] { state.withLock { $0.taken } }
        /// What it was told to keep as its position.
        var begun: Int64? { state.withLock { $0.begun } }
        var offers: Int { state.withLock { $0.offers } }

        func become(_ manner: Manner) { state.withLock { $0.manner = manner } }

        func begin(after sequence: Int64) { state.withLock { $0.begun = sequence } }

        func take(_ records: [AuditEntry], _ done: @escaping @Sendable (Bool) -> Void) {
            let manner = state.withLock { state in
                state.offers += 1
                if state.manner == .takes { state.taken += records.map(\.sequence) }
                return state.manner
            }
            if manner != .isSilent { done(manner == .takes) }
        }
    }

    /// A new audit begins with the broker's start; then comes the policy.
    private static let afterStart: Int64 = 2

    /// Lets the disk have what was committed.
    private func sync(_ house: BrokerHouse) { house.loop.pass(.milliseconds(100)) }

    @Test("It gets every record once and in order, from when it began, batch by batch")
    func all() throws {
        let keeper = Keeper()
        let house = try BrokerHouse(keeper: keeper) {
            $0.auditRecordsPerBatch = 4
            $0.audit.disclosureWindow = .zero
        }
        house.decide(.full, "mail")
        let app = house.app("mail")
        for _ in 1...30 { try app.fetch() }
        sync(house)
        let count = house.broker.access.auditCount
        #expect(house.loop.run { keeper.taken.last == count })
        #expect(keeper.taken == Array(Self.afterStart...count))
        #expect(count > 30 && keeper.offers >= 8)
    }

    @Test("What is not on the disk yet is not handed over")
    func notSynced() throws {
        let keeper = Keeper()
        let house = try BrokerHouse(keeper: keeper)
        house.decide(.full, "mail")
        try house.app("mail").fetch()
        house.loop.turn()
        // The grant's record is on the disk, the disclosure's is not.
        #expect(keeper.taken.last ?? 0 < house.broker.access.auditCount)
        sync(house)
        #expect(house.loop.run { keeper.taken.last == house.broker.access.auditCount })
    }

    @Test("What it does not take comes again ten seconds later, and nobody waits for that")
    func refused() throws {
        let keeper = Keeper(.refuses)
        let house = try BrokerHouse(keeper: keeper)
        house.decide(.full, "mail")
        sync(house)
        #expect(house.loop.run { keeper.offers == 1 })
        house.loop.turn()
        let app = house.app("mail")
        try app.fetch()
        #expect(app.answers == 1)
        keeper.become(.takes)
        house.loop.pass(.seconds(9))
        #expect(keeper.taken.isEmpty && keeper.offers == 1)
        house.loop.pass(.seconds(2))
        let count = house.broker.access.auditCount
        #expect(house.loop.run { keeper.taken.last == count })
        #expect(keeper.taken == Array(Self.afterStart...count))
    }

    @Test("One that never answers is offered nothing more, and holds nobody up")
    func silent() throws {
        let keeper = Keeper(.isSilent)
        let house = try BrokerHouse(keeper: keeper)
        house.decide(.full, "mail")
        let app = house.app("mail")
        sync(house)
        #expect(house.loop.run { keeper.offers == 1 })
        for _ in 1...5 { try app.fetch() }
        house.loop.pass(.seconds(60))
        #expect(app.answers == 5)
        #expect(keeper.offers == 1)
    }

    @Test("After a restart it goes on where it was, with what was recorded without it")
    func restart() throws {
        let house = try BrokerHouse(keeper: nil)
        house.decide(.full, "mail")
        let known = house.broker.access.auditCount
        try house.app("mail").fetch()
        let keeper = Keeper(after: known)
        try house.restart(keeper: keeper)
        sync(house)
        let count = house.broker.access.auditCount
        #expect(house.loop.run { keeper.taken.last == count })
        #expect(keeper.taken == Array((known + 1)...count))
    }

    @Test("One that had taken nothing when the broker ended gets what was recorded since it began")
    func nothingTaken() throws {
        let first = Keeper(.refuses)
        let house = try BrokerHouse(keeper: first)
        house.decide(.full, "mail")
        let next = Keeper(after: first.begun)
        try house.restart(keeper: next)
        sync(house)
        #expect(house.loop.run { next.taken.last == house.broker.access.auditCount })
        #expect(next.taken == Array(Self.afterStart...house.broker.access.auditCount))
        #expect(next.begun == nil)
    }

    @Test("One that knows more than there is gets what comes from now on")
    func replaced() throws {
        let keeper = Keeper(after: 1_000)
        let house = try BrokerHouse(keeper: keeper)
        house.decide(.full, "mail")
        sync(house)
        #expect(house.loop.run { !keeper.taken.isEmpty })
        #expect(keeper.taken == Array(Self.afterStart...house.broker.access.auditCount))
    }
}
