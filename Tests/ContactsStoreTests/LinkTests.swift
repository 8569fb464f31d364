import BrokerBounds
import BrokerModel
import Testing

@testable import BrokerContactsStore

@Suite("Links between cards")
struct LinkTests {
    private static func link(_ one: Int64, _ other: Int64) -> ContactChange {
        .link(.link(RecordNumber(one), RecordNumber(other)))
    }
    private static func unlink(_ one: Int64, from other: Int64) -> ContactChange {
        .link(.unlink(RecordNumber(one), from: RecordNumber(other)))
    }
    private static func told(_ changes: [BookChange]) -> [String] {
        changes.map { "\($0.kind) \($0.record.rawValue) \($0.member?.rawValue ?? 0)" }
    }
    private static func sets(_ store: ContactsStore, _ count: Int64 = 6) -> [[Int64]] {
        (1...count).map { store.links.members(of: RecordNumber($0)).map(\.rawValue) }
    }

    @Test("Linking joins sets, and the book stores them")
    func linking() throws {
        let book = try Book((1...6).map { person("P\($0)") })
        #expect(book.store.links.isEmpty)
        #expect(Self.told(try book.store.apply([Self.link(3, 2)], at: 1)) == ["link 2 3"])
        #expect(
            Self.told(try book.store.apply([Self.link(5, 6), Self.link(5, 6), Self.link(4, 4)], at: 1)) == ["link 5 6"])
        let joined = try book.store.apply([Self.link(6, 3)], at: 1)
        #expect(Set(Self.told(joined)) == ["link 2 5", "link 2 6", "link 3 5", "link 3 6"])
        let expected: [[Int64]] = [[1], [2, 3, 5, 6], [2, 3, 5, 6], [4], [2, 3, 5, 6], [2, 3, 5, 6]]
        #expect(Self.sets(book.store) == expected)
        #expect(book.store.links.followers == 3)
        book.store.close()
        let again = try #require(
            try ContactsStore.open(folder: book.folder.book, owner: owner, creating: false, onDamage: { _ in }))
        defer { again.close() }
        #expect(Self.sets(again) == expected)
    }

    @Test("A reader of some cards gets only the links between these, also after a change")
    func visible() throws {
        let book = try Book((1...6).map { person("P\($0)") })
        try book.store.apply([Self.link(1, 2), Self.link(2, 3), Self.link(3, 4)], at: 1)
        func seen(_ records: Int64...) -> [[Int64]] {
            let scope = RecordScope.only(Set(records.map { RecordNumber($0) }))
            let links = book.store.links(seeing: .all, within: scope)
            return records.map {
                links.isLinked(RecordNumber($0)) ? links.members(of: RecordNumber($0)).map(\.rawValue) : []
            }
        }
        #expect(seen(1, 5) == [[], []])
        #expect(seen(1, 3, 5) == [[1, 3], [1, 3], []])
        #expect(seen(1, 3, 5) == [[1, 3], [1, 3], []])
        try book.store.apply([Self.unlink(1, from: 3), Self.link(5, 6)], at: 1)
        #expect(seen(1, 3, 5) == [[], [], []])
        #expect(seen(5, 6) == [[5, 6], [5, 6]])
        #expect(book.store.links(seeing: .all, within: .all) == book.store.links)
    }

    @Test("Unlinking or deleting a card leaves the others linked; a set has at least two")
    func unlinking() throws {
        let book = try Book((1...6).map { person("P\($0)") })
        try book.store.apply([Self.link(1, 2), Self.link(2, 3), Self.link(3, 4)], at: 1)
        // Linking linked cards or unlinking a single card changes nothing.
        #expect(
            try book.store.apply([Self.unlink(5, from: 1), Self.unlink(1, from: 5), Self.unlink(6, from: 6)], at: 1)
                == [])
        let out = try book.store.apply([Self.unlink(1, from: 3)], at: 1)
        #expect(Set(Self.told(out)) == ["unlink 1 2", "unlink 1 3", "unlink 1 4"])
        #expect(Self.sets(book.store) == [[1], [2, 3, 4], [2, 3, 4], [2, 3, 4], [5], [6]])
        let gone = try book.store.apply([.delete(RecordNumber(2))], at: 1)
        #expect(Self.told(gone) == ["deleteContact 2 0", "unlink 2 3", "unlink 2 4"])
        #expect(Self.sets(book.store) == [[1], [2], [3, 4], [3, 4], [5], [6]])
        try book.store.apply([Self.unlink(4, from: 4)], at: 1)
        #expect(book.store.links == ContactLinks())
        book.store.close()
        #expect(try book.folder.rows("SELECT * FROM link").isEmpty)
    }

    @Test("A failed save links nothing, and a missing card cannot be linked")
    func failing() throws {
        let book = try Book((1...2).map { person("P\($0)") })
        for change in [Self.link(1, 7), Self.link(7, 1), Self.unlink(7, from: 1), Self.unlink(1, from: 7)] {
            #expect(throws: ChangeError.recordDoesNotExist(index: 1)) {
                try book.store.apply([Self.link(1, 2), change], at: 1)
            }
        }
        #expect(book.store.links.isEmpty)
        #expect(try book.store.apply([Self.link(1, 2)], at: 1).count == 1)
    }

    @Test("The size of a set is bounded")
    func bound() throws {
        let most = Int64(StoreLimits.linkedCards)
        let book = try Book((1...most + 1).map { person("P\($0)") })
        try book.store.apply((2...most).map { Self.link(1, $0) }, at: 1)
        #expect(throws: ChangeError.tooManyLinked(index: 0)) {
            try book.store.apply([Self.link(most + 1, most)], at: 1)
        }
        #expect(book.store.links.members(of: RecordNumber(most)).count == Int(most))
        #expect(book.store.links.members(of: RecordNumber(most + 1)).count == 1)
    }

    @Test("An app that sees only one of two cards sees no change when they are linked")
    func visibility() throws {
        let book = try Book((1...3).map { person("P\($0)") })
        let before = book.store.lastChange
        try book.store.apply([Self.link(1, 2)], at: 1)
        let app = [UInt8](repeating: 1, count: 16)
        let last = { (scope: RecordScope) in
            try book.store.lastChange(after: before, in: ChangeScope(records: scope, keys: [], app: app))
        }
        for hidden in [scope(1), scope(2), scope(1, 3), scope(2, 3), scope(3)] { #expect(try last(hidden) == nil) }
        #expect(try last(scope(1, 2)) == book.store.lastChange)
        #expect(try last(.all) == book.store.lastChange)
        // The change before the link is found.
        try book.store.apply([.update(RecordNumber(1), person("New"), keys: ContactKeySet([.givenName]))], at: 1)
        let update = book.store.lastChange
        try book.store.apply([Self.unlink(1, from: 2)], at: 1)
        let names = ChangeScope(records: scope(1, 3), keys: ContactKeySet([.givenName]), app: app)
        #expect(try book.store.lastChange(after: before, in: names) == update)
    }

    @Test("A book from before links existed is migrated")
    func migration() throws {
        let book = try Book([person("Ada"), person("Bob")])
        book.store.close()
        try book.folder.execute(
            """
            DROP TABLE link; DELETE FROM grdb_migrations WHERE identifier = '4: links'; PRAGMA user_version = 3
            """)
        let again = try #require(
            try ContactsStore.open(folder: book.folder.book, owner: owner, creating: false, onDamage: { _ in }))
        defer { again.close() }
        #expect(again.links.isEmpty)
        #expect(try again.apply([Self.link(1, 2)], at: 1).count == 1)
    }
}
