import BrokerAccessControl
import BrokerBounds
import BrokerDisclosure
import BrokerModel
import BrokerSQLite
import Testing

@testable import BrokerAccessStore

@Suite("Removing old records from the audit")
struct RetentionTests {
    private let fixture: StoreFixture
    private static let day: Int64 = 86_400_000_000
    private static let days = 20
    private static let perDay = 10

    init() throws { fixture = try StoreFixture() }

    /// A store with the records of twenty days, ten a day, after its start: record 1 is the start.
    private func filled() throws -> AccessStore {
        let store = try fixture.open()
        for day in 0..<Self.days {
            for number in 0..<Self.perDay { append(Int64(day * Self.perDay + number), day: day, to: store) }
            try store.commit()
        }
        fixture.now += Int64(Self.days) * Self.day
        return store
    }

    private func append(_ number: Int64, day: Int, to store: AccessStore) {
        store.audit.append(
            AuditRecord(
                time: fixture.now + Int64(day) * Self.day + number, uid: 1_000, app: "app\(number % 3)",
                strength: .installed, event: .grant, count: 1, contacts: [RecordNumber(number)], detail: "\(number)"))
    }

    /// Seals the segments, and removes this many.
    @discardableResult
    private func remove(_ count: Int, from store: AccessStore) throws -> AuditRemoval {
        let segments = try store.audit.reader.segments()
        try store.audit.seal(segments.new)
        store.audit.remove(Array((segments.sealed + segments.new).prefix(count)), now: fixture.now)
        try store.commit()
        return try #require(store.audit.removal)
    }

    private func deleteAll(from store: AccessStore, by slice: Int = 7) throws {
        while try store.audit.deleteRemoved(slice) {}
    }

    private func sequences(of store: AccessStore, _ filter: AuditFilter = AuditFilter()) throws -> [Int64] {
        try store.records(matching: filter, after: nil, limit: .max).map(\.sequence)
    }

    private func count(_ table: String) throws -> Int64? {
        try Database.open(fixture.database, .readOnly).integer("SELECT count(*) FROM \(table)")
    }

    @Test("Segments are sealed once, and the newest one is not")
    func sealed() throws {
        let store = try filled()
        let first = try store.audit.reader.segments()
        #expect(first.sealed.isEmpty && first.new.count == Self.days - 1)
        #expect(first.new.map(\.last.sequence) == (1..<Self.days).map { Int64(1 + $0 * Self.perDay) })
        #expect(first.open?.last == store.audit.last)
        try store.audit.seal(first.new)
        let second = try store.audit.reader.segments()
        #expect(second.sealed == first.new && second.new.isEmpty && second.open == first.open)
    }

    @Test("A removal is on record, the chain begins after it, and verification accepts it", arguments: [1, 3, 1_000])
    func removed(budget: Int) throws {
        let store = try filled()
        let removal = try remove(5, from: store)
        #expect(removal.first == 1 && removal.last.sequence == 51 && removal.record == 202)
        let record = try #require(
            try store.records(matching: AuditFilter(event: .retention), after: nil, limit: 9).first)
        #expect(record.sequence == 202 && record.detail == removal.detail)
        #expect(record.detail?.hasPrefix("records 1 to 51, from 2023-11-14 to 2023-11-18, removed at 2023-") == true)
        #expect(record.detail?.hasSuffix(Hexadecimal.text(removal.last.hash)) == true)
        // Removed records are gone at once, also while they are still in the file.
        for _ in 0..<2 {
            #expect(try sequences(of: store) == Array(52...202))
            #expect(try store.records(matching: AuditFilter(), after: 3, limit: 1).first?.sequence == 52)
            let last = try store.records(matching: AuditFilter(), after: 60, limit: 100, newestFirst: true).last
            #expect(last?.sequence == 52 && last?.previous == Hexadecimal.text(removal.last.hash))
            #expect(try store.verifyAll(budget: budget) == (151, nil))
            #expect(try store.verify(from: 10, budget: 1_000).checked == 151)
            try deleteAll(from: store)
        }
        #expect(try count("audit") == 151)
        #expect(try count("auditSegment") == Int64(Self.days - 1 - 5))
        #expect(try !store.audit.deleteRemoved(10) && !store.audit.hasRemovedRecords)
    }

    @Test("A second removal continues the first, and a third without a segment does nothing")
    func again() throws {
        let store = try filled()
        let first = try remove(2, from: store)
        try deleteAll(from: store)
        let second = try remove(3, from: store)
        try deleteAll(from: store)
        #expect(second.first == first.last.sequence + 1 && second.last.sequence == 51)
        #expect(try store.verifyAll().brokenAt == nil)
        store.audit.remove([], now: fixture.now)
        #expect(!store.hasUncommitted && store.audit.removal == second)
    }

    @Test("Segments that are removed already, or that end at the newest record, are not removed")
    func notRemovable() throws {
        let store = try filled()
        let removal = try remove(5, from: store)
        store.audit.remove([AuditSegment(last: removal.last, begins: 0, ends: 0, bytes: 0)], now: fixture.now)
        store.audit.remove([AuditSegment(last: store.audit.last, begins: 0, ends: 0, bytes: 0)], now: fixture.now)
        #expect(!store.hasUncommitted && store.audit.removal == removal)
    }

    @Test("A restart in the middle of a removal continues it", arguments: [0, 1, 30, 50, 51])
    func restarted(deleted: Int) throws {
        var store: AccessStore? = try filled()
        let removal = try remove(5, from: #require(store))
        if deleted > 0 { _ = try store?.audit.deleteRemoved(deleted) }
        // As a crash leaves it.
        let copy = try fixture.copy()
        store = nil
        let survivor = try copy.open()
        #expect(survivor.loss == nil && survivor.audit.removal == removal)
        #expect(survivor.audit.hasRemovedRecords == (deleted < 51))
        try deleteAll(from: survivor)
        #expect(try survivor.verifyAll().brokenAt == nil)
        #expect(try sequences(of: survivor).first == 52)
    }

    @Test("A removal whose commit fails removes nothing")
    func failed() throws {
        let store = try filled()
        let segments = try store.audit.reader.segments()
        try store.audit.seal(segments.new)
        store.audit.remove(Array(segments.new.prefix(5)), now: fixture.now)
        store.discloseMuch()
        try store.diskIsFull(true)
        #expect(throws: AccessStoreError.self) { try store.commit() }
        try store.diskIsFull(false)
        try store.commit()
        #expect(try store.audit.removal == nil && sequences(of: store).first == 1)
        #expect(try !store.audit.deleteRemoved(100))
        #expect(try store.verifyAll().brokenAt == nil)
    }

    @Test("The file permits the deletion of removed records only")
    func triggers() throws {
        let store = try filled()
        try remove(5, from: store)
        let other = try Database.open(fixture.database, .readWrite)
        #expect(throws: AccessStoreError.self) { try other.execute("DELETE FROM audit WHERE sequence = 52") }
        #expect(throws: AccessStoreError.self) { try other.execute("DELETE FROM audit WHERE sequence <= 52") }
        #expect(throws: AccessStoreError.self) { try other.execute("UPDATE audit SET count = 2 WHERE sequence = 1") }
        try other.execute("DELETE FROM audit WHERE sequence <= 51")
        #expect(try store.verifyAll().brokenAt == nil)
    }

    @Test(
        "Records that are missing without a removal on record break the audit",
        arguments: [
            ("DELETE FROM audit WHERE sequence <= 61", 52, 61),
            // A forged base, with every value but the record right.
            (
                """
                UPDATE auditRemoval SET last = 61, lastHash = (SELECT hash FROM audit WHERE sequence = 61);
                DELETE FROM audit WHERE sequence <= 61
                """, 1, 61
            ),
            ("UPDATE auditRemoval SET lastHash = zeroblob(32)", 1, 51),
            ("UPDATE auditRemoval SET record = 203", 1, 51), ("UPDATE auditRemoval SET time = 5", 1, 51),
            ("DELETE FROM auditRemoval", 1, 51), ("DELETE FROM audit WHERE sequence BETWEEN 100 AND 120", 100, 120),
            ("DELETE FROM audit WHERE sequence = 150", 150, 150),
            ("DELETE FROM audit WHERE sequence > 205", 206, 207),
            // The record of the removal is missing too.
            ("DELETE FROM audit WHERE sequence > 180", 181, 207),
            // No record of this number was ever made.
            ("UPDATE auditRemoval SET record = 900", 1, 51),
        ])
    func tampered(sql: String, brokenAt: Int64, missingTo: Int64) throws {
        let store = try filled()
        try remove(5, from: store)
        try deleteAll(from: store)
        for number in 1...5 { append(Int64(number), day: 0, to: store) }
        try store.commit()
        let reader = store.audit.reader
        try fixture.tamper(sql)
        let found = try reader.verify(from: nil, budget: 1_000)
        #expect(found.brokenAt == brokenAt && found.missingTo == missingTo)
        // After a restart, a base that nothing announces still hides no record and deletes none.
        let copy = try fixture.copy()
        let again = try copy.open()
        #expect((again.audit.removal == nil) == (brokenAt == 1 || brokenAt == 181))
        #expect(try !again.audit.deleteRemoved(1_000))
        // The copy was not synced, so the records that were cut off may be lost in a crash.
        let isCut = brokenAt > 180
        #expect(try again.verifyAll().brokenAt == brokenAt || isCut)
    }

    @Test("The announcement itself is covered by the chain")
    func forgedRecord() throws {
        let store = try filled()
        try remove(5, from: store)
        let reader = store.audit.reader
        try fixture.tamper(
            """
            UPDATE auditRemoval SET last = 61, lastHash = (SELECT hash FROM audit WHERE sequence = 61);
            UPDATE audit SET detail = (SELECT replace(replace(detail, 'to 51,', 'to 61,'), 'record 51 had', 'record 61 had')
                FROM audit WHERE sequence = 202) WHERE sequence = 202
            """)
        #expect(try reader.verify(from: nil, budget: 1_000).brokenAt != nil)
    }

    @Test(
        "Any numbers in the file are survived, and none removes a record",
        arguments: [
            ("UPDATE auditSegment SET begins = \(Int64.min), ends = \(Int64.min), bytes = \(Int64.max)", false),
            ("UPDATE auditSegment SET begins = \(Int64.max), ends = \(Int64.max), bytes = \(Int64.min)", false),
            (
                "UPDATE audit SET time = CASE sequence % 2 WHEN 0 THEN \(Int64.min) ELSE \(Int64.max) END; DELETE FROM auditSegment",
                true
            ),
            ("UPDATE auditRemoval SET last = \(Int64.max - 1), record = \(Int64.max)", true),
            // The removed records are still there.
            ("UPDATE auditRemoval SET first = \(Int64.min), ends = \(Int64.max), time = \(Int64.max)", false),
        ])
    func hostile(sql: String, isBroken: Bool) throws {
        let store = try filled()
        try remove(5, from: store)
        let reader = store.audit.reader
        try fixture.tamper(sql)
        let segments = try reader.segments()
        let all = segments.sealed + segments.new
        for now in [fixture.now, 0] {
            _ = RetentionBounds(days: 30, bytes: 1_000).removable(all, open: segments.open, now: now)
        }
        _ = try reader.verify(from: nil, budget: 1_000)
        _ = try reader.contradicted([AuditPosition(sequence: .max, hash: []), AuditPosition(sequence: 1, hash: [])])
        let copy = try fixture.copy()
        let again = try copy.open()
        #expect(try (again.verifyAll().brokenAt != nil) == isBroken)
        #expect(try again.audit.deleteRemoved(10) == (again.audit.removal != nil))
    }

    @Test("Positions before the base are not contradicted, the base itself and later ones are compared")
    func positions() throws {
        let store = try filled()
        let other = [UInt8](repeating: 7, count: 32)
        let removal = try remove(5, from: store)
        try deleteAll(from: store)
        let reader = store.audit.reader
        let positions = [(3, other), (51, other), (51, removal.last.hash), (52, other)].map {
            AuditPosition(sequence: $0.0, hash: $0.1)
        }
        #expect(try reader.contradicted(positions).map(\.sequence) == [51, 52])
        #expect(try reader.has(positions[0]) && reader.has(positions[2]))
        #expect(try !reader.has(positions[1]) && !reader.has(positions[3]))
    }

    @Test("Later records use the space of removed ones")
    func space() throws {
        let store = try filled()
        let before = try store.file.openWriter().connection.integer("PRAGMA page_count") ?? 0
        try remove(Self.days - 1, from: store)
        try deleteAll(from: store)
        for number in 0..<150 { append(Int64(number), day: 0, to: store) }
        try store.commit()
        #expect(try store.file.openWriter().connection.integer("PRAGMA page_count") ?? .max <= before + 4)
    }
}
