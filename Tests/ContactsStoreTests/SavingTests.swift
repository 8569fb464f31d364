import BrokerBounds
import BrokerModel
import BrokerNormalization
import BrokerSQLite
import CBrokerSQLite
import Glibc
import Testing

@testable import BrokerContactsStore

@Suite("Saving")
struct SavingTests {
    @Test("A save is all or nothing, and reports which step failed")
    func allOrNothing() throws {
        let book = try Book([person("Ada")])
        #expect(throws: ChangeError.recordDoesNotExist(index: 2)) {
            try book.store.apply(
                [
                    .add(RecordNumber(2), person("Bob")), .delete(RecordNumber(1)),
                    .update(RecordNumber(9), person("Eve"), keys: [.init([.givenName])]),
                ], at: 0)
        }
        #expect(try book.records() == [1])
        #expect(throws: ChangeError.recordDoesNotExist(index: 0)) {
            try book.store.apply([.delete(RecordNumber(5))], at: 0)
        }
        #expect(throws: ChangeError.self, "a number is used once") {
            try book.store.apply([.add(RecordNumber(1), person("Bob"))], at: 0)
        }
        #expect(try book.contact(1)?.givenName == "Ada")
    }

    @Test("Steps see the results of earlier steps")
    func steps() throws {
        let book = try Book()
        try book.store.apply(
            [
                .add(RecordNumber(1), person("Ada")), .add(RecordNumber(2), person("Bob")),
                .update(RecordNumber(1), person("", "Lovelace"), keys: ContactKeySet([.familyName])),
                .delete(RecordNumber(2)),
            ], at: 0)
        #expect(try book.records() == [1])
        #expect(try book.contact(1)?.givenName == "Ada")
        #expect(try book.contact(1)?.familyName == "Lovelace")
    }

    @Test("Contacts that one save adds, edits or deletes are found only in their final state")
    func formsOfOneSave() throws {
        let book = try Book()
        func reachable(_ name: String, _ number: Int64) -> Contact {
            person(name, "Lovelace") {
                $0.emailAddresses = [LabeledString(value: "\(name)@example.org")]
                $0.phoneNumbers = [LabeledString(value: "555 0199 7\(number)")]
            }
        }
        try book.store.apply(
            [
                .add(RecordNumber(1), reachable("Ada", 1)), .add(RecordNumber(2), reachable("Bob", 2)),
                .add(RecordNumber(3), reachable("Änne", 3)), .delete(RecordNumber(2)),
                .update(
                    RecordNumber(1), person("Eve"),
                    keys: ContactKeySet([.givenName, .emailAddresses, .phoneNumbers])),
                .update(RecordNumber(1), person("Zoe"), keys: ContactKeySet([.givenName])),
            ], at: 0)
        for (name, number, expected) in [("Ada", 1, []), ("Bob", 2, []), ("Änne", 3, [3])] as [(String, Int64, [Int64])]
        {
            #expect(try book.records(.all, .name(name)) == expected)
            #expect(try book.records(.all, .emailAddress("\(name)@example.org")) == expected)
            #expect(try book.records(.all, .phoneNumber("55501997\(number)")) == expected)
        }
        #expect(try book.records(.all, .name("Eve")).isEmpty)
        #expect(try book.records(.all, .name("Zoe")) == [1])
        #expect(try book.records(.all, .name("Lovelace")) == [1, 3])
    }

    @Test("Each of many contacts of one save is found by its own number, as if saved alone")
    func manyNumbers() throws {
        func contact(_ number: Int64) -> Contact {
            person("P\(number)") {
                $0.phoneNumbers = [
                    LabeledString(value: "+44 20 7946 \(1_000 + number)"), LabeledString(value: "no number"),
                    LabeledString(value: "555 \(20_000 + number % 3)"),
                ]
            }
        }
        let count = Int64(3 * ContactsAhead.fewest)
        let numbers = 1...count
        let together = try Book(region: "GB")
        try together.store.apply(
            numbers.map { .add(RecordNumber($0), contact($0)) } + [
                .delete(RecordNumber(7)),
                .update(
                    RecordNumber(8), person { $0.phoneNumbers = [LabeledString(value: "+44 20 7946 9999")] },
                    keys: ContactKeySet([.phoneNumbers])),
            ], at: 0)
        let alone = try Book(region: "GB")
        for number in numbers where number != 7 {
            try alone.store.apply([.add(RecordNumber(number), contact(number))], at: 0)
        }
        try alone.store.apply(
            [
                .update(
                    RecordNumber(8), person { $0.phoneNumbers = [LabeledString(value: "+44 20 7946 9999")] },
                    keys: ContactKeySet([.phoneNumbers]))
            ], at: 0)
        for number in numbers {
            let expected = [7, 8].contains(number) ? [] : [number]
            #expect(try together.records(.all, .phoneNumber("020 7946 \(1_000 + number)")) == expected)
        }
        #expect(try together.records(.all, .phoneNumber("+44 20 7946 9999")) == [8])
        let written = try together.folder.rows("SELECT * FROM phone")
        #expect(try written == alone.folder.rows("SELECT * FROM phone") && written.count == 2 * (Int(count) - 2) + 1)
    }

    @Test("A failed save leaves no search rows behind")
    func formsOfAFailedSave() throws {
        let book = try Book()
        #expect(throws: ChangeError.recordDoesNotExist(index: 1)) {
            try book.store.apply([.add(RecordNumber(1), person("Ada")), .delete(RecordNumber(9))], at: 0)
        }
        try book.store.apply([.add(RecordNumber(1), person("Bob"))], at: 0)
        #expect(try book.records(.all, .name("Ada")).isEmpty)
        #expect(try book.records(.all, .name("Bob")) == [1])
    }

    @Test("A name is found in both of its Unicode forms, even if it repeats")
    func knownWords() throws {
        let book = try Book([person("Änne"), person("A\u{308}nne"), person("Änne")])
        #expect(try book.records(.all, .name("anne")) == [1, 2, 3])
        #expect(try book.records(.all, .name("Änne")) == [1, 2, 3])
    }

    @Test("An update writes only the named keys, clears empty ones, and updates the search")
    func update() throws {
        let book = try Book([
            person("Ada", "Byron") {
                $0.note = "keeps bees"
                $0.emailAddresses = [LabeledString(value: "ada@example.org")]
                $0.phoneNumbers = [LabeledString(value: "555 0199 77")]
            }
        ])
        try book.store.apply(
            [.update(RecordNumber(1), person("", "Lovelace"), keys: ContactKeySet([.familyName, .emailAddresses]))],
            at: 86_400)
        let now = try #require(try book.contact(1))
        #expect(now.givenName == "Ada" && now.familyName == "Lovelace" && now.note == "keeps bees")
        #expect(now.emailAddresses.isEmpty && now.phoneNumbers.count == 1)
        #expect(now.creationDate == "1970-01-01T00:00:00Z")
        #expect(now.modificationDate == "1970-01-02T00:00:00Z")
        #expect(try book.records(.all, .name("love")) == [1])
        #expect(try book.records(.all, .name("byron")).isEmpty)
        #expect(try book.records(.all, .emailAddress("ada@example.org")).isEmpty)
        #expect(try book.records(.all, .phoneNumber("555019977")) == [1])
    }

    @Test("A deleted contact is not found")
    func delete() throws {
        let book = try Book(QueryTests.contacts)
        try book.store.apply(QueryTests.everyone.map { .delete(RecordNumber($0)) }, at: 0)
        for (predicate, _) in QueryTests.predicates { #expect(try book.records(.all, predicate).isEmpty) }
        #expect(try book.store.count(ContactQuery(scope: .all)) == 0)
        for table in ["word", "beginning", "email", "phone", "image", "contact"] {
            #expect(try book.folder.rows("SELECT * FROM \(table)").isEmpty)
        }
    }

    @Test("Without a bin, deleted and replaced text is in no file after a checkpoint")
    func noTraces() throws {
        let book = try Book(
            [person("Xylophona") { $0.note = "Zymurgist" }, person("Quokkadelia")], space: .withoutBin)
        try book.store.apply(
            [.delete(RecordNumber(1)), .update(RecordNumber(2), person("Ada"), keys: ContactKeySet([.givenName]))],
            at: 0)
        try book.store.checkpoint()
        let bytes = contents(book.folder.file) + contents(book.folder.file + "-wal")
        let text = String(decoding: bytes, as: UTF8.self).lowercased()
        #expect(text.contains("ada"))
        for word in ["xylophona", "zymurgist", "quokkadelia"] { #expect(!text.contains(word)) }
    }

    @Test("A photo is returned only on request, and the contact shows that it has one")
    func images() throws {
        let book = try Book([person("Ada") { $0.imageData = "/9j/4AAQ" }, person("Bob")])
        func images(_ keys: ContactKeySet, _ scope: RecordScope) throws -> [ContactImages?] {
            var found: [ContactImages?] = []
            _ = try book.store.fetch(ContactQuery(scope: scope, images: keys)) { found.append($2) }
            return found
        }
        let photo = ContactImages(imageData: Array(",\"imageData\":\"/9j/4AAQ\"".utf8))
        for scope in [RecordScope.all, scope(1, 2)] {
            #expect(try images(.images, scope) == [photo, nil])
            #expect(try images([], scope) == [nil, nil])
            #expect(try images(ContactKeySet([.thumbnailImageData]), scope) == [ContactImages(), nil])
        }
        #expect(try book.contact(1)?.imageDataAvailable == true)
        #expect(try book.contact(1)?.imageData == "", "the photo is stored separately")
        try book.store.apply([.update(RecordNumber(1), person("Eve"), keys: ContactKeySet([.givenName]))], at: 0)
        #expect(try images(.images, .all) == [photo, nil])
        try book.store.apply([.update(RecordNumber(1), person(), keys: ContactKeySet([.imageData]))], at: 0)
        #expect(try images(.images, .all) == [nil, nil])
        #expect(try book.contact(1)?.imageDataAvailable == false)
    }

    @Test("A thumbnail is stored only with its own photo, and does not change the date")
    func thumbnails() throws {
        let book = try Book([person("Ada") { $0.imageData = "/9j/4AAQ" }, person("Bob")], space: .withoutBin)
        let (photo, other) = (Array("/9j/4AAQ".utf8), Array("/9j/4AAR".utf8))
        func thumbnail() throws -> [UInt8]? {
            var found: ContactImages?
            let keys = ContactKeySet([.thumbnailImageData])
            _ = try book.store.fetch(ContactQuery(scope: scope(1), images: keys)) { found = $2 }
            return found?.thumbnailImageData
        }
        func keep(_ text: String, _ record: Int64, of photo: [UInt8]) throws -> [BookChange] {
            try book.store.apply([.thumbnail(RecordNumber(record), Array(text.utf8), of: photo)], at: 1_000_000)
        }
        let date = try book.contact(1)?.modificationDate
        #expect(try keep("/9j/TTTT", 1, of: other).isEmpty, "the photo has changed")
        #expect(try keep("/9j/TTTT", 2, of: photo).isEmpty, "none")
        #expect(try keep("/9j/TTTT", 9, of: photo).isEmpty, "nobody")
        #expect(try thumbnail() == nil)
        let made = try keep("/9j/TTTT", 1, of: photo)
        #expect(made.map(\.kind) == [.updateContact])
        #expect(made.first?.keys == ContactKeySet([.thumbnailImageData]))
        #expect(try thumbnail() == Array(",\"thumbnailImageData\":\"/9j/TTTT\"".utf8))
        #expect(try book.contact(1)?.modificationDate == date)
        #expect(try keep("/9j/UUUU", 1, of: photo).isEmpty, "a thumbnail exists")
        // Replacing or removing the photo removes the thumbnail.
        let replaced = person { $0.imageData = "/9j/4AAR" }
        try book.store.apply([.update(RecordNumber(1), replaced, keys: ContactKeySet([.imageData]))], at: 0)
        #expect(try thumbnail() == nil)
        #expect(try !keep("/9j/VVVV", 1, of: other).isEmpty)
        try book.store.apply([.delete(RecordNumber(1))], at: 0)
        #expect(try keep("/9j/WWWW", 1, of: other).isEmpty)
        try book.store.checkpoint()
        let bytes = String(
            decoding: contents(book.folder.file) + contents(book.folder.file + "-wal"), as: UTF8.self)
        for text in ["/9j/TTTT", "/9j/UUUU", "/9j/VVVV", "/9j/WWWW"] { #expect(!bytes.contains(text)) }
    }

    @Test("A save does not write the broker's own keys")
    func ownKeys() throws {
        let forged = person("Ada") {
            $0.creationDate = "1815-12-10T00:00:00Z"
            $0.modificationDate = "1815-12-10T00:00:00Z"
            $0.imageDataAvailable = true
        }
        let book = try Book([forged])
        try book.store.apply([.update(RecordNumber(1), forged, keys: .all)], at: 30)
        #expect(try book.contact(1)?.modificationDate == "1970-01-01T00:00:00Z")
        var edited = forged
        edited.nickname = "A"
        try book.store.apply([.update(RecordNumber(1), edited, keys: .all)], at: 60)
        let now = try #require(try book.contact(1))
        #expect(now.creationDate == "1970-01-01T00:00:00Z" && now.modificationDate == "1970-01-01T00:01:00Z")
        #expect(!now.imageDataAvailable)
    }

    @Test("Value identifiers survive updates and are never reused")
    func valueIdentifiers() throws {
        let one = LabeledString(label: "home", value: "1")
        let two = LabeledString(label: "work", value: "2")
        let book = try Book([person { $0.phoneNumbers = [one, two] }])
        func save(_ values: [LabeledString]) throws -> [Int?] {
            let patch = person { $0.phoneNumbers = values }
            try book.store.apply([.update(RecordNumber(1), patch, keys: ContactKeySet([.phoneNumbers]))], at: 0)
            return try #require(try book.contact(1)).phoneNumbers.map(\.identifier)
        }
        #expect(try book.contact(1)?.phoneNumbers.map(\.identifier) == [1, 2])
        #expect(try save([two]) == [2])
        #expect(try save([one, two]) == [3, 2])
        #expect(try save([]) == [])
        #expect(try save([one]) == [4])
    }

    @Test("On a full disk a save changes nothing, reading works, and saving works again once there is space")
    func fullDisk() throws {
        let book = try Book([person("Ada")])
        book.store.close()
        // A limit on the file's pages simulates a full disk: SQLite returns SQLITE_FULL for both.
        let file = BookFile(folder: book.folder.book)
        let database = try BookConnection.writing(file)
        let writer = try BookWriter(
            database: database, file: file, normalizer: try #require(.init(locale: "")),
            otherMaker: .init(region: ""), space: SpaceBounds())
        defer { writer.close() }
        let pages = try #require(try database.integer("PRAGMA page_count"))
        try database.execute("PRAGMA max_page_count = \(pages + 2)")
        let long = person("Bob") { $0.note = String(repeating: "long ", count: 20_000) }
        let small = person("Clara")
        do {
            try writer.apply([.add(RecordNumber(2), small), .add(RecordNumber(3), long)], at: 0)
            Issue.record("the save did not fail")
        } catch {
            guard case .unavailable = StoreError(error) else {
                Issue.record("\(error)")
                return
            }
        }
        #expect(try database.integer("SELECT count(*) FROM contact") == 1)
        #expect(try database.integer("SELECT count(*) FROM word") == 1)
        try database.execute("PRAGMA max_page_count = 1000000")
        try writer.apply([.add(RecordNumber(2), small), .add(RecordNumber(3), long)], at: 0)
        #expect(try database.integer("SELECT count(*) FROM contact") == 3)
        #expect(try database.text("PRAGMA integrity_check") == "ok")
    }

    /// The page cache of the writing connection, in bytes.
    private func cacheSize(_ book: Book) throws -> Int {
        try book.store.write { writer in
            var (current, highest): (CInt, CInt) = (0, 0)
            sqlite3_db_status(writer.database.handle, SQLITE_DBSTATUS_CACHE_USED, &current, &highest, 0)
            return Int(current)
        }
    }

    @Test("After releasing memory a book uses little, and accepts the next save")
    func releaseMemory() throws {
        let book = try Book((0..<500).map { person("Ada \($0)", "Lovelace") })
        let busy = try cacheSize(book)
        book.store.releaseMemory()
        #expect(try cacheSize(book) * 4 < busy)
        try book.store.apply([.add(RecordNumber(900), person("Bob"))], at: 0)
        #expect(try book.records(.all, .name("bob")) == [900])
        book.store.close()
        book.store.releaseMemory()
    }

    @Test("Reads work during a save, and see all of it or nothing")
    func readWhileSaving() async throws {
        let book = try Book()
        let store = book.store
        let saving = Task.detached {
            for round in 0..<25 {
                let first = Int64(round * 10)
                try store.apply((1...10).map { .add(RecordNumber(first + $0), person("Ada")) }, at: 0)
            }
        }
        var counts = Set<Int>()
        repeat {
            counts.insert(try store.count(ContactQuery(scope: .all)) % 10)
            await Task.yield()
        } while try store.count(ContactQuery(scope: .all)) < 250
        try await saving.value
        #expect(counts == [0])
    }
}
