@_spi(StoredBytes) import BrokerModel
import Foundation
import GRDB
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

    private func execute(_ sql: String, _ book: Book) throws {
        let database = try DatabaseQueue(path: book.folder.file)
        defer { try? database.close() }
        try database.writeWithoutTransaction { try $0.execute(sql: sql) }
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
        try execute("DELETE FROM apart", book)
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
        let database = try DatabaseQueue(path: book.folder.file)
        defer { try? database.close() }
        #expect(try database.read { try Int64.fetchAll($0, sql: "SELECT record FROM apart") } == [3])
    }

    @Test("A damaged part takes the card from those who may read it, and from nobody else")
    func damaged() throws {
        let book = try Book(Self.people())
        try execute("UPDATE apart SET stored = x'0101' WHERE record = 1", book)
        #expect(try fetched(book.store, .all).map(\.givenName) == ["Bob", "Cid"])
        #expect(try fetched(book.store, Self.names).map(\.givenName) == ["Ada", "Bob", "Cid"])
    }

    @Test("A book of the version before keeps every value")
    func migrated() throws {
        let book = try Book(Self.people())
        let expected = try fetched(book.store, .all)
        let whole = expected.map { StoredContact($0).bytes }
        book.store.close()
        let database = try DatabaseQueue(path: book.folder.file)
        try database.writeWithoutTransaction { db in
            for (index, bytes) in whole.enumerated() {
                let record = Int64(index + 1)
                try db.execute(
                    sql: "UPDATE contact SET stored = ?, checksum = ? WHERE record = ?",
                    arguments: [Data(bytes), CardChecksum.of(bytes, record: record), record])
            }
            try db.execute(
                sql: """
                    DROP TABLE apart; ALTER TABLE contact DROP COLUMN apart; PRAGMA user_version = 13;
                    DELETE FROM grdb_migrations WHERE identifier LIKE '14:%';
                    """)
        }
        try database.close()
        let store = try #require(
            try ContactsStore.open(folder: book.folder.book, owner: owner, creating: false, onDamage: { _ in }))
        defer { store.close() }
        #expect(try fetched(store, .all) == expected)
        #expect(try fetched(store, Self.names).map(\.note) == ["", "", ""])
    }
}
