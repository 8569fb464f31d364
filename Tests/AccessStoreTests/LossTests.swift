import BrokerAccessControl
import BrokerModel
import Glibc
import Testing

@testable import BrokerAccessStore

/// Synced data that is missing at the next start. SQLite does not report it: its recovery ends at the first damaged
/// frame.
@Suite("Loss of synced records")
struct LossTests {
    private let fixture: StoreFixture
    private let store: AccessStore
    /// The size of the log at its last sync.
    private let synced: Int

    /// One app got full access, which was then revoked; both are synced. A disclosure to another app is only committed.
    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
        store.decide(.full, for: mail)
        store.decide(.limited(to: contacts(1)), for: notes)
        try store.commit()
        try store.walSync.sync(store.committed)
        store.decide(.denied, for: mail)
        store.audit.append(
            AuditRecord(
                time: 1, uid: mail.uid, app: mail.app, strength: mail.strength, event: .revocation, status: .denied))
        try store.commit()
        try store.walSync.sync(store.committed)
        synced = try StoreFixture.bytes(of: fixture.database + "-wal").count
        store.disclose(1, to: notes)
        try store.commit()
    }

    /// Expects that everything synced is there, or that a loss is reported and neither app has access. Returns whether
    /// data is lost.
    private func expectNoSilentLoss(_ copy: StoreFixture, _ comment: Comment) throws -> Bool {
        let survivor = try copy.open()
        #expect(
            survivor.access(of: mail) == .denied || survivor.loss != nil && survivor.access(of: mail) == nil, comment)
        guard let loss = survivor.loss else {
            #expect(try survivor.events().starts(with: [.start, .revocation]), comment)
            #expect(survivor.access(of: notes) == .limited(to: contacts(1)), comment)
            #expect(try survivor.verifyAll().brokenAt == nil, comment)
            return false
        }
        #expect(survivor.access(of: notes) ?? .denied == .denied, comment)
        #expect(loss.synced == 2, comment)
        #expect(try survivor.verifyAll().brokenAt == loss.found + 1, comment)
        let gaps = try survivor.records(matching: AuditFilter(event: .gap), after: nil, limit: 9)
        #expect(gaps.map(\.detail) == [loss.description], comment)
        return true
    }

    @Test("A changed byte anywhere in the synced log undoes no revocation")
    func flippedByte() throws {
        var lost = 0
        for place in stride(from: 0, to: synced, by: 61) {
            let copy = try fixture.copy { log in
                var log = log
                log[place] ^= 0x10
                return log[...]
            }
            if try expectNoSilentLoss(copy, "byte \(place)") { lost += 1 }
        }
        #expect(lost > 10)
    }

    @Test("A log that is cut before the end of its synced part is a loss, and undoes no revocation")
    func cut() throws {
        for size in stride(from: 0, to: synced, by: 397) {
            let isNamed = try expectNoSilentLoss(try fixture.copy { $0.prefix(size) }, "\(size) bytes")
            #expect(isNamed, "\(size) bytes")
        }
    }

    @Test("Missing records that were never synced are an ordinary gap")
    func unsynced() throws {
        for size in synced...synced + 40 {
            let survivor = try fixture.copy { $0.prefix(size) }.open()
            #expect(survivor.loss == nil)
            #expect(survivor.access(of: notes) == .limited(to: contacts(1)))
            #expect(try survivor.events() == [.start, .revocation, .gap, .start])
        }
    }

    @Test("After a loss, verification reports the place at every later start")
    func lasts() throws {
        let copy = try fixture.copy { $0.prefix(100) }
        var survivor: AccessStore? = try copy.open()
        #expect(survivor?.loss == AuditLoss(synced: 2, found: 0))
        survivor?.close(now: 9)
        survivor = nil
        for _ in 1...2 {
            survivor = try copy.open()
            #expect(survivor?.loss == nil)
            #expect(try survivor?.verifyAll().brokenAt == 1)
            survivor?.close(now: 9)
            survivor = nil
        }
    }

    @Test("Grants that an older file would restore are denied, and stay denied")
    func olderFile() throws {
        let older = try StoreFixture()
        var first: AccessStore? = try older.open()
        first?.decide(.full, for: mail)
        try first?.commit()
        first?.close(now: 2)
        first = nil
        let backup = try StoreFixture.bytes(of: older.database)
        var second: AccessStore? = try older.open()
        second?.decide(.denied, for: mail)
        second?.disclose(1)
        try second?.commit()
        second?.close(now: 3)
        second = nil
        try StoreFixture.write(backup, to: older.database)
        for _ in 1...2 {
            let store = try older.open()
            #expect(store.access(of: mail) == .denied)
            #expect(try store.records(matching: AuditFilter(event: .gap), after: nil, limit: 9).count == 1)
            store.close(now: 4)
        }
    }

    @Test("A missing or damaged position is a loss, but one torn slot is not")
    func position() throws {
        for damage in ["missing", "empty", "noise"] {
            let copy = try fixture.copy()
            switch damage {
            case "missing": unlink(copy.position)
            case "empty": try StoreFixture.write([], to: copy.position)
            default: try StoreFixture.write((0..<8_192).map { UInt8(truncatingIfNeeded: $0 &* 7) }, to: copy.position)
            }
            let survivor = try copy.open()
            #expect(survivor.loss == AuditLoss(synced: nil, found: 3), "\(damage)")
            #expect(survivor.access(of: notes) == .denied, "\(damage)")
        }
        for slot in [0, 4_096] {
            let copy = try fixture.copy()
            var bytes = try StoreFixture.bytes(of: copy.position)
            for place in slot + 16..<slot + 40 { bytes[place] ^= 0xFF }
            try StoreFixture.write(bytes, to: copy.position)
            let survivor = try copy.open()
            #expect(survivor.loss == nil)
            #expect(survivor.access(of: notes) == .limited(to: contacts(1)))
        }
    }

    @Test("A store of the previous version has no position yet, which is not a loss")
    func upgrade() throws {
        let copy = try fixture.copy()
        try copy.tamper(
            "DROP TABLE declaredFolder; DROP TABLE groupShare; DROP TABLE unconfirmed; DROP TABLE cardDAVConnection; DROP TABLE changedContact; DROP TABLE auditSegment; DROP TABLE auditRemoval; "
                + "ALTER TABLE appGrant DROP COLUMN decidedThrough; ALTER TABLE appGrant DROP COLUMN askedKeys; "
                + "ALTER TABLE appGrant DROP COLUMN contactsRead; ALTER TABLE appGrant DROP COLUMN lastReadAt; "
                + "ALTER TABLE appGrant DROP COLUMN changes; "
                + "ALTER TABLE appGrant DROP COLUMN purposeHash; ALTER TABLE state DROP COLUMN forwarded; "
                + "ALTER TABLE outboxMark DROP COLUMN change; "
                + "PRAGMA user_version = 5"
        )
        unlink(copy.position)
        let survivor = try copy.open()
        #expect(survivor.loss == nil)
        #expect(survivor.access(of: notes) == .limited(to: contacts(1)))
        survivor.close(now: 9)
        unlink(copy.position)
        #expect(try copy.open().loss == AuditLoss(synced: nil, found: 6))
    }

    @Test("After a failed sync every later one fails, even if the file has returned")
    func failedSync() throws {
        let log = fixture.database + "-wal"
        try #require(rename(log, log + ".away") == 0)
        #expect(throws: AccessStoreError.removed(path: fixture.database)) { try store.walSync.sync(store.committed) }
        try #require(rename(log + ".away", log) == 0)
        #expect(throws: AccessStoreError.self) { try store.walSync.sync(store.committed) }
    }

    @Test("A removed file is reported", arguments: ["access.sqlite-wal"])
    func removed(file: String) throws {
        try #require(unlink(fixture.folder + "/" + file) == 0)
        #expect(throws: AccessStoreError.removed(path: fixture.database)) { try store.checkFiles() }
    }
}
