import BrokerAccessControl
import BrokerModel
import BrokerSQLite
import Testing

@testable import BrokerAccessStore

@Suite("After a crash")
struct CrashTests {
    private let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    /// Copies the files as a crash at this moment would leave them. If `size` is given, only that many bytes of the log
    /// remain.
    private func copy(log size: Int? = nil) throws -> StoreFixture {
        try fixture.copy { log in log.prefix(size ?? log.count) }
    }

    /// Grants one contact and records one disclosure, so that a test can compare both.
    private func step(_ number: Int64, _ store: AccessStore) throws {
        store.widen(mail, with: contacts(number), at: beginning)
        store.disclose(number)
        if number % 7 == 0 { _ = try store.checkpointer.run() }
        try store.commit()
    }

    @Test("After a crash at any time, all committed grants and records are there")
    func everyCommit() throws {
        let store = try fixture.open()
        store.decide(.limited(to: []), for: mail)
        try store.commit()
        for number in Int64(1)...30 {
            try step(number, store)
            let survivor = try copy().open()
            #expect(survivor.access(of: mail) == .limited(to: Set((1...number).map { RecordNumber($0) })))
            #expect(try survivor.events().filter { $0 == .disclosure }.count == Int(number))
            #expect(try survivor.events().suffix(2) == [.gap, .start])
            #expect(try survivor.verifyAll().brokenAt == nil)
        }
    }

    @Test("A log that is cut anywhere gives an earlier state with as many granted contacts as recorded disclosures")
    func anyByte() throws {
        let store = try fixture.open()
        // Only bytes that were never synced are cut here; LossTests cut synced ones.
        let synced = try StoreFixture.bytes(of: fixture.database + "-wal").count
        store.decide(.limited(to: []), for: mail)
        try store.commit()
        for number in Int64(1)...6 { try step(number, store) }
        let log = try StoreFixture.bytes(of: fixture.database + "-wal").count
        var seen: Set<Int> = []
        for size in Array(stride(from: synced, to: log, by: 397)) + [log] {
            let survivor = try copy(log: size).open()
            let recorded = try survivor.events().filter { $0 == .disclosure }.count
            seen.insert(recorded)
            if case .limited(let set)? = survivor.access(of: mail) {
                #expect(set.count == recorded)
            } else {
                #expect(recorded == 0)
            }
            #expect(survivor.loss == nil)
            #expect(try survivor.verifyAll().brokenAt == nil)
        }
        #expect(seen == Set(0...6))
    }

    @Test("After a crash the first of several equal records is there, and only their count may be missing")
    func counts() throws {
        let store = try fixture.open()
        for _ in 1...10 {
            store.disclose(1)
            try store.commit()
        }
        let survivor = try copy().open()
        #expect(try survivor.events() == [.start, .disclosure, .gap, .start])
        #expect(try survivor.verifyAll().brokenAt == nil)
        // The same disclosure after the restart gets a record of its own.
        survivor.disclose(1)
        #expect(survivor.hasUncommitted)
    }

    @Test("A save that an earlier version left unfinished is found, and missing contacts leave the granted set")
    func intents() throws {
        let numbers = [RecordNumber(7), RecordNumber(8)]
        let store = try fixture.open()
        store.decide(.limited(to: contacts(1).union(numbers)), for: mail)
        try store.commit()
        store.close(now: fixture.now)
        // Put the file into the state in which the earlier version left it.
        try fixture.tamper(
            """
            DROP TABLE declaredFolder; DROP TABLE groupShare; DROP TABLE unconfirmed; DROP TABLE cardDAVConnection; DROP TABLE changedContact; DROP TABLE auditSegment; DROP TABLE auditRemoval; DROP TABLE outboxMark; ALTER TABLE appGrant DROP COLUMN decision;
            ALTER TABLE appGrant DROP COLUMN decidedThrough; ALTER TABLE appGrant DROP COLUMN askedKeys;
            ALTER TABLE appGrant DROP COLUMN purposeHash; ALTER TABLE appGrant DROP COLUMN contactsRead;
            ALTER TABLE appGrant DROP COLUMN lastReadAt; ALTER TABLE appGrant DROP COLUMN changes; ALTER TABLE state DROP COLUMN forwarded;
            PRAGMA user_version = 4;
            INSERT INTO saveIntent VALUES (3, 1000, 'claimed', 'org.example.Mail', x'07000000000000000800000000000000')
            """)
        let survivor = try fixture.open()
        #expect(survivor.access(of: mail) == .limited(to: contacts(1).union(numbers)))
        #expect(survivor.openIntents() == [SaveIntent(id: 3, uid: 1_000, principal: mail, adds: numbers)])
        survivor.resolveSave(3, existing: [numbers[0]], at: beginning)
        try survivor.commit()
        #expect(survivor.openIntents().isEmpty)
        #expect(survivor.access(of: mail) == .limited(to: contacts(1).union([numbers[0]])))
        #expect(try survivor.file.writer?.connection.integer("SELECT count(*) FROM saveIntent") == 0)
    }

    @Test("A record number is never used twice, even if the clock goes back")
    func recordNumbers() throws {
        var store = try fixture.open()
        #expect(store.takeRecordNumbers(0, now: fixture.now).isEmpty)
        var all = store.takeRecordNumbers(3, now: fixture.now)
        #expect(all.first == RecordNumber(fixture.now))
        all += store.takeRecordNumbers(2, now: fixture.now)
        all += store.takeRecordNumbers(2, now: 5)
        try store.commit()
        store.close(now: fixture.now)
        store = try fixture.open()
        all += store.takeRecordNumbers(2, now: 5)
        all += store.takeRecordNumbers(1, now: fixture.now + 1_000)
        #expect(Set(all).count == 10)
        #expect(all == all.sorted())
        #expect(all.last == RecordNumber(fixture.now + 1_000))
    }

    @Test("After an older copy of the file was restored, record numbers continue from the clock")
    func restoredCopy() throws {
        let store = try fixture.open()
        let backup = try copy()
        let taken = store.takeRecordNumbers(3, now: fixture.now)
        try store.commit()
        let restored = try backup.open()
        #expect(Set(restored.takeRecordNumbers(3, now: fixture.now + 10)).isDisjoint(with: taken))
    }

    @Test("Syncing and checkpointing on another thread lose nothing while the loop commits")
    func aside() async throws {
        let store = try fixture.open()
        let (sync, committed) = (store.walSync, store.committed)
        let checkpointer = store.checkpointer
        let aside = Task.detached {
            for _ in 0..<50 {
                try sync.sync(committed)
                try checkpointer.run()
            }
        }
        for number in Int64(0)..<2_000 {
            store.disclose(number)
            try store.commit()
        }
        try await aside.value
        #expect(try store.verifyAll().checked == 2_001)
        #expect(store.walPages > 0)
        #expect(try copy().open().verifyAll().brokenAt == nil)
        store.close(now: 2)
        #expect(try StoreFixture.bytes(of: fixture.database).count > 2_000 * 100)
    }

    @Test("After a checkpoint the log is reused instead of growing")
    func logIsBounded() throws {
        let store = try fixture.open()
        var most = 0
        for number in Int64(0)..<3_000 {
            store.disclose(number)
            try store.commit()
            most = max(most, store.walPages)
            if store.walPages > Checkpointer.pages { #expect(try store.checkpointer.run() == 0) }
        }
        #expect(most > Checkpointer.pages)
        #expect(most < Checkpointer.pages + 20)
    }
}
