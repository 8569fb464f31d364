import BrokerAccessControl
import BrokerModel
import Testing

@testable import BrokerAccessStore

@Suite("Commits that fail")
struct BatchTests {
    private let fixture: StoreFixture
    private let store: AccessStore
    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    /// Appends more than fits on the disk, and expects the commit to fail.
    private func failToCommit() throws {
        try store.diskIsFull(true)
        store.discloseMuch()
        #expect {
            try store.commit()
        } throws: { error in
            if case .unavailable? = error as? AccessStoreError { true } else { false }
        }
    }

    private func reopened() throws -> AccessStore {
        store.close(now: fixture.now)
        return try fixture.open()
    }

    @Test("A failed commit leaves no record, and the chain continues from the last committed one")
    func chain() throws {
        let last = store.audit.last
        store.disclose(1)
        try failToCommit()
        #expect(store.audit.last == last && store.audit.last.sequence == 1)
        try store.diskIsFull(false)
        store.disclose(2)
        try store.commit()
        #expect(try store.events() == [.start, .disclosure])
        #expect(try store.verifyAll().brokenAt == nil)
        #expect(store.usage(of: mail).uses == 0)
    }

    @Test("A grant whose commit failed does not take effect")
    func grantIsTakenBack() throws {
        store.decide(.full, for: mail)
        try failToCommit()
        #expect(store.grant(of: mail) == nil)
        store.decide(.full, for: mail.bound(to: terminal), lifetime: .session)
        try failToCommit()
        #expect(store.grant(of: mail.bound(to: terminal)) == nil)
        try store.diskIsFull(false)
        try store.commit()
        #expect(try reopened().principals.isEmpty)
    }

    @Test("A widened grant whose commit failed is restored with its revision")
    func wideningIsTakenBack() throws {
        store.decide(.limited(to: contacts(1)), for: mail)
        try store.commit()
        let grant = store.grant(of: mail)
        store.widen(mail, with: contacts(2), at: beginning)
        try failToCommit()
        #expect(store.grant(of: mail) == grant)
        store.decide(.full, for: mail, keys: .all)
        try failToCommit()
        #expect(store.grant(of: mail) == grant)
        try store.diskIsFull(false)
        try store.commit()
        #expect(try reopened().grant(of: mail) == grant)
    }

    @Test("After a failed commit, added contacts are not granted, and removed ones stay removed")
    func rowsAreTakenBack() throws {
        store.decide(.limited(to: contacts(1, 2)), for: mail)
        try store.commit()
        store.widen(mail, with: contacts(3), at: beginning)
        store.drop(contacts(1), uid: 1_000, at: beginning)
        try failToCommit()
        // The removed contact stays removed, and the added one is not granted.
        #expect(store.access(of: mail) == .limited(to: contacts(2)))
        try store.diskIsFull(false)
        try store.commit()
        #expect(try reopened().access(of: mail) == .limited(to: contacts(2)))
    }

    @Test("A revocation whose commit failed still applies, and is written with its record once there is space")
    func revocationStays() throws {
        store.decide(.full, for: mail)
        store.decide(.limited(to: contacts(1, 2)), for: notes)
        store.decide(.full, for: elsewhere)
        try store.commit()
        store.decide(.denied, for: mail)
        store.decide(.limited(to: contacts(2, 3)), for: notes, keys: .names)
        store.removeGrant(of: elsewhere)
        store.audit.append(AuditRecord(time: 5, uid: 1_000, app: mail.app, strength: .claimed, event: .revocation))
        try failToCommit()
        func check(_ store: AccessStore) {
            #expect(store.access(of: mail) == .denied)
            #expect(store.access(of: notes) == .limited(to: contacts(2)))
            #expect(store.grant(of: notes)?.keys == .names)
            #expect(store.grant(of: elsewhere) == nil)
        }
        check(store)
        try failToCommit()
        check(store)
        try store.diskIsFull(false)
        #expect(store.hasUncommitted)
        try store.commit()
        #expect(try store.events() == [.start, .revocation])
        #expect(!store.hasUncommitted)
        check(try reopened())
    }

    @Test("A denied app whose reset could not be committed stays denied")
    func deniedStays() throws {
        store.decide(.denied, for: mail)
        try store.commit()
        store.removeGrant(of: mail)
        try failToCommit()
        #expect(store.access(of: mail) == .denied)
        store.decide(.full, for: mail)
        try failToCommit()
        #expect(store.access(of: mail) == .denied)
    }

    @Test("After a failed commit, the earlier of two end times applies")
    func earlierEnd() throws {
        store.decide(.full, for: mail, lifetime: .untilTime(100))
        store.decide(.full, for: notes)
        try store.commit()
        store.decide(.full, for: mail)
        store.decide(.full, for: notes, lifetime: .untilTime(50))
        try failToCommit()
        #expect(store.grant(of: mail)?.lifetime == .untilTime(100))
        #expect(store.grant(of: notes)?.lifetime == .untilTime(50))
    }

    @Test("An identifier key whose commit failed is not used")
    func keyIsTakenBack() throws {
        _ = try store.makeIdentifiers(for: mail, sharesPersistentKey: true)
        try failToCommit()
        #expect(store.identifiers(for: mail, sharesPersistentKey: true) == nil)
    }

    @Test("Record numbers that were taken before a failed commit are not used again")
    func recordNumbers() throws {
        let number = try #require(store.takeRecordNumbers(1, now: 5).first)
        try failToCommit()
        try store.diskIsFull(false)
        #expect(try #require(store.takeRecordNumbers(1, now: 5).first) > number)
    }

    @Test("On a full disk commits fail as unavailable, and succeed again once there is space")
    func fullDisk() throws {
        guard let disk = try SmallDisk(kilobytes: 256) else {
            print("skipped: mounting a small disk needs root")
            return
        }
        let store = try AccessStore.open(folder: disk.path + "/state", now: 1)
        var written = 1
        var failures = 0
        for number in 0..<2_000 where failures < 3 {
            store.disclose(Int64(number))
            do {
                try store.commit()
                written += 1
            } catch {
                failures += 1
                guard case .unavailable = error else { throw error }
            }
        }
        try #require(failures == 3)
        #expect(store.audit.last.sequence == Int64(written))
        #expect(try store.verifyAll().checked == written)
        try disk.grow(kilobytes: 2_048)
        store.disclose(-1)
        try store.commit()
        try store.walSync.sync(store.committed)
        #expect(try store.verifyAll().checked == written + 1)
        store.close(now: 2)
    }
}
