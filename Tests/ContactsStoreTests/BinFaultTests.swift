import BrokerBounds
import BrokerModel
import BrokerSQLite
import Testing

@testable import BrokerContactsStore

@Suite("The bin on a full disk, with a wrong clock, and when a backup is restored")
struct BinFaultTests: SpaceSteps {
    private static let day: Int64 = 86_400
    private static let (ada, bob, dan) = (
        RecordNumber(BinSample.ada), RecordNumber(BinSample.bob), RecordNumber(BinSample.dan)
    )

    @Test("On a full disk a deletion fails, and neither the contact nor anything in the bin is lost")
    func fullDisk() throws {
        let book = try BinSample().book
        let start = try book.content()
        try book.save([.delete(Self.bob)], as: .mail)
        let (before, bin) = (try book.content(), try book.folder.rows("SELECT * FROM binItem"))
        try book.store.checkpoint()
        try book.store.write { writer in
            let pages = try #require(try writer.database.integer("PRAGMA page_count"))
            let free = try #require(try writer.database.integer("PRAGMA freelist_count"))
            try writer.database.execute(
                "CREATE TABLE filler (bytes BLOB); INSERT INTO filler VALUES (zeroblob(\(free * 4_096)))")
            try writer.database.execute("PRAGMA max_page_count = \(pages)")
        }
        #expect(throws: ChangeError.self) { try book.save([.delete(Self.ada)], as: .mail) }
        try book.expectContent(before)
        #expect(try book.folder.rows("SELECT * FROM binItem") == bin)
        try book.expectCounted()
        try book.store.write { try $0.database.execute("PRAGMA max_page_count = 1000000") }
        try book.save([.delete(Self.ada)], as: .mail)
        #expect(try book.store.putBack(.app("mail", strength: nil, since: 0), at: 200).contacts(.returned) == 2)
        try book.expectContent(start)
    }

    @Test("A clock that is set back by a month loses nothing, then or when it is right again")
    func setBack() throws {
        let (book, now) = (try BinSample().book, 100 * Self.day)
        let before = try book.content()
        try book.save([.delete(Self.ada)], as: .mail, at: now)
        try book.save([.delete(Self.bob)], as: .mail, at: now - 30 * Self.day)
        #expect(try !book.store.expireBin(at: now - 30 * Self.day))
        try book.save([.delete(Self.dan)], as: .chat, at: now)
        // The newest first, because a set of linked cards needs its cards.
        for app in ["chat", "mail"] {
            _ = try book.store.putBack(.app(app, strength: nil, since: 0), at: now)
        }
        try book.expectContent(before)
        try book.expectCounted()
    }

    @Test("A clock that jumps ahead by a month empties the bin of the saves before, but not of the one that notices")
    func ahead() throws {
        let (book, now) = (try BinSample().book, 100 * Self.day)
        try book.save([.delete(Self.ada)], as: .mail, at: now)
        let before = try book.content()
        try book.save([.delete(Self.bob)], as: .mail, at: now + 31 * Self.day)
        #expect(try book.store.savesInBin(BinQuery()).map(\.deleted) == [1])
        // The clock is right again.
        try book.save([.delete(Self.dan)], as: .chat, at: now)
        _ = try book.store.putBack(.save(try book.lastSave()), at: now)
        #expect(try book.store.putBack(.app("mail", strength: nil, since: 0), at: now).contacts(.returned) == 1)
        try book.expectContent(before)
        try book.expectCounted()
    }

    @Test("A backup is restored although every part of the bin is full, and nothing in it is pushed out")
    func restoredWhenFull() throws {
        var bounds = SpaceBounds()
        for portion in [\SpaceBounds.binOfAssumableApps, \.binOfOtherApps, \.binOfPerson] {
            bounds[keyPath: portion] = Int64(2 * megabyte)
        }
        let book = try Book((0..<6).map { index in person("Ada \(index)") { $0.imageData = photo } }, space: bounds)
        let refusal = ChangeError.binFull(most: Int64(2 * megabyte))
        for (app, record) in [(BinApp.mail, 1), (.sync, 3)] as [(BinApp, Int64)] {
            try book.save([.delete(RecordNumber(record))], as: app)
            #expect(throws: refusal) { try book.save([.delete(RecordNumber(record + 1))], as: app) }
        }
        try book.store.apply([.delete(RecordNumber(5))], at: 100)
        let bin = try book.folder.rows("SELECT * FROM binItem")
        let other = try Book([person("Eve")])
        other.store.close()
        let entry = OutgoingEntry(number: 1, bytes: [], takenOver: 0, anchor: AuditAnchor(sequence: 0, hash: []))
        _ = try book.store.replace(
            byBookIn: other.folder.book, by: .nobody, at: 150, outbox: entry, mustBeEmpty: false)
        #expect(try book.folder.rows("SELECT * FROM binItem") == bin)
        #expect(try book.store.savesInBin(BinQuery()).first?.kind == .restore)
        for app in ["mail", "sync"] {
            let made = try book.store.putBack(.app(app, strength: nil, since: 0), isForced: true, at: 200)
            #expect(made.contacts(.lost) == 0 && made.items.count == 1)
        }
        #expect(try book.contact(3)?.givenName == "Ada 2")
        try book.expectCounted()
    }
}
