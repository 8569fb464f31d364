import BrokerModel
import BrokerNormalization
import BrokerSQLite
import Testing

@testable import BrokerContactsStore

@Suite("The language of a book's order")
struct LanguageTests {
    private static let names = ["Ohm", "Öberg", "Zorn", "Åberg", "Ärlig", "Cech", "Chudy", "Hora"]
    /// Names by number in the root order, in Swedish and in Slovak.
    private static let root: [Int64] = [4, 5, 6, 7, 8, 2, 1, 3]
    private static let swedish: [Int64] = [6, 7, 8, 1, 3, 4, 5, 2]
    private static let slovak: [Int64] = [4, 5, 6, 8, 7, 2, 1, 3]

    private static let people = names.map { person("", $0) }

    private func set(_ language: String, in book: Book) throws {
        var settings = book.store.settings
        settings.language = language
        try book.store.set(settings)
    }

    /// A change of the language must give what a new book of that language has.
    @Test("A list is in the order of the language, whatever selects it", arguments: [1, 3, 100])
    func orders(pages: Int) throws {
        let book = try Book(Self.people)
        for (language, expected) in [("", Self.root), ("sv", Self.swedish), ("sk", Self.slovak), ("", Self.root)] {
            try set(language, in: book)
            #expect(book.store.locale == language)
            let all = RecordScope.only(Set((1...8).map { RecordNumber($0) }))
            let hidden = ContactKeySet.all.subtracting(ContactKeySet(.nickname))
            #expect(try book.records(order: .familyName, pages: pages) == expected)
            #expect(try book.records(order: .givenName, pages: pages) == expected)
            #expect(try book.records(all, order: .familyName, pages: pages) == expected)
            #expect(try book.records(all, seeing: hidden, order: .familyName, pages: pages) == expected)
            // Words and their beginnings: names with o, whatever its accent.
            let found = try book.records(.all, .name("o"), order: .familyName, pages: pages)
            #expect(found == expected.filter { [1, 2].contains($0) })
        }
    }

    @Test("New contacts are sorted by the present language")
    func added() throws {
        let book = try Book(Self.people)
        let more: [ContactChange] = (100..<180).map { number in
            .add(RecordNumber(number), person("N\(number)", number.isMultiple(of: 2) ? "Ö" : "P"))
        }
        try set("sv", in: book)
        try book.store.apply(more, at: 0)
        try book.store.apply([.add(RecordNumber(9), person("", "Åström"))], at: 0)
        let found = try book.records(order: .familyName)
        let (letterP, letterZ) = (try #require(found.firstIndex(of: 101)), try #require(found.firstIndex(of: 3)))
        let letters = [9, 5, 100].map { found.firstIndex(of: $0) ?? 0 }
        #expect(letterP < letterZ && letterZ < letters[0] && letters[0] < letters[1] && letters[1] < letters[2])
    }

    @Test("A cursor of another order is refused, so that no page skips or repeats a contact")
    func cursors() throws {
        let book = try Book(Self.people)
        for (scope, predicate) in [
            (RecordScope.all, nil), (scope(1, 2, 3, 4, 5), nil), (.all, ContactPredicate.name("o")),
        ] {
            try set("", in: book)
            var query = ContactQuery(scope: scope, predicate: predicate, order: .familyName, limit: 1)
            query.after = try book.store.fetch(query) { _, _, _ in }.last
            _ = try book.store.fetch(query) { _, _, _ in }
            try set("sv", in: book)
            #expect(throws: StoreError.otherOrder) { try book.store.fetch(query) { _, _, _ in } }
            // A list without an order goes on.
            query.after = nil
            query.order = .none
            query.after = try book.store.fetch(query) { _, _, _ in }.last
            try set("", in: book)
            _ = try book.store.fetch(query) { _, _, _ in }
        }
    }

    @Test("The language survives closing; another default rebuilds the keys once, in the background")
    func reopened() throws {
        let folder = try ScratchFolder()
        func open(_ locale: String) throws -> ContactsStore {
            try #require(
                try ContactsStore.open(
                    folder: folder.book, owner: owner, creating: true, locale: locale, onDamage: { _ in }))
        }
        func list(_ store: ContactsStore) throws -> [Int64] {
            var found: [Int64] = []
            _ = try store.fetch(ContactQuery(scope: .all, order: .familyName)) { record, _, _ in
                found.append(record.rawValue)
            }
            return found
        }
        var store = try open("sv_SE.UTF-8")
        try store.apply(Self.people.enumerated().map { .add(RecordNumber(Int64($0 + 1)), $1) }, at: 0)
        #expect(try list(store) == Self.swedish)
        store.close()
        // Opening does not wait for the new order.
        store = try open("sk_SK.UTF-8")
        #expect(try list(store) == Self.swedish && store.locale == "sv_SE")
        store.prepare()
        #expect(try list(store) == Self.slovak && store.locale == "sk_SK")
        let changes = try store.write { $0.database.totalChangesCount }
        store.prepare()
        #expect(try store.write { $0.database.totalChangesCount } == changes, "the keys are rebuilt once")
        var settings = store.settings
        settings.language = "sv"
        try store.set(settings)
        store.close()
        store = try open("sk_SK.UTF-8")
        store.prepare()
        #expect(try list(store) == Self.swedish && store.locale == "sv")
        settings.language = ""
        try store.set(settings)
        #expect(try list(store) == Self.slovak)
        store.close()
    }
}
