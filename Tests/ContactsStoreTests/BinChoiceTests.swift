import BrokerBounds
import BrokerModel
import Testing

@testable import BrokerContactsStore

@Suite("What the person decides about the bin")
struct BinChoiceTests: SpaceSteps {
    private static let day: Int64 = 86_400
    private static let (ada, bob, dan) = (RecordNumber(1), RecordNumber(2), RecordNumber(4))

    private func days(_ book: Book, at seconds: Int64) throws -> [Int64?] {
        let days = try book.store.bin(at: seconds).days
        return [days.days, days.shorter?.days, days.shorter?.time]
    }

    private func outcomes(_ result: PutBackResult) -> [Int64: PutBackResult.Item.Outcome] {
        Dictionary(result.items.map { ($0.record.rawValue, $0.outcome) }) { first, _ in first }
    }

    // MARK: Days

    @Test("Fewer days take effect after 24 hours, and not while the clock is set back")
    func shorter() throws {
        let book = try BinSample().book
        #expect(try days(book, at: 100) == [30, nil, nil])
        try book.set(binDays: 5, at: 100)
        #expect(try days(book, at: 99 + Self.day) == [30, 5, 100 + Self.day])
        #expect(try days(book, at: 100 + Self.day) == [5, nil, nil])
        #expect(try days(book, at: -400 * Self.day) == [30, 5, 100 + Self.day])
        try book.save([.delete(Self.ada)], as: .mail, at: 100)
        _ = try book.store.expireBin(at: 100)
        #expect(try book.hasText("Zymurgist"))
        // The choice of a clock that was ahead waits for that clock.
        try book.set(binDays: 4, at: 1_000 * Self.day)
        #expect(try days(book, at: 2 * Self.day) == [5, 4, 1_001 * Self.day])
    }

    @Test("Another choice replaces one that is not in effect: fewer days wait anew, and more or as many apply at once")
    func replaced() throws {
        for longer: Int64? in [60, nil, 30] {
            let book = try BinSample().book
            try book.set(binDays: 5, at: 0)
            #expect(try book.store.set(binDays: longer, mayShorten: false, at: Self.day - 1))
            #expect(try days(book, at: 9 * Self.day) == [longer ?? 30, nil, nil])
        }
        let book = try BinSample().book
        try book.set(binDays: 5, at: 0)
        try book.set(binDays: 10, at: Self.day - 1)
        #expect(try days(book, at: 2 * Self.day - 2) == [30, 10, 2 * Self.day - 1])
        // The default is less than what is in effect.
        try book.set(binDays: 60, at: 0)
        try book.set(binDays: nil, at: 0)
        #expect(try days(book, at: 1) == [60, 30, Self.day])
        #expect(try days(book, at: Self.day) == [30, nil, nil])
    }

    @Test("Fewer days are refused where they may not be set, also than days that were shortened before")
    func refused() throws {
        let book = try BinSample().book
        try book.set(binDays: 10, at: 0)
        for (wanted, seconds, isLonger): (Int64?, Int64, Bool) in [
            (0, 1, false), (29, 1, false), (9, Self.day, false), (10, Self.day, true), (nil, Self.day, true),
        ] {
            let before = try book.folder.rows("SELECT binDays, binDaysNext, binDaysAt FROM book")
            #expect(try book.store.set(binDays: wanted, mayShorten: false, at: seconds) == isLonger)
            let after = try book.folder.rows("SELECT binDays, binDaysNext, binDaysAt FROM book")
            #expect((before == after) == !isLonger, "\(wanted ?? -1)")
        }
    }

    @Test("The days survive when the book is opened again, and when a backup is restored")
    func lasting() throws {
        let book = try BinSample().book
        try book.set(binDays: 5, at: 100)
        book.store.close()
        let again = try Book(in: book.folder)
        #expect(try days(again, at: 100) == [30, 5, 100 + Self.day])
        let other = try Book([person("Ada")])
        other.store.close()
        let entry = OutgoingEntry(number: 1, bytes: [], takenOver: 0, anchor: AuditAnchor(sequence: 0, hash: []))
        _ = try again.store.replace(
            byBookIn: other.folder.book, by: .nobody, at: 150, outbox: entry, mustBeEmpty: false)
        #expect(try days(again, at: 100) == [30, 5, 100 + Self.day])
    }

    @Test("A book of the version before gets the default or what it had")
    func migration() throws {
        let book = try BinSample().book
        try book.set(binDays: 60, at: 0)
        book.store.close()
        try book.folder.execute(
            """
            ALTER TABLE book DROP COLUMN binDaysNext; ALTER TABLE book DROP COLUMN binDaysAt;
            DROP INDEX binSaveByGroup;
            \(["groupToken", "label", "takesBack", "takenBack", "partial"].map { "ALTER TABLE binSave DROP COLUMN \($0);" }.joined())
            DELETE FROM grdb_migrations WHERE identifier GLOB '2[23]: *'; PRAGMA user_version = 21;
            """)
        #expect(try days(Book(in: book.folder), at: 100) == [60, nil, nil])
    }

    @Test("Days that no choice allows are not taken at their word")
    func damaged() throws {
        let book = try BinSample().book
        for (text, expected): (String, [Int64?]) in [
            ("binDays = 99999", [3_650, nil, nil]), ("binDays = -1", [0, nil, nil]),
            ("binDays = 5, binDaysNext = 99, binDaysAt = 1", [5, nil, nil]),
            ("binDays = 5, binDaysNext = -9, binDaysAt = 1", [0, nil, nil]),
        ] {
            try book.folder.execute("UPDATE book SET \(text)")
            #expect(try days(book, at: 100) == expected)
        }
    }

    // MARK: Emptying

    @Test("Emptying leaves no text in any file, and what is deleted later is kept again")
    func emptied() throws {
        let book = try BinSample().book
        try book.save([.delete(Self.ada), .delete(Self.bob)], as: .mail)
        let (save, before) = (try book.lastSave(), try book.content())
        #expect(try book.hasText("Zymurgist") && book.hasText("/9j/TTTT"))
        try book.store.emptyBin()
        #expect(book.store.leavesText)
        for text in ["Zymurgist", "/9j/TTTT", "QUJDQUJD", "Bobby"] { #expect(try !book.hasText(text), "\(text)") }
        try book.expectContent(before)
        #expect(try book.store.bin(at: 100).saves == 0 && book.store.savesInBin(BinQuery()).isEmpty)
        #expect(try book.store.putBack(.save(save), at: 200).items.isEmpty)
        try book.save([.delete(Self.dan)], as: .mail)
        #expect(try book.lastSave() == save + 1)
        #expect(try outcomes(book.store.putBack(.save(save + 1), at: 300)) == [4: .returned])
        try book.expectCounted()
    }

    // MARK: One contact

    @Test("Removing a contact leaves nothing of it in any file, and the rest of its saves can be put back")
    func removed() throws {
        let book = try BinSample().book
        let before = try book.content()
        try book.save(
            [.update(Self.ada, person("Eve"), keys: ContactKeySet(.givenName)), .delete(Self.bob)], as: .chat)
        let first = try book.lastSave()
        try book.save([.delete(Self.ada), .delete(Self.dan)], as: .mail, at: 200)
        let second = try book.lastSave()
        let texts = ["Zymurgist", "QUJDQUJD", "/9j/TTTT", "+49 30 1", "X-ONE"]
        for text in texts { #expect(try book.hasText(text), "\(text)") }
        let rows = try book.folder.rows("SELECT count(*) FROM binItem WHERE subject = 1 AND record = 1")
        #expect(try [["\(book.store.removeFromBin(Self.ada))"]] == rows)
        #expect(book.store.leavesText)
        for text in texts { #expect(try !book.hasText(text), "\(text)") }
        try book.expectCounted()
        #expect(
            try book.folder.rows("SELECT count(*) FROM binItem WHERE record = 1 AND checksum IS NOT NULL") == [["0"]])
        // The saves still say that they changed it.
        let contacts = try book.store.contactsInBin(of: second, limit: 9)
        #expect(contacts.map(\.change) == [.deleted, .deleted])
        #expect(contacts.map { $0.contact.flatMap { Contact($0) }?.givenName } == [nil, "Dan"])
        #expect(try outcomes(book.store.wouldPutBack(.save(first))) == [1: .conflict, 2: .returned])
        #expect(try outcomes(book.store.putBack(.save(second), at: 300)) == [1: .lost, 4: .returned])
        #expect(try outcomes(book.store.putBack(.save(first), isForced: true, at: 300)) == [1: .lost, 2: .returned])
        #expect(try book.contact(1) == nil)
        #expect(try book.content()["image"] == before["image"]?.filter { $0[0] == "2" })
        try book.expectCounted()
        // There is nothing left to remove.
        #expect(try book.store.removeFromBin(Self.ada) == 0)
    }

    @Test("An app cannot push out what a contact was after its removal, and that is what comes back")
    func nextState() throws {
        var bounds = SpaceBounds()
        bounds.binOfAssumableApps = Int64(4 * megabyte)
        let book = try Book([person("Ada") { $0.note = "First" }, person("Bob")], space: bounds)
        func change(_ note: String) throws {
            try book.save([.update(Self.ada, person { $0.note = note }, keys: ContactKeySet(.note))], as: .mail)
        }
        try change("Second")
        try change("Third")
        #expect(try book.store.removeFromBin(Self.ada) == 2)
        let removed = try book.content()
        try change("Fourth")
        try change("Fifth")
        let ranks = try book.folder.rows("SELECT rank FROM binItem WHERE subject = 1 ORDER BY number")
        #expect(ranks == [["2"], ["1"], ["2"], ["1"]])
        for round in 0..<12 { try change("\(round)" + String(repeating: "x", count: megabyte / 2)) }
        try book.save([.delete(Self.ada)], as: .mail)
        try book.expectCounted()
        let made = try book.store.putBack(.app("mail", strength: nil, since: 0), at: 200)
        #expect(outcomes(made) == [1: .returned])
        try book.expectContent(removed)
        try book.expectCounted()
    }

    @Test("A photo does not go to a row whose content was removed")
    func photo() throws {
        let book = try Book([person("Ada") { $0.imageData = photo }])
        try book.save([.update(Self.ada, person("Eve"), keys: ContactKeySet(.givenName))], as: .mail, at: 500)
        #expect(try book.store.removeFromBin(Self.ada) == 1)
        // The clock was set back, so the later save leaves the bin first.
        try book.save([.delete(Self.ada)], as: .mail, at: 100)
        #expect(try book.store.expireBin(at: 101 + 30 * Self.day))
        #expect(try book.folder.rows("SELECT flags & 4 FROM binItem WHERE subject = 1") == [["4"]])
        #expect(try book.folder.rows("SELECT item FROM binPhoto").isEmpty)
        try book.expectCounted()
    }
}
