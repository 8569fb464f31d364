import BrokerModel
import Testing

@testable import BrokerContactsStore

@Suite("Searching by the beginning of a name")
struct BeginningTests {
    private static let given = ["Anna", "Annabel", "Änne", "Hanna", "An", "Jo-Anne", "Анна", "Ἄννα", "王安", "Nan"]
    private static let family = ["Mann", "Annan", "O'Annor", "Lee", "Ann", "Иванова", "李", "Zann"]
    private static let orders = [ContactOrder.givenName, .familyName]

    private static func people(_ count: Int) -> [Contact] {
        (0..<count).map { number in
            person(given[number * 7 % given.count], family[number * 5 % family.count]) {
                if number % 4 == 0 { $0.nickname = "Annie \(number % 3)" }
                if number % 9 == 0 { $0.organizationName = "Anno Domini" }
            }
        }
    }

    private func prefer(_ order: ContactOrder, _ book: Book) throws {
        var settings = book.store.settings
        settings.sortOrder = order
        try book.store.set(settings)
    }

    /// The contacts with a word that begins with this text, found by checking each contact of a set.
    private func longWay(
        _ book: Book, _ text: String, _ order: ContactOrder, seeing keys: ContactKeySet = .all
    ) throws -> [Int64] {
        let everybody = Set(try book.records().map { RecordNumber($0) })
        return try book.records(.only(everybody), .name(text), seeing: keys, order: order)
    }

    @Test(
        "The index gives the same contacts in the same order as checking each", arguments: orders,
        ["ann", "Änn", "anna", "annab", "анн", "iva", "안나", "an", "zan", "安", "dom", "ann mann"])
    func same(order: ContactOrder, text: String) throws {
        let book = try Book(Self.people(240))
        let expected = try longWay(book, text, order)
        // Set the owner's preferred order to each of the orders, and at last to the requested one.
        for preferred in [ContactOrder.givenName, .familyName, .none, order] {
            try prefer(preferred, book)
            #expect(try book.records(.all, .name(text), order: order) == expected)
        }
        for limit in [1, 7] { #expect(try book.records(.all, .name(text), order: order, pages: limit) == expected) }
        if text != "안나" { #expect(!expected.isEmpty) }
    }

    @Test(
        "Every query plan gives the same contacts in the same order", arguments: orders,
        [
            "a", "an", "ann", "anna", "安", "王安", "李 王", "a m", "an m", "ann m", "anna man", "annab mann", "zann ann",
            "zann zoe",
            "n", "j o",
        ])
    func ways(order: ContactOrder, text: String) throws {
        let book = try Book(Self.people(240))
        try prefer(order, book)
        let expected = try longWay(book, text, order)
        #expect(expected.isEmpty == ["annab mann", "zann zoe", "j o"].contains(text))
        // The plans: sort all matches; read along the order; give up reading and sort. The last two settings give up at
        // once, without and with merged beginnings.
        for (few, steps, groups) in [(10_000, 10, 10), (0, 10_000, 1_000), (0, 25, 1_000), (0, 1, 0), (0, 1, 1_000)] {
            book.store.setEffort(SearchEffort(few: few, steps: steps, mostGroups: groups))
            for limit in [3, 50, 1_000] {
                #expect(try book.records(.all, .name(text), order: order, pages: limit) == expected)
            }
        }
    }

    @Test("A changed contact is found by its new name only, a deleted one not at all", arguments: orders)
    func changes(order: ContactOrder) throws {
        let book = try Book(Self.people(60))
        try prefer(order, book)
        let name = ContactKeySet([.givenName])
        try book.store.apply(
            [
                .update(RecordNumber(1), person("Bert"), keys: name),
                .update(RecordNumber(2), person("Annika"), keys: name),
                // This changes the contact's place in the order.
                .update(RecordNumber(5), person { $0.middleName = "Zoe" }, keys: ContactKeySet([.middleName])),
                .update(
                    RecordNumber(9), person { $0.contactType = .organization }, keys: ContactKeySet([.contactType])),
                .delete(RecordNumber(3)), .delete(RecordNumber(4)), .add(RecordNumber(100), person("Annegret")),
            ], at: 0)
        for text in ["ann", "ber", "zoe"] {
            #expect(try book.records(.all, .name(text), order: order) == longWay(book, text, order))
        }
        #expect(try book.records(.all, .name("ann"), order: order).contains(100))
        #expect(try book.records(.all, .name("ber"), order: order) == [1])
        try book.store.apply(book.records().map { .delete(RecordNumber($0)) }, at: 0)
        #expect(try book.folder.rows("SELECT * FROM beginning").isEmpty)
    }

    @Test("A word of an invisible key finds no contact", arguments: orders)
    func scoped(order: ContactOrder) throws {
        let book = try Book([
            person("Ada") { $0.namePrefix = "Annus" }, person("Anna"),
            person("Bob") { $0.previousFamilyName = "Annan" },
        ])
        let keys = ContactKeySet.names.subtracting(ContactKeySet([.namePrefix, .previousFamilyName]))
        #expect(try book.records(.all, .name("ann"), order: order) == [1, 2, 3])
        #expect(try book.records(.all, .name("ann"), seeing: keys, order: order) == [2])
    }

    @Test("Words that continue a common word are found too, near and far in the order", arguments: orders)
    func longer(order: ContactOrder) throws {
        let book = try Book(
            (0..<1_200).map { person($0 % 2 == 0 ? "Annabel" : $0 == 1_111 ? "Annz" : "Anna", "N\(1_199 - $0)") })
        for text in ["anna", "annab", "annz"] {
            #expect(try book.records(.all, .name(text), order: order, pages: 40) == longWay(book, text, order))
        }
    }

    @Test("Opening a book of the first version builds the index")
    func migrated() throws {
        let book = try Book(Self.people(30))
        let expected = try book.records(.all, .name("ann"), order: .familyName)
        book.store.close()
        try book.folder.execute(
            """
            DROP TABLE beginning; ALTER TABLE contact DROP COLUMN maker; PRAGMA user_version = 1;
            DELETE FROM grdb_migrations WHERE substr(identifier, 1, 3) IN ('2: ', '3: ', '13:');
            """)
        let store = try #require(
            try ContactsStore.open(folder: book.folder.book, owner: owner, creating: false, onDamage: { _ in }))
        defer { store.close() }
        var found: [Int64] = []
        _ = try store.fetch(ContactQuery(scope: .all, predicate: .name("ann"), order: .familyName)) { record, _, _ in
            found.append(record.rawValue)
        }
        #expect(!found.isEmpty && found == expected)
    }

    @Test("The index is in the owner's preferred order, and rebuilt if that changes", arguments: orders)
    func kept(order: ContactOrder) throws {
        let book = try Book(Self.people(40))
        try prefer(order, book)
        try book.store.apply([.add(RecordNumber(100), person("Annegret")), .delete(RecordNumber(2))], at: 0)
        let rows = {
            try book.folder.rows("SELECT ordering, letters, nameKey, record FROM beginning ORDER BY 1, 2, 3, 4")
        }
        let grown = try rows()
        #expect(!grown.isEmpty && grown.allSatisfy { $0[0] == "\(order.rawValue)" })
        try prefer(.none, book)
        #expect(try rows().isEmpty)
        try prefer(order, book)
        #expect(try rows() == grown)
        // The index is also maintained after the book is opened again.
        book.store.close()
        let store = try #require(
            try ContactsStore.open(folder: book.folder.book, owner: owner, creating: false, onDamage: { _ in }))
        defer { store.close() }
        try store.apply([.delete(RecordNumber(100)), .add(RecordNumber(101), person("Annegret"))], at: 0)
        #expect(try rows().map { $0.dropLast() + [$0[3] == "101" ? "100" : $0[3]] } == grown)
    }

    @Test("SQLite seeks to the letters in the index, and does not sort")
    func plan() throws {
        let book = try Book()
        let place = Position(order: .givenName, keys: 1, key: [1], record: RecordNumber(1))
        for (after, start) in [(nil, ""), (place, " AND (nameKey,record)>(?,?)")] {
            let plan = try book.folder.plan(ReadSQL.beginning(after: after, limit: 21))
            #expect(plan == ["SEARCH beginning USING PRIMARY KEY (ordering=? AND letters=?\(start))"])
        }
    }
}
