import BrokerAccessControl
import BrokerModel
import Testing

@testable import BrokerAccessStore

/// Attacks on an audit that is long enough for several steps of verification, with retention.
@Suite("A long audit")
struct LongAuditTests {
    private static let records = 30_000
    private static let day: Int64 = 86_400_000_000

    /// An audit of a month, whose first ten days retention removed: a third of the records.
    private func closed() throws -> StoreFixture {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let began = fixture.now
        for number in 0..<Self.records {
            fixture.now = began + Int64(number) * (30 * Self.day / Int64(Self.records))
            store.audit.append(
                AuditRecord(
                    time: fixture.now, uid: 1_000, app: "app\(number % 7)", strength: .installed, event: .grant,
                    count: 1, contacts: [RecordNumber(Int64(number % 500))]))
            if number % 5_000 == 0 { try store.commit() }
        }
        try store.commit()
        let segments = try store.audit.reader.segments().new
        try store.audit.seal(segments)
        store.audit.remove(Array(segments.prefix(10)), now: fixture.now)
        try store.commit()
        while try store.audit.deleteRemoved(1_000) {}
        store.close(now: fixture.now)
        return fixture
    }

    @Test("One flipped byte, two swapped records, a missing one and a cut end are found, each at its place")
    func attacks() throws {
        let fixture = try closed()
        let original = try StoreFixture.bytes(of: fixture.database)
        let position = try StoreFixture.bytes(of: fixture.position)
        let whole = try fixture.open()
        #expect(try whole.verifyAll(budget: 10_000).brokenAt == nil)
        let end = whole.audit.last.sequence
        whole.close(now: fixture.now)
        for (sql, brokenAt) in [
            (
                "UPDATE audit SET contacts = CAST(zeroblob(1) || substr(contacts, 2) AS BLOB) WHERE sequence = 21234",
                21_234
            ),
            (
                """
                UPDATE audit SET sequence = -1 WHERE sequence = 20000; UPDATE audit SET sequence = 20000 WHERE sequence = 25000;
                UPDATE audit SET sequence = 25000 WHERE sequence = -1
                """, 20_000
            ),
            ("DELETE FROM audit WHERE sequence = 25678", 25_678), ("DELETE FROM audit WHERE sequence > 28888", 28_889),
        ] as [(String, Int64)] {
            try StoreFixture.write(original, to: fixture.database)
            try StoreFixture.write(position, to: fixture.position)
            try fixture.tamper(sql)
            let store = try fixture.open()
            let found = try store.verifyAll(budget: 10_000).brokenAt
            #expect(found == brokenAt, "\(sql)")
            #expect((store.loss != nil) == (brokenAt == 28_889))
            store.close(now: fixture.now)
        }
        // Yesterday's files: the chain is intact, and the position that somebody remembers is not in it.
        try StoreFixture.write(original, to: fixture.database)
        try StoreFixture.write(position, to: fixture.position)
        let older = try fixture.open()
        older.disclose(1)
        older.disclose(2)
        try older.commit()
        let remembered = older.audit.last
        older.close(now: fixture.now)
        try StoreFixture.write(original, to: fixture.database)
        try StoreFixture.write(position, to: fixture.position)
        let restored = try fixture.open()
        #expect(restored.loss == nil && restored.audit.last.sequence > end - 1)
        #expect(try restored.verifyAll(budget: 10_000).brokenAt == nil)
        #expect(try restored.audit.reader.contradicted([remembered]).map(\.sequence) == [remembered.sequence])
    }
}
