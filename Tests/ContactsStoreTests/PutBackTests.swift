import BrokerBounds
import BrokerModel
import BrokerSQLite
import Glibc
import Testing

@testable import BrokerContactsStore

@Suite("Putting back what saves changed")
struct PutBackTests {
    private static let (ada, bob) = (RecordNumber(BinSample.ada), RecordNumber(BinSample.bob))

    private static func outcomes(_ result: PutBackResult) -> [Int64: PutBackResult.Item.Outcome] {
        Dictionary(result.items.map { ($0.record.rawValue, $0.outcome) }) { first, _ in first }
    }

    @Test("A deleted contact comes back with everything that it had, under its number")
    func deleted() throws {
        let sample = try BinSample()
        let (book, before) = (sample.book, try sample.book.content())
        try book.save([.delete(Self.ada)], as: .mail)
        #expect(try book.contact(1) == nil)
        let save = try book.lastSave()
        let request = PutBackRequest.contact(Self.ada, save: save)
        #expect(Self.outcomes(try book.store.wouldPutBack(request)) == [1: .returned])
        let made = try book.store.putBack(request, at: 200)
        #expect(Self.outcomes(made) == [1: .returned])
        try book.expectContent(before)
        #expect(Set(made.changes.map(\.kind)).isSuperset(of: [.addContact, .addMember]))
        #expect(made.changes.allSatisfy { $0.author == .nobody })
        #expect(try book.records(.all, .name("lovelace")) == [1, 3])
        // Put back again, it is what it was already.
        #expect(Self.outcomes(try book.store.putBack(request, at: 300)) == [1: .changed])
        try book.expectContent(before)
        try book.expectCounted()
    }

    @Test("Everything of a save comes back at once", arguments: [true, false])
    func wholeSave(bySave: Bool) throws {
        let sample = try BinSample()
        let (book, before) = (sample.book, try sample.book.content())
        try book.save(
            [
                .group(.rename(RecordNumber(20), name: "Other")), .update(Self.bob, person("Eve"), keys: .all),
                .group(.removeMember(Self.bob, from: RecordNumber(20))), .delete(Self.ada),
                .link(.link(RecordNumber(3), RecordNumber(4))), .link(.unlink(RecordNumber(4), from: Self.bob)),
                .group(.delete(RecordNumber(21))), .group(.setMe(Self.bob)), .delete(RecordNumber(4)),
                .container(.delete(RecordNumber(30))), .add(RecordNumber(50), person("Spam")),
                .group(.add(RecordNumber(51), name: "Spam", owner: BinApp.sync.author.app)),
                .group(.addMember(RecordNumber(50), to: RecordNumber(51))),
                .container(.add(RecordNumber(52), name: "Spam")),
            ], as: .sync)
        let request =
            bySave ? PutBackRequest.save(try book.lastSave()) : .app("sync", strength: "sandboxed", since: 100)
        let made = try book.store.putBack(request, at: 200)
        #expect(
            Self.outcomes(made) == [
                1: .returned, 2: .changed, 4: .returned, 20: .changed, 21: .returned, 50: .removed, 51: .removed,
            ])
        try book.expectContent(before)
        // The put-back is a save of the person, which can be put back itself.
        let back = try #require(try book.store.savesInBin(BinQuery()).first)
        #expect(back.author == .person && back.kind == .putBack && back.added == 2 && back.deleted == 1)
        _ = try book.store.putBack(.save(back.number), at: 300)
        #expect(try book.contact(1) == nil && book.contact(50)?.givenName == "Spam")
        #expect(try book.contact(2)?.givenName == "Eve")
        try book.expectCounted()
    }

    @Test("An app's saves are undone to before the first, and what it added and deleted itself does not come back")
    func sinceATime() throws {
        let sample = try BinSample()
        let book = sample.book
        try book.save([.update(Self.bob, person("Early"), keys: ContactKeySet(.givenName))], as: .mail, at: 100)
        let before = try book.content()
        try book.save([.update(Self.bob, person("One"), keys: ContactKeySet(.givenName))], as: .mail, at: 200)
        try book.save([.update(Self.bob, person("Two"), keys: ContactKeySet(.givenName))], as: .mail, at: 300)
        try book.save([.delete(Self.bob)], as: .mail, at: 400)
        try book.save(
            [.add(RecordNumber(60), person("Own")), .add(RecordNumber(61), person("Rest"))], as: .mail, at: 400)
        try book.save([.update(RecordNumber(61), person("More"), keys: ContactKeySet(.givenName))], as: .mail, at: 450)
        try book.save([.delete(RecordNumber(60))], as: .mail, at: 500)
        let request = PutBackRequest.app("mail", strength: nil, since: 200)
        #expect(Self.outcomes(try book.store.putBack(request, at: 600)) == [2: .returned, 61: .removed])
        try book.expectContent(before)
        #expect(try book.store.putBack(.app("nobody", strength: nil, since: 0), at: 700).items.isEmpty)
    }

    @Test("With one contact of a save, nothing is put back that the save linked beside it")
    func linksOfOthers() throws {
        let book = try Book()
        try book.save((1...4).map { .add(RecordNumber($0), person("Ada")) }, as: .mail)
        try book.save(
            [.link(.link(Self.ada, Self.bob)), .link(.link(RecordNumber(3), RecordNumber(4)))], as: .sync)
        _ = try book.store.putBack(.contact(Self.ada, save: book.lastSave()), at: 200)
        #expect(book.store.links.members(of: Self.ada) == [Self.ada])
        #expect(book.store.links.members(of: RecordNumber(3)) == [RecordNumber(3), RecordNumber(4)])
    }

    @Test(
        "Groups come back into each other although they were nested the other way meanwhile", arguments: [true, false])
    func nested(bySave: Bool) throws {
        let (family, club) = (RecordNumber(BinSample.family), RecordNumber(BinSample.club))
        let sample = try BinSample()
        let (book, before) = (sample.book, try sample.book.content())
        let steps: [ContactChange] = [
            .group(.removeSubgroup(family, from: club)), .group(.addSubgroup(club, to: family, visible: nil)),
        ]
        if bySave { try book.save(steps, as: .sync) } else { for step in steps { try book.save([step], as: .sync) } }
        _ = try book.store.putBack(
            bySave ? .save(book.lastSave()) : .app("sync", strength: nil, since: 100), at: 200)
        try book.expectContent(before)
    }

    @Test("That a member is shared with apps which have the group is undone, and undone again")
    func marks() throws {
        let sample = try BinSample()
        let (book, before) = (sample.book, try sample.book.content())
        try book.save([.group(.addMember(Self.ada, to: RecordNumber(BinSample.club)))], as: .sync)
        let after = try book.content()
        #expect(after["member"] != before["member"])
        for content in [before, after, before] {
            _ = try book.store.putBack(.save(book.lastSave()), at: 200)
            try book.expectContent(content)
        }
    }

    @Test("What somebody else has changed since stays as it is, unless forced")
    func conflicts() throws {
        let sample = try BinSample()
        let book = sample.book
        try book.save(
            [
                .update(Self.bob, person("Eve"), keys: ContactKeySet(.givenName)),
                .update(Self.ada, person("Eve"), keys: ContactKeySet(.givenName)),
                .add(RecordNumber(50), person("New")),
            ], as: .mail)
        let save = try book.lastSave()
        for record in [2, 50] as [Int64] {
            try book.save(
                [.update(RecordNumber(record), person { $0.nickname = "N" }, keys: ContactKeySet(.nickname))], as: .chat
            )
        }
        let made = try book.store.putBack(.save(save), at: 200)
        #expect(Self.outcomes(made) == [1: .changed, 2: .conflict, 50: .conflict])
        #expect(made.contacts(.conflict) == 2)
        #expect(try book.contact(1)?.givenName == "Ada")
        #expect(try book.contact(2)?.givenName == "Eve" && book.contact(50) != nil)
        let forced = try book.store.putBack(.save(save), isForced: true, at: 300)
        #expect(Self.outcomes(forced)[50] == .removed)
        #expect(try book.contact(2)?.givenName == "Bobby" && book.contact(2)?.nickname == "")
        #expect(try book.contact(50) == nil)
        // What the forced put-back replaced is in the bin, too.
        _ = try book.store.putBack(.save(try book.lastSave()), at: 400)
        #expect(try book.contact(2)?.givenName == "Eve" && book.contact(2)?.nickname == "N")
        #expect(try book.contact(50)?.nickname == "N")
    }

    @Test("Consecutive states share a photo, and each has its own when it is put back")
    func photos() throws {
        let book = try BinSample().book
        func rename(_ name: String) throws -> Int64 {
            try book.save([.update(Self.ada, person(name), keys: ContactKeySet(.givenName))], as: .mail)
            return try book.lastSave()
        }
        func replacePhoto(_ photo: String) throws -> Int64 {
            try book.save(
                [.update(Self.ada, person { $0.imageData = photo }, keys: ContactKeySet(.imageData))], as: .mail)
            return try book.lastSave()
        }
        let photos = { try book.folder.rows("SELECT count(*) FROM binPhoto")[0][0] }
        let image = { try book.folder.rows("SELECT CAST(imageData AS TEXT) FROM image WHERE record = 1").first?[0] }
        var saves = [try rename("One"), try rename("Two")]
        #expect(try photos() == "0")
        saves.append(try replacePhoto("QUJE"))
        #expect(try photos() == "1")
        saves.append(try rename("Three"))
        saves.append(try replacePhoto(""))
        saves.append(try rename("Four"))
        saves.append(try replacePhoto("QUJF"))
        #expect(try photos() == "2")
        let (first, second) = ("'\(BinSample.photo)'", "'QUJE'")
        let expected = [
            (0, "Ada", first), (1, "One", first), (2, "Two", first), (3, "Two", second), (4, "Three", second),
            (5, "Three", nil), (6, "Four", nil), (0, "Ada", first),
        ]
        for (index, name, photo) in expected {
            _ = try book.store.putBack(.contact(Self.ada, save: saves[index]), isForced: true, at: 200)
            #expect(try book.contact(1)?.givenName == name && image() == photo, "save \(index)")
            #expect(try book.contact(1)?.imageDataAvailable == (photo != nil))
        }
        #expect(
            try book.folder.rows("SELECT CAST(thumbnailImageData AS TEXT) FROM image WHERE record = 1") == [
                ["'/9j/TTTT'"]
            ])
        try book.expectCounted()
    }

    @Test("A value's identifier that was used after the state is not used again")
    func valueIdentifiers() throws {
        let book = try BinSample().book
        func phones() throws -> [Int?] { try #require(try book.contact(1)).phoneNumbers.map(\.identifier) }
        func save(_ values: [String], as app: BinApp) throws {
            let patch = person { $0.phoneNumbers = values.map { LabeledString(value: $0) } }
            try book.save([.update(Self.ada, patch, keys: ContactKeySet(.phoneNumbers))], as: app)
        }
        try save(["+49 30 8"], as: .mail)
        let first = try book.lastSave()
        try save(["+49 30 9"], as: .mail)
        #expect(try phones() == [4])
        try book.save([.delete(Self.ada)], as: .mail)
        _ = try book.store.putBack(.save(first), at: 200)
        #expect(try phones() == [1, 2])
        try save(["+49 30 7"], as: .chat)
        #expect(try phones() == [5])
    }

    @Test("Ten thousand deleted contacts with photos come back as they were")
    func many() throws {
        let book = try Book(
            (0..<10_000).map { index in
                person("Ada \(index)", "Lovelace") {
                    $0.phoneNumbers = [LabeledString(value: "+49 30 \(index)")]
                    $0.imageData = String(repeating: "QUJD", count: 500)
                }
            })
        try book.store.apply(
            [.group(.add(RecordNumber(20_000), name: "All", owner: [1]))]
                + (1...10_000).map { .group(.addMember(RecordNumber($0), to: RecordNumber(20_000))) }, at: 1)
        let before = try book.content()
        for start in stride(from: 1, to: 10_000, by: 2_000) {
            try book.save((start..<start + 2_000).map { .delete(RecordNumber(Int64($0))) }, as: .mail)
        }
        #expect(try book.store.count(ContactQuery(scope: .all)) == 0)
        let made = try book.store.putBack(.app("mail", strength: nil, since: 0), at: 200)
        #expect(made.contacts(.returned) == 10_000 && made.items.count == 10_000)
        try book.expectContent(before)
        #expect(try book.store.count(ContactQuery(scope: .all)) == 10_000)
        try book.expectCounted()
    }

    @Test("A crash leaves a save with its states, and a failed save leaves neither")
    func crashes() throws {
        let sample = try BinSample()
        let (book, before) = (sample.book, try sample.book.content())
        try book.save([.delete(Self.ada), .delete(Self.bob)], as: .mail)
        let save = try book.lastSave()
        let bin = try book.folder.rows("SELECT * FROM binItem")
        #expect(throws: ChangeError.recordDoesNotExist(index: 1)) {
            try book.save([.delete(RecordNumber(3)), .delete(RecordNumber(99))], as: .mail)
        }
        #expect(try book.folder.rows("SELECT * FROM binItem") == bin)
        try book.expectCounted()
        // A crash leaves the file and its log as they are.
        let crashed = try ScratchFolder()
        mkdir(crashed.book, 0o700)
        for name in ["", "-wal"] { write(contents(book.folder.file + name), to: crashed.file + name) }
        let again = try Book(in: crashed)
        #expect(Self.outcomes(try again.store.putBack(.save(save), at: 200)) == [1: .returned, 2: .returned])
        try again.expectContent(before)
    }

    @Test("On a full disk nothing is put back, and nothing leaves the bin")
    func fullDisk() throws {
        let sample = try BinSample()
        let (book, before) = (sample.book, try sample.book.content())
        try book.save([.delete(Self.ada)], as: .mail)
        let (save, after) = (try book.lastSave(), try book.content())
        try book.store.checkpoint()
        try book.store.write { writer in
            let pages = try #require(try writer.database.integer("PRAGMA page_count"))
            let free = try #require(try writer.database.integer("PRAGMA freelist_count"))
            try writer.database.execute(
                "CREATE TABLE filler (bytes BLOB); INSERT INTO filler VALUES (zeroblob(\(free * 4_096)))")
            try writer.database.execute("PRAGMA max_page_count = \(pages)")
        }
        #expect(throws: ChangeError.self) { try book.store.putBack(.save(save), at: 200) }
        try book.store.write { try $0.database.execute("PRAGMA max_page_count = 1000000") }
        try book.expectContent(after)
        #expect(Self.outcomes(try book.store.putBack(.save(save), at: 300)) == [1: .returned])
        try book.expectContent(before)
    }

    @Test("A restored backup does not fill the bin, and what was in it can still be put back")
    func restored() throws {
        let sample = try BinSample()
        let book = sample.book
        try book.save(
            [.delete(Self.bob), .update(Self.ada, person("Eve"), keys: ContactKeySet(.givenName))], as: .mail)
        let (save, bin) = (try book.lastSave(), try book.folder.rows("SELECT * FROM binItem"))
        let other = try Book([person("Ada")])
        other.store.close()
        let entry = OutgoingEntry(number: 1, bytes: [], takenOver: 0, anchor: AuditAnchor(sequence: 0, hash: []))
        _ = try book.store.replace(
            byBookIn: other.folder.book, by: .nobody, at: 150, outbox: entry, mustBeEmpty: false)
        #expect(try book.folder.rows("SELECT * FROM binItem") == bin)
        #expect(Self.outcomes(try book.store.putBack(.save(save), at: 200)) == [1: .conflict, 2: .conflict])
        let forced = try book.store.putBack(.save(save), isForced: true, at: 200)
        #expect(Self.outcomes(forced) == [1: .changed, 2: .returned])
        // The restored contact has no photo, and its former one is not in the bin.
        #expect(try book.contact(1)?.note == "Zymurgist" && book.contact(1)?.imageDataAvailable == false)
        #expect(try book.contact(2)?.givenName == "Bobby")
        try book.expectCounted()
    }

    @Test("A backup has nothing of the bin")
    func backup() throws {
        let book = try BinSample().book
        try book.save([.delete(Self.ada)], as: .mail)
        let copy = try BookCopy(of: book.folder.book, in: book.folder.path + "/copy")
        var cards: [Int64] = []
        while case let parts = try copy.next(1_000, bytes: .max), !parts.isEmpty {
            for part in parts {
                switch part {
                case .card(let card): cards.append(card.record.rawValue)
                case .row(let row): #expect(!row.table.name.hasPrefix("bin"))
                }
            }
        }
        #expect(cards == [2, 3, 4])
    }

    @Test("A save is listed with its author, its time and the contacts that it changed")
    func listed() throws {
        let book = try BinSample().book
        try book.save(
            [
                .delete(Self.ada), .update(Self.bob, person("Eve"), keys: ContactKeySet(.givenName)),
                .add(RecordNumber(50), person("New")),
            ], as: .mail, at: 100)
        try book.save([.update(RecordNumber(3), person("Cid"), keys: ContactKeySet(.givenName))], as: .chat, at: 200)
        let saves = try book.store.savesInBin(BinQuery())
        #expect(saves.prefix(2).map(\.author.app) == ["chat", "mail"] && saves.prefix(2).map(\.time) == [200, 100])
        #expect(saves[1].added == 1 && saves[1].changed == 1 && saves[1].deleted == 1)
        var query = BinQuery()
        query.app = "mail"
        #expect(try book.store.savesInBin(query) == [saves[1]])
        query = BinQuery()
        query.since = 150
        #expect(try book.store.savesInBin(query) == [saves[0]])
        query = BinQuery()
        (query.before, query.limit) = (saves[0].number, 1)
        #expect(try book.store.savesInBin(query) == [saves[1]])
        let contacts = try book.store.contactsInBin(of: saves[1].number, limit: 9)
        #expect(contacts.map(\.change) == [.deleted, .changed, .added])
        #expect(contacts.map { $0.contact.flatMap { Contact($0) }?.givenName } == ["Ada", "Bobby", "New"])
        #expect(try book.store.contactsInBin(of: saves[1].number, limit: 1).map(\.change) == [.deleted])
    }

    @Test("A book of the version before keeps everything from its migration on")
    func migration() throws {
        let sample = try BinSample()
        let before = try sample.book.content()
        sample.book.store.close()
        try sample.book.folder.execute(
            """
            DROP TABLE bin; DROP TABLE binSave; DROP TABLE binItem; DROP TABLE binPhoto;
            ALTER TABLE book DROP COLUMN binDays; ALTER TABLE book DROP COLUMN binSaves;
            ALTER TABLE book DROP COLUMN binDaysNext; ALTER TABLE book DROP COLUMN binDaysAt;
            ALTER TABLE contact DROP COLUMN sole; ALTER TABLE contactGroup DROP COLUMN sole;
            DELETE FROM grdb_migrations WHERE identifier GLOB '2[123]: *'; PRAGMA user_version = 20;
            """)
        let book = try Book(in: sample.book.folder)
        try book.expectContent(before)
        try book.save([.delete(Self.ada)], as: .mail)
        _ = try book.store.putBack(.save(try book.lastSave()), at: 200)
        try book.expectContent(before)
    }
}
