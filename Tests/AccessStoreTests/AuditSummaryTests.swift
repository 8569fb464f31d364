import BrokerAccessControl
import BrokerModel
import BrokerSQLite
import Testing

@testable import BrokerAccessStore

@Suite("Queries that skip blocks of the audit")
struct AuditSummaryTests {
    private let fixture: StoreFixture
    private let store: AccessStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    private static let apps = ["ink", "mail", "paint", "rare"]

    /// Appends records of random apps, contacts and events, with a clock that is set back now and then.
    private func append(_ count: Int, _ numbers: inout SeededGenerator) throws {
        for _ in 0..<count {
            fixture.now += Int64.random(in: -20_000_000...40_000_000, using: &numbers)
            let isRare = Int.random(in: 0..<60, using: &numbers) == 0
            let contacts = (0..<Int.random(in: 0...3, using: &numbers)).map { _ in
                RecordNumber(Int64.random(in: 1...80, using: &numbers))
            }
            store.audit.append(
                AuditRecord(
                    time: fixture.now, uid: UInt32.random(in: 1_000...1_002, using: &numbers),
                    app: isRare ? "rare" : Self.apps[Int.random(in: 0..<3, using: &numbers)], strength: .installed,
                    event: isRare ? .withheld : .grant, contacts: contacts.isEmpty ? nil : contacts))
        }
        try store.commit()
    }

    private func filter(_ numbers: inout SeededGenerator) -> AuditFilter {
        var filter = AuditFilter()
        func sometimes() -> Bool { Int.random(in: 0..<3, using: &numbers) == 0 }
        if sometimes() { filter.uid = UInt32.random(in: 1_000...1_003, using: &numbers) }
        if sometimes() { filter.app = (Self.apps + ["none"]).randomElement(using: &numbers) }
        if sometimes() { filter.event = [.withheld, .grant, .purge].randomElement(using: &numbers) }
        let span = fixture.now - 1_700_000_000_000_000
        if sometimes() { filter.since = 1_700_000_000_000_000 + Int64.random(in: 0...span, using: &numbers) }
        if sometimes() { filter.until = 1_700_000_000_000_000 + Int64.random(in: 0...span, using: &numbers) }
        if sometimes() {
            filter.contact = store.audit.pseudonyms.pseudonym(
                of: RecordNumber(Int64.random(in: 1...90, using: &numbers)), uid: 1_001)
        }
        return filter
    }

    @Test("They find the same records as queries that read everything", arguments: [1, 2, 3])
    func same(seed: UInt64) throws {
        var numbers = SeededGenerator(seed: seed)
        let summary = AuditSummary(size: 16, fewest: 0)
        var found = 0
        for _ in 0..<40 {
            try append(Int.random(in: 1...40, using: &numbers), &numbers)
            let query = AuditQuery(connection: try Database.open(fixture.database, .readOnly))
            for _ in 0..<20 {
                let filter = filter(&numbers)
                let newestFirst = Bool.random(using: &numbers)
                let limit = Int.random(in: 1...60, using: &numbers)
                let after = Bool.random(using: &numbers) ? Int64.random(in: 0...900, using: &numbers) : nil
                let slow = try query.records(matching: filter, after: after, limit: limit, newestFirst: newestFirst)
                let quick = try query.records(
                    matching: filter, after: after, limit: limit, newestFirst: newestFirst, summary: summary)
                #expect(quick == slow)
                found += slow.count
            }
        }
        #expect(found > 1_000)
    }

    @Test("A block that cannot match is not read")
    func skips() throws {
        var numbers = SeededGenerator(seed: 4)
        try append(400, &numbers)
        let connection = try Database.open(fixture.database, .readOnly)
        let last = store.audit.last.sequence
        let summary = AuditSummary(size: 10, fewest: 0)
        func ranges(_ filter: AuditFilter, _ callers: Set<Int64>? = nil) throws -> Int {
            let blocks = try #require(try summary.blocks(upTo: last, reading: connection))
            return blocks.filter { $0.mayMatch(filter, nil) && !$0.ranges(of: callers).isEmpty }.count
        }
        let all = try ranges(AuditFilter())
        #expect(all == Int(last + 9) / 10)
        #expect(try (1..<all).contains(ranges(AuditFilter(event: .withheld))))
        // Only the records after the last complete block are read always.
        #expect(try ranges(AuditFilter(event: .purge)) <= 1)
        #expect(try ranges(AuditFilter(), [999]) <= 1)
        #expect(try ranges(AuditFilter(since: fixture.now + 3_600_000_000)) <= 1)
        #expect(try AuditSummary().blocks(upTo: last, reading: connection) == nil)
    }

    @Test("In a block with few records of an app, only these are read; in one with many, all")
    func places() {
        var block = AuditBlock(1_001...2_000)
        for sequence in Int64(1_001)...2_000 where sequence != 1_500 {
            let caller: Int64 = sequence.isMultiple(of: 100) ? 7 : sequence.isMultiple(of: 2) ? 8 : 9
            block.add(sequence, time: sequence, caller: caller, event: [], contacts: nil)
        }
        block.complete()
        let hundreds = (11...20).filter { $0 != 15 }.map { Int64($0) * 100...Int64($0) * 100 }
        #expect(block.ranges(of: [7]) == hundreds)
        #expect(block.ranges(of: [6, 7]) == hundreds)
        #expect(block.ranges(of: [8]) == [1_001...2_000] && block.ranges(of: nil) == [1_001...2_000])
        #expect(block.ranges(of: [6]).isEmpty && block.ranges(of: []).isEmpty)
        #expect(AuditBlock(unread: 1...5).ranges(of: [6]) == [1...5])
    }
}

/// SplitMix64.
private struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
