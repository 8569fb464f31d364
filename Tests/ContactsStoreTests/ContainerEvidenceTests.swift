import BrokerModel
import Testing

@testable import BrokerContactsStore

extension EvidenceTests {
    @Test("Cards of one container are linked only by hand, and then also with cards of another")
    func oneContainer() throws {
        let book = try Book()
        let ada = card("Ada", email: ["ada@example.org"])
        let home = RecordNumber(9_000)
        let add = { (numbers: [Int64], container: RecordNumber?) in
            let records = numbers.map { RecordNumber($0) }
            let into = container.map { container in
                records.map { ContactChange.container(.put($0, isGroup: false, in: container)) }
            }
            return try book.store.apply(records.map { .add($0, ada) } + (into ?? []), at: 1, isEvidence: true)
        }
        #expect(Self.told(try add([1, 2], nil)) == [])
        try book.store.apply([.container(.add(home, name: "Home"))], at: 1)
        // The card in the other container could belong to either.
        #expect(Self.told(try add([3], home)) == [])
        #expect(book.store.links.isEmpty)
        try book.store.apply([Self.link(1, 2)], at: 1)
        #expect(book.store.sets(of: 1...3) == [[1, 2, 3]])
        // A person with a card in each container gets no further cards.
        try book.store.apply([.delete(RecordNumber(1))], at: 1)
        #expect(book.store.sets(of: 1...3) == [[2, 3]])
        #expect(Self.told(try add([4], home)) == ["unlinkByEvidence 2 3"])
        try book.store.apply([Self.link(3, 2)], at: 1)
        #expect(book.store.sets(of: 1...4) == [[2, 3]])
    }

    @Test("A book from before loses links within a container, keeps the others, and its history says so")
    func between() throws {
        let book = try Book()
        let (ada, bob) = (card("Ada", email: ["ada@example.org"]), card("Bob", phone: [Self.home]))
        try book.store.add([ada, ada])
        try book.store.apply(
            [.add(RecordNumber(3), bob), .add(RecordNumber(4), bob), .add(RecordNumber(5), bob)], at: 1,
            isEvidence: true)
        try book.store.apply([Self.link(4, 5)], at: 1)
        let last = book.store.lastChange
        book.store.close()
        try book.folder.execute(
            """
            INSERT INTO link (record, first) VALUES (3, 3);
            UPDATE link SET first = 3 WHERE record IN (4, 5);
            PRAGMA user_version = 15;
            DELETE FROM grdb_migrations WHERE identifier = '16: links between containers'
            """)
        let again = try #require(
            try ContactsStore.open(folder: book.folder.book, owner: owner, creating: false, onDamage: { _ in }))
        defer { again.close() }
        #expect(again.sets(of: 1...5) == [[1, 2], [4, 5]])
        let changes = try again.changes(after: last, through: .max, of: .all, groupsOf: nil)
        #expect(Self.told(changes) == ["unlinkByEvidence 3 4", "unlinkByEvidence 3 5"])
    }
}
