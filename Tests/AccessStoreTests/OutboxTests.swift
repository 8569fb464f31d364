import BrokerAccessControl
import BrokerBounds
import BrokerModel
import BrokerSQLite
import Testing

@testable import BrokerAccessStore

@Suite("Taking over entries of a book's outbox")
struct OutboxTests {
    private let fixture: StoreFixture
    private let store: AccessStore
    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    /// Copies the files as a crash at this moment would leave them. If `size` is given, only that many bytes of the log
    /// remain.
    private func copy(log size: Int? = nil) throws -> StoreFixture {
        try fixture.copy { log in log.prefix(size ?? log.count) }
    }

    private func begin(
        adding adds: [Int64] = [], deleting deletes: [Int64] = [], by principal: Principal = mail, single: Bool = false
    ) throws -> BegunSave {
        var contents = SaveContents()
        contents.adds = adds.map { RecordNumber($0) }
        contents.deletes = deletes.map { RecordNumber($0) }
        contents.contacts = contents.adds + contents.deletes
        contents.count = contents.contacts.count
        contents.isKeptToSingle = single
        return try store.beginSave(contents, by: principal, now: fixture.now)
    }

    /// The audit's records of saves: the number of contacts, and the detail.
    private func saves(_ store: AccessStore) throws -> [String] {
        try store.records(matching: AuditFilter(), after: nil, limit: .max).filter { $0.event == .save }
            .map { "\($0.count ?? 0) \($0.detail ?? "")" }
    }

    @Test("A save that the access database lost after the acknowledgement is taken over once, however its log is cut")
    func everyByte() throws {
        store.decide(.limited(to: contacts(1)), for: mail)
        try store.commit()
        let save = try begin(adding: [7, 8])
        let first = try StoreFixture.bytes(of: fixture.database + "-wal").count
        #expect(store.endSave(save, change: 3))
        try store.commit()
        let log = try StoreFixture.bytes(of: fixture.database + "-wal").count
        var lost = 0
        for size in Array(stride(from: first, to: log, by: 211)) + [log] {
            let files = try copy(log: size)
            let survivor = try files.open()
            if survivor.outboxMark(of: 1_000) == 0 { lost += 1 }
            for _ in 1...2 {
                survivor.takeOver(save.entry, number: save.number, change: 3, of: 1_000, now: 9)
                try survivor.commit()
            }
            #expect(survivor.access(of: mail) == .limited(to: contacts(1, 7, 8)))
            #expect(try saves(survivor).map { $0.prefix(1) } == ["2"])
            #expect(try survivor.verifyAll().brokenAt == nil)
            survivor.close(now: fixture.now)
        }
        #expect(lost > 0)
    }

    @Test(
        "Entries are taken over in order: a contact that was added and then deleted is in no set, but in the history"
    )
    func order() throws {
        store.decide(.limited(to: contacts(1)), for: mail)
        store.decide(.limited(to: contacts(1)), for: notes)
        try store.commit()
        let before = try copy()
        var entries: [(number: Int64, bytes: [UInt8], change: Int64)] = []
        func save(_ save: BegunSave, _ change: Int64) {
            entries.append((save.number, save.entry, change))
            store.endSave(save, change: change)
        }
        save(try begin(adding: [7, 8]), 3)
        save(try begin(deleting: [1, 7], by: notes), 5)
        save(try begin(adding: [9]), 6)
        #expect(entries.map(\.number) == [1, 2, 3])
        let survivor = try before.open()
        for entry in entries {
            survivor.takeOver(entry.bytes, number: entry.number, change: entry.change, of: 1_000, now: 9)
        }
        try survivor.commit()
        for store in [store, survivor] {
            #expect(store.access(of: mail) == .limited(to: contacts(8, 9)))
            #expect(store.access(of: notes) == .limited(to: []))
            #expect(
                store.setHistory(of: mail)?.events.map { "\($0.kind) \($0.record.rawValue) \($0.change)" } == [
                    "deleted 1 5", "deleted 7 5",
                ])
        }
        #expect(
            try self.saves(survivor) == ["2 before a crash", "2 before a crash", "1 before a crash"])
        #expect(survivor.outboxMark(of: 1_000) == 3)
    }

    /// What may be decided about the app after its save and before the entry is taken over.
    static let decisions: [(String, @Sendable (AccessStore) -> Void)] = [
        ("reset", { $0.removeGrant(of: mail) }),
        ("ended", { $0.endGrant(of: mail) }),
        ("denied", { $0.decide(.denied, for: mail) }),
        ("narrowed", { $0.decide(.limited(to: []), for: mail) }),
        ("given as it was", { $0.decide(.limited(to: contacts(1)), for: mail) }),
        ("other keys", { $0.decide(.limited(to: contacts(1)), for: mail, keys: ContactKeySet([.givenName])) }),
        ("everything", { $0.decide(.full, for: mail) }),
        (
            "reset and given again",
            {
                $0.removeGrant(of: mail)
                $0.decide(.limited(to: contacts(1)), for: mail)
            }
        ),
        ("purged", { $0.beginPurge(of: 1_000) }),
    ]

    @Test(
        "A decision made since the save wins, and the save is still recorded",
        arguments: 0..<9)
    func decidedSince(index: Int) throws {
        let (name, decide) = Self.decisions[index]
        store.decide(.limited(to: contacts(1)), for: mail)
        try store.commit()
        let save = try begin(adding: [7], single: true)
        decide(store)
        try store.commit()
        let after = store.grant(of: mail)
        store.takeOver(save.entry, number: save.number, change: 3, of: 1_000, now: 9)
        try store.commit()
        #expect(store.grant(of: mail) == after, "\(name)")
        #expect(try saves(store) == ["1 before a crash"], "\(name)")
        store.takeOver(save.entry, number: save.number, change: 3, of: 1_000, now: 9)
        try store.commit()
        #expect(try saves(store).count == (name == "purged" ? 2 : 1), "\(name)")
    }

    @Test(
        "A decision during a save does not keep the saved contact out of the set, but the reply waits for a sync"
    )
    func givenMeanwhile() throws {
        store.decide(.limited(to: contacts(1)), for: mail)
        let save = try begin(adding: [7])
        store.decide(.limited(to: contacts(1, 2)), for: mail)
        #expect(!store.endSave(save, change: 3))
        #expect(store.access(of: mail) == .limited(to: contacts(1, 2, 7)))
        // A reset followed by a new decision makes another grant.
        let other = try begin(adding: [8])
        store.removeGrant(of: mail)
        store.decide(.limited(to: contacts(1)), for: mail)
        #expect(!store.endSave(other, change: 4))
        #expect(store.access(of: mail) == .limited(to: contacts(1)))
    }

    @Test("A save in a terminal session does not widen the app's persistent grant")
    func session() throws {
        store.decide(.limited(to: contacts(1)), for: mail)
        store.decide(.limited(to: contacts(2)), for: mail.bound(to: terminal), lifetime: .session)
        try store.commit()
        let before = try copy()
        let save = try begin(adding: [7], by: mail.bound(to: terminal))
        #expect(store.endSave(save, change: 3))
        #expect(store.access(of: mail.bound(to: terminal)) == .limited(to: contacts(2, 7)))
        #expect(store.access(of: mail) == .limited(to: contacts(1)))
        let survivor = try before.open()
        survivor.takeOver(save.entry, number: save.number, change: 3, of: 1_000, now: 9)
        #expect(survivor.access(of: mail) == .limited(to: contacts(1)))
    }

    @Test("A damaged entry is recorded as a save, and changes nothing else")
    func damaged() throws {
        store.decide(.limited(to: contacts(1)), for: mail)
        let save = try begin(adding: [7])
        var entries = save.entry.indices.map { index in
            var bytes = save.entry
            bytes[index] ^= 1
            return bytes
        }
        entries += [[], Array(save.entry.dropLast()), save.entry + [0]]
        for (index, entry) in entries.enumerated() {
            #expect(SaveNotice(entry, uid: 1_000, number: save.number) == nil)
            store.takeOver(entry, number: Int64(index + 1), change: 3, of: 1_000, now: 9)
        }
        // The entry is not valid for another book or another number.
        #expect(SaveNotice(save.entry, uid: 1_001, number: save.number) == nil)
        #expect(SaveNotice(save.entry, uid: 1_000, number: save.number + 1) == nil)
        #expect(SaveNotice(save.entry, uid: 1_000, number: save.number) == save.notice)
        try store.commit()
        #expect(store.access(of: mail) == .limited(to: contacts(1)))
        #expect(try saves(store) == entries.map { _ in "0 unreadable, before a crash" })
        #expect(store.outboxMark(of: 1_000) == Int64(entries.count))
    }

    @Test("Every field of a notice survives encoding", arguments: [nil, 5])
    func roundTrip(decision: Int64?) throws {
        let notice = SaveNotice(
            number: 4, uid: 7, strength: .unverified, app: "/usr/bin/ä ö", time: -5, count: 300,
            detail: decision.map { "\($0)" },
            adds: [3, 2, .max, .min, 0].map { RecordNumber($0) }, deletes: (0..<300).map { RecordNumber($0) },
            contacts: [],
            lastNumber: .max, decision: decision, isKeptToSingle: decision != nil)
        #expect(SaveNotice(try #require(notice.encoded()), uid: 7, number: 4) == notice)
    }

    @Test("Saves whose commit failed are taken over by the next commit, once and in order")
    func fullDisk() throws {
        store.decide(.limited(to: contacts(1)), for: mail)
        try store.commit()
        try store.diskIsFull(true)
        let first = try begin(adding: [7])
        store.endSave(first, change: 3)
        store.discloseMuch()
        #expect(throws: AccessStoreError.self) { try store.commit() }
        #expect(store.hasUndelivered && store.hasUncommitted)
        #expect(store.access(of: mail) == .limited(to: contacts(1)))
        #expect(store.outboxMark(of: 1_000) == 0)
        let second = try begin(adding: [8])
        #expect(second.number == first.number + 1)
        store.endSave(second, change: 4)
        store.discloseMuch()
        #expect(throws: AccessStoreError.self) { try store.commit() }
        // The book may be opened again meanwhile.
        store.takeOver(first.entry, number: first.number, change: 3, of: 1_000, now: 9)
        try store.diskIsFull(false)
        try store.commit()
        #expect(!store.hasUndelivered)
        #expect(store.access(of: mail) == .limited(to: contacts(1, 7, 8)))
        #expect(try saves(store) == ["1 ", "1 "])
        #expect(store.outboxMark(of: 1_000) == second.number)
        #expect(try store.verifyAll().brokenAt == nil)
    }

    @Test("If too many saves could not be recorded, further saves are refused")
    func bound() throws {
        for number in 0..<StoreLimits.undeliveredSaves {
            store.endSave(try begin(adding: [Int64(number)]), change: 3)
        }
        #expect(throws: AccessStoreError.self) { try begin(adding: [5_000]) }
        try store.commit()
        #expect(try begin(adding: [5_000]).number == Int64(StoreLimits.undeliveredSaves + 1))
    }

    @Test("An entry counts as taken over only once its commit is synced")
    func takenOver() throws {
        let first = try begin(adding: [7])
        store.endSave(first, change: 3)
        try store.commit()
        #expect(try begin().takenOver == 0)
        let committed = store.committed
        let second = try begin(adding: [8])
        store.endSave(second, change: 4)
        try store.commit()
        store.noteOnDisk(committed)
        #expect(try begin().takenOver == first.number)
        // An older sync that ends later changes nothing.
        store.noteOnDisk(store.committed)
        store.noteOnDisk(committed)
        #expect(try begin().takenOver == second.number)
    }

    @Test("A decision counts as unsynced until its commit is synced")
    func decisions() throws {
        #expect(!store.hasDecisionsOffDisk)
        for decide in [
            { store.decide(.full, for: mail) },
            { _ = try? store.makeIdentifiers(for: mail, sharesPersistentKey: true) },
            { store.endGrant(of: mail) }, { store.removeGrant(of: mail) },
        ] {
            decide()
            #expect(store.hasDecisionsOffDisk)
            try store.commit()
            #expect(store.hasDecisionsOffDisk)
            store.noteOnDisk(store.committed)
            #expect(!store.hasDecisionsOffDisk)
        }
        store.widen(mail, with: contacts(3), at: beginning)
        store.disclose(1)
        try store.commit()
        #expect(!store.hasDecisionsOffDisk)
    }

    @Test("Record numbers of a lost save are not used again, even if the clock goes back")
    func recordNumbers() throws {
        let before = try copy()
        let numbers = store.takeRecordNumbers(3, now: fixture.now)
        let save = try begin(adding: [numbers[0].rawValue])
        let survivor = try before.open()
        survivor.takeOver(save.entry, number: save.number, change: 3, of: 1_000, now: 5)
        #expect(try #require(survivor.takeRecordNumbers(1, now: 5).first) > numbers[2])
    }

    @Test("Entries of an older copy of the book are known, and the next entry has a new number")
    func olderBook() throws {
        let old = try begin(adding: [7])
        store.endSave(old, change: 3)
        for number in Int64(8)...9 { store.endSave(try begin(adding: [number]), change: number) }
        try store.commit()
        store.takeOver(old.entry, number: old.number, change: 3, of: 1_000, now: 9)
        #expect(!store.hasUncommitted)
        #expect(try begin().number == 4)
    }

    @Test(
        "In an older copy of the access database, an entry for a later decision is recorded and changes no grant"
    )
    func olderFile() throws {
        store.decide(.limited(to: contacts(1)), for: mail)
        try store.commit()
        let backup = try copy()
        store.removeGrant(of: mail)
        store.decide(.limited(to: contacts(2)), for: mail)
        let save = try begin(adding: [7])
        store.endSave(save, change: 3)
        try store.commit()
        let restored = try backup.open()
        restored.takeOver(save.entry, number: save.number, change: 3, of: 1_000, now: 9)
        try restored.commit()
        #expect(restored.access(of: mail) == .limited(to: contacts(1)))
        #expect(try saves(restored) == ["1 before a crash"])
    }

    @Test("After a purge, the UID's next book starts with its first entry")
    func purge() throws {
        store.endSave(try begin(adding: [7]), change: 3)
        try store.commit()
        store.beginPurge(of: 1_000)
        // A save that ends during the purge is recorded and leaves no mark.
        store.endSave(try begin(adding: [8]), change: 4)
        try store.commit()
        store.endPurge(of: 1_000)
        try store.commit()
        #expect(try saves(store).count == 2)
        store.close(now: fixture.now)
        let next = try fixture.open()
        #expect(next.outboxMark(of: 1_000) == 0)
        #expect(try next.file.writer?.connection.integer("SELECT count(*) FROM outboxMark") == 0)
    }
}
