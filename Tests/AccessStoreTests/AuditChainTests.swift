import BrokerAccessControl
import BrokerDisclosure
import BrokerModel
import BrokerSQLite
import CBrokerCrypto
import Testing

@testable import BrokerAccessStore

@Suite("The audit chain")
struct AuditChainTests {
    /// A closed store with the start, eight disclosures and the stop, which are records 1 to 10.
    private func closedFixture() throws -> StoreFixture {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        for number in 1...8 {
            store.disclose(Int64(number))
            try store.commit()
        }
        store.close(now: fixture.now)
        return fixture
    }

    @Test(
        "An unaltered audit passes verification, however small the steps are", arguments: [1, 2, 3, 9, 10, 11, 1_000])
    func whole(budget: Int) throws {
        let store = try closedFixture().open()
        let (checked, brokenAt) = try store.verifyAll(budget: budget)
        #expect(checked == 11)
        #expect(brokenAt == nil)
        #expect(store.audit.last.sequence == 11)
        #expect(try store.verify(from: nil, budget: 100).head == Hexadecimal.text(store.audit.last.hash))
    }

    @Test(
        "A change to any field of a record is detected",
        arguments: [
            "time = time + 1", "caller = 1", "caller = 100", "event = 'refusal'", "status = NULL", "keys = 0",
            "keys = NULL", "count = 2", "contacts = zeroblob(16)",
            "contacts = NULL", "contacts = x''", "revision = 4", "repeats = 1", "detail = ''", "detail = NULL",
            "hash = zeroblob(32)",
        ])
    func changed(change: String) throws {
        let fixture = try closedFixture()
        try fixture.tamper("UPDATE audit SET \(change) WHERE sequence = 5")
        #expect(try fixture.open().verifyAll(budget: 2).brokenAt == 5)
    }

    @Test(
        "A change to a caller is detected at the first record about that caller",
        arguments: [
            "SET uid = 0", "SET app = 'other'", "SET app = ''", "SET strength = 'labelled'", "SET strength = NULL",
            "gone",
        ])
    func changedCaller(change: String) throws {
        let fixture = try closedFixture()
        let them = "WHERE id = (SELECT caller FROM audit WHERE sequence = 5)"
        try fixture.tamper(
            change == "gone" ? "DELETE FROM auditCaller \(them)" : "UPDATE auditCaller \(change) \(them)")
        #expect(try fixture.open().verifyAll(budget: 2).brokenAt == 2)
    }

    @Test("A missing record is detected", arguments: [1, 2, 5, 9])
    func missing(sequence: Int64) throws {
        let fixture = try closedFixture()
        try fixture.tamper("DELETE FROM audit WHERE sequence = \(sequence)")
        #expect(try fixture.open().verifyAll(budget: 3).brokenAt == sequence)
    }

    @Test("A removed record is detected even if the later ones are renumbered")
    func closedUp() throws {
        let fixture = try closedFixture()
        try fixture.tamper(
            "DELETE FROM audit WHERE sequence = 5; UPDATE audit SET sequence = sequence - 1 WHERE sequence > 5")
        #expect(try fixture.open().verifyAll().brokenAt == 5)
    }

    @Test("Two records that were swapped are detected")
    func swapped() throws {
        let fixture = try closedFixture()
        try fixture.tamper(
            """
            UPDATE audit SET sequence = 100 WHERE sequence = 4; UPDATE audit SET sequence = 4 WHERE sequence = 6;
            UPDATE audit SET sequence = 6 WHERE sequence = 100
            """)
        #expect(try fixture.open().verifyAll().brokenAt == 4)
    }

    @Test("A truncated audit is detected, even after the broker has written more records")
    func truncated() throws {
        let fixture = try closedFixture()
        try fixture.tamper("DELETE FROM audit WHERE sequence > 7")
        let store = try fixture.open()
        #expect(try store.verifyAll().brokenAt == 8)
        store.disclose(1)
        try store.commit()
        #expect(try store.verifyAll().brokenAt == 8)
    }

    @Test("A truncated audit is detected, even if its counter was set back to the last record that is left")
    func counterTurnedBack() throws {
        let fixture = try closedFixture()
        try fixture.tamper("DELETE FROM audit WHERE sequence > 7; UPDATE state SET auditSequence = 7")
        let audit = AuditQuery(connection: try Database.open(fixture.database, .readOnly))
        #expect(try audit.verify(from: nil, budget: 100, known: audit.counted()).brokenAt == 7)
        let store = try fixture.open()
        #expect(try store.verifyAll().brokenAt == 8)
    }

    @Test("A record that was added after the last one is detected")
    func added() throws {
        let fixture = try closedFixture()
        try fixture.tamper(
            "INSERT INTO audit SELECT 11, time, caller, event, status, keys, count, contacts, revision, repeats, detail, "
                + "hash FROM audit WHERE sequence = 10")
        #expect(try fixture.open().verifyAll().brokenAt == 11)
    }

    @Test("After a crash the chain continues after its last record, even if the stored counters are older")
    func behindItsCounters() throws {
        let fixture = try StoreFixture()
        var store: AccessStore? = try fixture.open()
        // All records have the same time, so the counters are not written again.
        for number in 1...20 {
            store?.disclose(Int64(number))
            try store?.commit()
        }
        #expect(try store?.verifyAll().brokenAt == nil)
        let reader = try #require(store?.audit.reader)
        let head = Hexadecimal.text(reader.known.hash)
        store = nil
        #expect(try reader.verify(from: nil, budget: 100).head == head)
        store = try fixture.open()
        #expect(store?.audit.last.sequence == 23)
        #expect(try store?.verifyAll().brokenAt == nil)
        #expect(try store?.records(matching: AuditFilter(), after: 21, limit: 1).first?.previous == head)
    }

    @Test("After a crash a changed record is detected, even if it is newer than the stored counters")
    func changedBehindTheCounters() throws {
        let fixture = try StoreFixture()
        var store: AccessStore? = try fixture.open()
        for number in 1...20 {
            store?.disclose(Int64(number))
            try store?.commit()
        }
        store = nil
        try fixture.tamper("UPDATE audit SET count = 9 WHERE sequence = 15")
        #expect(try fixture.open().verifyAll().brokenAt == 15)
    }

    @Test("While the broker runs, truncation is detected even if the stored counters are older")
    func cutWhileRunning() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        for number in 1...20 {
            store.disclose(Int64(number))
            try store.commit()
        }
        let reader = store.audit.reader
        try fixture.tamper("DELETE FROM audit WHERE sequence > 10")
        #expect(try reader.verify(from: nil, budget: 100).brokenAt == 11)
        #expect(try store.verifyAll().brokenAt == 11)
    }

    @Test("An audit from a version without a table of callers keeps its records and its chain")
    func migrated() throws {
        let fixture = try closedFixture()
        let before = try AuditReader(database: fixture.database, known: .beginning, summary: AuditSummary()).records(
            matching: AuditFilter(), after: nil, limit: 100)
        try fixture.tamper(
            """
            CREATE TABLE old AS SELECT sequence, time, uid, app, strength, event, status, keys, count, contacts, revision,
                repeats, detail, hash FROM audit JOIN auditCaller ON auditCaller.id = caller;
            DROP TABLE audit; DROP TABLE auditCaller; DROP TABLE owner; DROP TABLE silence; DROP TABLE outboxMark;
            DROP TABLE declaredFolder; DROP TABLE groupShare; DROP TABLE unconfirmed; DROP TABLE cardDAVConnection; DROP TABLE changedContact; DROP TABLE auditSegment; DROP TABLE auditRemoval;
            ALTER TABLE appGrant DROP COLUMN decision; ALTER TABLE appGrant DROP COLUMN decidedThrough;
            ALTER TABLE appGrant DROP COLUMN askedKeys; ALTER TABLE appGrant DROP COLUMN purposeHash;
            ALTER TABLE appGrant DROP COLUMN contactsRead; ALTER TABLE appGrant DROP COLUMN changes; ALTER TABLE appGrant DROP COLUMN lastReadAt;
            ALTER TABLE state DROP COLUMN forwarded; ALTER TABLE old RENAME TO audit; PRAGMA user_version = 1
            """)
        let store = try fixture.open()
        #expect(try store.records(matching: AuditFilter(), after: nil, limit: before.count) == before)
        #expect(try store.verifyAll().brokenAt == nil)
    }

    @Test("SQL cannot change or delete a record without removing triggers")
    func triggers() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let connection = try Database.open(fixture.database, .readWrite)
        for sql in [
            "UPDATE audit SET count = 7", "DELETE FROM audit", "UPDATE auditCaller SET app = 'x'",
            "DELETE FROM auditCaller",
        ] {
            #expect(throws: AccessStoreError.self) { try connection.execute(sql) }
        }
        #expect(try store.verifyAll().checked == 1)
    }

    @Test("The canonical form distinguishes absent from empty fields, and shows where each field ends")
    func canonical() throws {
        func form(app: String, strength: String?, detail: String? = nil, contacts: [UInt8]? = nil) -> [UInt8] {
            var bytes: [UInt8] = []
            let row = AuditRow<String>(
                sequence: 1, time: 2, uid: 3, app: app, strength: strength, event: "e", contacts: contacts,
                detail: detail)
            AuditChain.canonical(row, after: AuditChain.beginning, into: &bytes)
            return bytes
        }
        let forms = [
            form(app: "ab", strength: "c"), form(app: "a", strength: "bc"), form(app: "abc", strength: ""),
            form(app: "abc", strength: nil), form(app: "abc", strength: nil, detail: ""),
            form(app: "abc", strength: nil, contacts: []), form(app: "abc\u{0}", strength: nil),
        ]
        #expect(Set(forms).count == forms.count)
    }

    @Test("The hash of a record can be computed from its documented form")
    func documented() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let entry = try #require(try store.records(matching: AuditFilter(), after: nil, limit: 1).first)
        func number(_ value: Int64) -> [UInt8] {
            [8, 0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        func text(_ text: String) -> [UInt8] { [UInt8(text.utf8.count), 0, 0, 0] + Array(text.utf8) }
        let absent: [UInt8] = [255, 255, 255, 255]
        var bytes: [UInt8] = [1] + [UInt8](repeating: 0, count: 32)
        bytes += number(1) + number(entry.time) + number(Int64(entry.uid)) + text("") + absent + text("start")
        for _ in 0..<7 { bytes += absent }
        var hash = [UInt8](repeating: 0, count: 32)
        try #require(ccrypto_sha256(bytes, bytes.count, &hash) == 1)
        #expect(Hexadecimal.text(hash) == entry.hash)
        #expect(entry.previous == String(repeating: "0", count: 64))
    }
}
