@_spi(StoredBytes) import BrokerModel
import BrokerSQLite
import Testing

@testable import BrokerContactsStore

@Suite("Cards in two parts")
struct PartsTests {
    private static let note = String(repeating: "n", count: 300_000)
    private static let names = ContactKeySet([.givenName, .familyName])

    private static func people() -> [Contact] {
        [
            person("Ada", "Lovelace") { $0.note = note }, person("Bob", "Byron"),
            person("Cid") { $0.extraProperties = ["X-ONE:1"] },
        ]
    }

    private func fetched(_ store: ContactsStore, _ keys: ContactKeySet, _ order: ContactOrder = .none) throws
        -> [Contact]
    {
        var contacts: [Contact] = []
        _ = try store.fetch(ContactQuery(scope: .all, order: order, disclosedKeys: keys)) { _, stored, _ in
            contacts += [Contact(stored)].compactMap(\.self)
        }
        return contacts
    }

    @Test("A contact has all its values, in every order", arguments: [ContactOrder.none, .givenName, .familyName])
    func whole(order: ContactOrder) throws {
        let book = try Book(Self.people())
        let contacts = try fetched(book.store, .all, order).sorted { $0.givenName < $1.givenName }
        #expect(
            contacts.map(\.note) == [Self.note, "", ""] && contacts.map(\.extraProperties) == [[], [], ["X-ONE:1"]])
        #expect(contacts.map(\.givenName) == ["Ada", "Bob", "Cid"])
    }

    @Test("A read without these keys does not read the other part, and neither does a save")
    func apart() throws {
        let book = try Book(Self.people())
        try book.folder.execute("DELETE FROM apart")
        #expect(try fetched(book.store, Self.names).map(\.givenName) == ["Ada", "Bob", "Cid"])
        try book.store.apply(
            [.update(RecordNumber(1), person("Adele"), keys: ContactKeySet([.givenName]))], at: 1)
        #expect(try fetched(book.store, Self.names).map(\.givenName) == ["Adele", "Bob", "Cid"])
        // An app that may read them never gets only a part of the card.
        #expect(try fetched(book.store, .all).map(\.givenName) == ["Bob"])
        #expect(throws: ChangeError.store(.damagedCard(record: 1))) {
            try book.store.apply([.update(RecordNumber(1), person(""), keys: ContactKeySet([.note]))], at: 2)
        }
    }

    @Test("A save changes, adds and removes the other part")
    func saves() throws {
        let book = try Book(Self.people())
        let note = ContactKeySet([.note])
        func put(_ record: Int64, _ text: String) throws {
            try book.store.apply([.update(RecordNumber(record), person("") { $0.note = text }, keys: note)], at: 1)
        }
        try put(1, "short")
        try put(2, "new")
        try put(3, "both")
        #expect(try fetched(book.store, .all).map(\.note) == ["short", "new", "both"])
        try put(1, "")
        try put(3, "")
        let last = try fetched(book.store, .all)
        #expect(last.map(\.note) == ["", "new", ""] && last[2].extraProperties == ["X-ONE:1"])
        try book.store.apply([.delete(RecordNumber(2))], at: 1)
        #expect(try book.folder.rows("SELECT record FROM apart") == [["3"]])
    }

    private static let dora = person("Dora") {
        ($0.note, $0.extraProperties) = ("d", ["X-TWO:2", "UID:dora", "item1.uid;VALUE=text:b"])
    }

    private func extra(_ store: ContactsStore, _ keys: ContactKeySet) throws -> [[String]] {
        try fetched(store, keys).map(\.extraProperties)
    }

    @Test("A read of the UIDs reads no other extra property, whatever the card has apart")
    func uids() throws {
        let book = try Book(Self.people() + [Self.dora])
        let found = [[], [], [], ["UID:dora", "item1.uid;VALUE=text:b"]]
        #expect(try extra(book.store, .uids) == found)
        #expect(try extra(book.store, ContactKeySet(.note).union(.uids)) == found)
        #expect(try extra(book.store, .all) == [[], [], ["X-ONE:1"], Self.dora.extraProperties])
        let change = person("") { $0.extraProperties = ["UID:ada"] }
        try book.store.apply([.update(RecordNumber(1), change, keys: ContactKeySet(.extraProperties))], at: 1)
        try book.store.apply([.update(RecordNumber(4), person(""), keys: ContactKeySet(.extraProperties))], at: 1)
        #expect(try extra(book.store, .uids) == [["UID:ada"], [], [], []])
        try book.folder.execute("DELETE FROM apart")
        #expect(try extra(book.store, .uids) == [["UID:ada"], [], [], []])
    }

    @Test("A book of a version without a table of UIDs gets those of its cards")
    func migratedUIDs() throws {
        let book = try Book(Self.people() + [Self.dora])
        book.store.close()
        try book.folder.execute(
            """
            DROP TABLE uid; UPDATE contact SET apart = apart & ~(1 << 61); PRAGMA user_version = 18;
            DELETE FROM grdb_migrations WHERE identifier LIKE '19:%';
            """)
        let store = try #require(
            try ContactsStore.open(folder: book.folder.book, owner: owner, creating: false, onDamage: { _ in }))
        defer { store.close() }
        #expect(try extra(store, .uids) == [[], [], [], ["UID:dora", "item1.uid;VALUE=text:b"]])
        #expect(try extra(store, .all) == [[], [], ["X-ONE:1"], Self.dora.extraProperties])
    }

    @Test("A damaged part takes the card from those who may read it, and from nobody else")
    func damaged() throws {
        let book = try Book(Self.people())
        try book.folder.execute("UPDATE apart SET stored = x'0101' WHERE record = 1")
        #expect(try fetched(book.store, .all).map(\.givenName) == ["Bob", "Cid"])
        #expect(try fetched(book.store, Self.names).map(\.givenName) == ["Ada", "Bob", "Cid"])
    }

    @Test("A book of the version before keeps every value")
    func migrated() throws {
        let book = try Book(Self.people())
        let expected = try fetched(book.store, .all)
        let whole = expected.map { StoredContact($0).bytes }
        book.store.close()
        let database = try Database(path: book.folder.file, .readWrite, patience: 0)
        for (index, bytes) in whole.enumerated() {
            let record = Int64(index + 1)
            try PreparedStatement("UPDATE contact SET stored = ?, checksum = ? WHERE record = ?", on: database)
                .bind(1, bytes).bind(2, CardChecksum.of(bytes, record: record)).bind(3, record).run()
        }
        try database.execute(
            """
            DROP TABLE apart; ALTER TABLE contact DROP COLUMN apart; PRAGMA user_version = 13;
            DELETE FROM grdb_migrations WHERE identifier LIKE '14:%';
            """)
        database.close()
        let store = try #require(
            try ContactsStore.open(folder: book.folder.book, owner: owner, creating: false, onDamage: { _ in }))
        defer { store.close() }
        #expect(try fetched(store, .all) == expected)
        #expect(try fetched(store, Self.names).map(\.note) == ["", "", ""])
    }
}
