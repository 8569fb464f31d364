import BrokerModel
import Testing

@testable import BrokerContactsStore
@testable import BrokerNormalization

@Suite("Queries")
struct QueryTests {
    static let contacts = [
        person("Łukasz", "Żuk") { $0.nickname = "Wookie" },
        person("Anna", "Müller") {
            $0.organizationName = "Bäckerei Nord"
            $0.emailAddresses = [LabeledString(value: "Anna@Example.org")]
            $0.phoneNumbers = [LabeledString(value: "+44 (0)20 7946 0018")]
        },
        person("Émile", "Zola") { $0.phoneNumbers = [LabeledString(value: "112")] },
        person("anna", "Bach") { $0.phoneNumbers = [LabeledString(value: "020 7946 0018")] },
        person("小明", "王"),
        person("Иван", "Петров") { $0.emailAddresses = [LabeledString(value: "ivan@example.org")] },
        person() {
            $0.contactType = .organization
            $0.organizationName = "Blumen Eck"
        },
        person { $0.phoneNumbers = [LabeledString(value: "555 0199 77")] },
        person("Sean", "O’Brien"),
    ]

    let book: Book
    init() throws { book = try Book(Self.contacts, region: "GB") }

    static let everyone: [Int64] = [1, 2, 3, 4, 5, 6, 7, 8, 9]

    @Test("Contacts are sorted as requested, with accents and scripts in place, and those without a name last")
    func order() throws {
        #expect(try book.records() == Self.everyone)
        #expect(try book.records(order: .givenName) == [4, 2, 7, 3, 1, 9, 6, 5, 8])
        #expect(try book.records(order: .familyName) == [4, 7, 2, 9, 3, 1, 6, 5, 8])
    }

    @Test("A set of records has the same order as all records", arguments: ContactOrder.allCases)
    func orderWithin(order: ContactOrder) throws {
        let all = try book.records(order: order)
        #expect(try book.records(.only(Set(Self.everyone.map { RecordNumber($0) })), order: order) == all)
        #expect(try book.records(scope(2, 5, 8, 77), order: order) == all.filter { [2, 5, 8].contains($0) })
        #expect(try book.records(scope(), order: order).isEmpty)
    }

    @Test(
        "Reading page by page gives the same as reading at once", arguments: ContactOrder.allCases, [1, 2, 4, 8, 9, 10])
    func pages(order: ContactOrder, limit: Int) throws {
        let all = try book.records(order: order)
        #expect(try book.records(order: order, pages: limit) == all)
        #expect(
            try book.records(scope(1, 2, 3, 4, 5, 8), order: order, pages: limit)
                == all.filter { [1, 2, 3, 4, 5, 8].contains($0) })
        #expect(try book.records(.all, .name("a"), order: order, pages: limit) == all.filter { [2, 4].contains($0) })
    }

    @Test("Contacts with equal names are paged too")
    func sameNames() throws {
        let book = try Book((0..<25).map { _ in person("Ada", "Lovelace") } + (0..<25).map { _ in person() })
        for order in ContactOrder.allCases {
            #expect(try book.records(order: order, pages: 7) == Array(1...50))
        }
    }

    @Test("A page continues from its cursor if the contact there was deleted")
    func goneBetween() throws {
        var last: Position?
        for order in [ContactOrder.none, .givenName] {
            let book = try Book(Self.contacts, region: "GB")
            let all = try book.records(order: order)
            last = try book.store.fetch(ContactQuery(scope: .all, order: order, limit: 3)) { _, _, _ in }.last
            try book.store.apply([.delete(RecordNumber(all[2]))], at: 0)
            var rest: [Int64] = []
            _ = try book.store.fetch(ContactQuery(scope: .all, order: order, after: last)) { record, _, _ in
                rest.append(record.rawValue)
            }
            #expect(rest == Array(all[3...]))
        }
        // A cursor of one order is invalid in another, so reading starts at the beginning.
        var first: [Int64] = []
        _ = try book.store.fetch(ContactQuery(scope: .all, order: .none, after: last)) { record, _, _ in
            first.append(record.rawValue)
        }
        #expect(first == Self.everyone)
    }

    @Test("A page ends at its size limit, and has at least one contact")
    func byteLimit() throws {
        var sizes: [Int] = []
        _ = try book.store.fetch(ContactQuery(scope: .all)) { _, contact, _ in sizes.append(contact.size(of: .all)) }
        for scope in [RecordScope.all, .only(Set(Self.everyone.map { RecordNumber($0) }))] {
            for (limit, expected) in [(0, 1), (1, 1), (sizes[0], 1), (sizes[0] + 1, 2), (sizes[0] + sizes[1], 2)] {
                var count = 0
                let end = try book.store.fetch(ContactQuery(scope: scope, byteLimit: limit)) { _, _, _ in count += 1 }
                #expect(count == expected)
                #expect(end.hasMore)
            }
        }
    }

    @Test("Invisible keys do not affect where a page ends")
    func hiddenBytes() throws {
        let names = ContactKeySet([.givenName, .familyName])
        var ends: [Int] = []
        for note in ["", String(repeating: "x", count: 50_000)] {
            let book = try Book(Self.contacts, region: "GB")
            var noted = Contact()
            noted.note = note
            try book.store.apply(
                [.update(RecordNumber(Self.everyone[0]), noted, keys: ContactKeySet([.note]))], at: 0)
            var count = 0
            _ = try book.store.fetch(ContactQuery(scope: .all, byteLimit: 60, disclosedKeys: names)) { _, _, _ in
                count += 1
            }
            ends.append(count)
        }
        #expect(ends[0] == ends[1])
        #expect(ends[0] > 1)
    }

    @Test("An empty request gives nothing")
    func nothing() throws {
        let end = try book.store.fetch(ContactQuery(scope: .all, limit: 0)) { _, _, _ in
            Issue.record("a contact was returned")
        }
        #expect(end == FetchEnd(last: nil, hasMore: false))
    }

    static let predicates: [(ContactPredicate, [Int64])] = [
        (.name("anna"), [2, 4]), (.name("ANN"), [2, 4]), (.name("nna"), []), (.name("mull anna"), [2]),
        (.name("anna zola"), []), (.name("luk"), [1]), (.name("Łuk"), [1]), (.name("zuk"), [1]), (.name("emi"), [3]),
        (.name("wook"), [1]), (.name("baeck"), []), (.name("back"), [2]), (.name("blum eck"), [7]), (.name("小"), [5]),
        (.name("明王"), [5]), (.name("xiao"), [5]), (.name("ива"), [6]), (.name("petr"), [6]), (.name("obr"), [9]),
        (.name("brien"), [9]), (.name("o'brien"), [9]), (.name(""), []), (.name(" - "), []), (.name("example"), []),
        (.name("a b c d e f g h i j k l m n o p q"), []),
        (.emailAddress("anna@example.org"), [2]), (.emailAddress(" ANNA@EXAMPLE.ORG"), [2]),
        (.emailAddress("anna@example.or"), []), (.emailAddress("example.org"), []), (.emailAddress(""), []),
        (.phoneNumber("+442079460018"), [2, 4]), (.phoneNumber("7946 0018"), [2, 4]),
        (.phoneNumber("0044 20 7946 0018"), [2, 4]), (.phoneNumber("946 001 8"), [2, 4]),
        (.phoneNumber("460018"), [2, 4]), (.phoneNumber("0018"), []),
        (.phoneNumber("+1 20 7946 0018"), []), (.phoneNumber("020 7946 0018;ext=5"), [2, 4]),
        (.phoneNumber("112"), [3]), (.phoneNumber("12"), []), (.phoneNumber("1 112"), []), (.phoneNumber("none"), []),
        (.records([]), []), (.records([RecordNumber(3), RecordNumber(99), RecordNumber(3), RecordNumber(1)]), [1, 3]),
    ]

    @Test(
        "A predicate finds exactly the matching contacts, in the book and within a set of records",
        arguments: predicates)
    func predicate(predicate: ContactPredicate, expected: [Int64]) throws {
        #expect(try book.records(.all, predicate) == expected)
        #expect(try book.store.count(ContactQuery(scope: .all, predicate: predicate)) == expected.count)
        let every = RecordScope.only(Set(Self.everyone.map { RecordNumber($0) }))
        #expect(try book.records(every, predicate) == expected)
        #expect(try book.store.count(ContactQuery(scope: every, predicate: predicate)) == expected.count)
        let some = expected.filter { $0 > 2 }
        let within = scope(3, 4, 5, 6, 7, 8, 9, 99)
        #expect(try book.records(within, predicate) == some)
        #expect(try book.store.count(ContactQuery(scope: within, predicate: predicate)) == some.count)
        #expect(try book.records(scope(), predicate).isEmpty)
        for order in [ContactOrder.givenName, .familyName] {
            let ordered = try book.records(order: order).filter(expected.contains)
            #expect(try book.records(.all, predicate, order: order) == ordered)
            #expect(try book.records(every, predicate, order: order) == ordered)
        }
    }

    @Test("The whole book is counted, and sets of records")
    func counts() throws {
        #expect(try book.store.count(ContactQuery(scope: .all)) == 9)
        #expect(try book.store.count(ContactQuery(scope: scope(1, 2, 99))) == 2)
        #expect(try book.store.existing([1, 5, 99].map { RecordNumber($0) }) == [RecordNumber(1), RecordNumber(5)])
    }

    @Test("An invisible key neither matches nor affects the order")
    func keys() throws {
        let given = ContactKeySet([.givenName])
        for scope in [RecordScope.all, .only(Set(Self.everyone.map { RecordNumber($0) }))] {
            #expect(try book.records(scope, .name("anna"), seeing: given) == [2, 4])
            #expect(try book.records(scope, .name("bach"), seeing: given).isEmpty)
            #expect(try book.records(scope, .name("anna bach"), seeing: given).isEmpty)
            #expect(try book.records(scope, .emailAddress("anna@example.org"), seeing: given).isEmpty)
            #expect(try book.records(scope, .phoneNumber("112"), seeing: given).isEmpty)
            #expect(try book.records(scope, .name("anna"), seeing: ContactKeySet([.note])).isEmpty)
            // By family name, 4 comes before 2. By given name alone they are equal except for letter case.
            #expect(try book.records(scope, order: .familyName, pages: 2).first == 4)
            #expect(
                try book.records(scope, order: .familyName, seeing: ContactKeySet([.note]), pages: 2) == Self.everyone)
            let seen = try book.records(scope, order: .familyName, seeing: given, pages: 2)
            #expect(seen == [4, 2, 3, 1, 9, 6, 5, 7, 8])
            #expect(try book.records(scope, .name("a"), seeing: given, order: .familyName) == [4, 2])
        }
    }

    @Test("The number of contacts is known after opening and after each save")
    func size() throws {
        let book = try Book((0..<5).map { person("Ada \($0)") })
        #expect(book.store.size == 5)
        book.store.close()
        let store = try #require(
            try ContactsStore.open(folder: book.folder.book, owner: owner, creating: false, onDamage: { _ in }))
        defer { store.close() }
        store.prepare()
        #expect(store.size == 5)
        // Record numbers are times, and do not count the contacts.
        try store.apply(
            [
                .add(RecordNumber(1_795_299_618_000_000), person("Bob")), .delete(RecordNumber(1)),
                .delete(RecordNumber(2)), .update(RecordNumber(3), person("Eve"), keys: ContactKeySet([.givenName])),
            ], at: 0)
        #expect(store.size == 4)
        store.prepare()
        #expect(store.size == 4)
    }

    @Test("A word that most contacts have is found along the order, with the same result")
    func commonWords() throws {
        let book = try Book((0..<900).map { person($0 % 3 == 0 ? "Anton" : "Berta", "N\(899 - $0)") })
        let all = try book.records(order: .familyName).filter { ($0 - 1) % 3 == 0 }
        #expect(try book.records(.all, .name("ant"), order: .familyName, pages: 5) == all)
        #expect(try book.records(.all, .name("ant"), order: .none, pages: 5) == all.sorted())
        #expect(try book.records(.all, .name("ant"), order: .none, pages: 1_000) == all.sorted())
    }
}

extension Book {
    func records(
        _ scope: RecordScope, order: ContactOrder, seeing keys: ContactKeySet, pages limit: Int
    ) throws -> [Int64] {
        try records(scope, nil, seeing: keys, order: order, pages: limit)
    }
}

@Suite("The person's own search")
struct SearchTests {
    let book: Book
    init() throws { book = try Book(QueryTests.contacts, region: "GB") }

    private func found(
        _ text: String, _ scope: RecordScope = .all, excluding: Set<RecordNumber> = [], offset: Int = 0,
        limit: Int = 100
    ) throws -> [Int64] {
        try book.store.search(
            PersonSearch(text, scope: scope, excluding: excluding, order: .none, offset: offset, limit: limit)
        ).rows.map(\.0.rawValue)
    }

    @Test(
        "Names and e-mail addresses are found by the beginnings of words, phone numbers by any part",
        arguments: [
            ("anna", [2, 4]), ("example", [2, 6]), ("ivan@exa", [6]), ("anna ba", [2, 4]), ("7946", [2, 4]),
            ("79 46", [2, 4]), ("020 79", [2, 4]), ("0199", [8]), ("112", [3]), ("999", []), ("anna 7946", [2, 4]),
            ("anna 112", []), ("nobody", []),
        ])
    func search(text: String, expected: [Int64]) throws {
        #expect(try found(text) == expected)
        #expect(try found(text, scope(2, 3, 6)) == expected.filter { [2, 3, 6].contains($0) })
        #expect(try found(text, excluding: [RecordNumber(2)]) == expected.filter { $0 != 2 })
    }

    @Test("An empty search finds all contacts, page by page")
    func everybody() throws {
        #expect(try found("") == QueryTests.everyone)
        #expect(try found(" - ", scope(3, 9, 77)) == [3, 9])
        #expect(try found("", excluding: [RecordNumber(1)], offset: 1, limit: 2) == [3, 4])
        let part = try book.store.search(
            PersonSearch("", scope: .all, excluding: [RecordNumber(9)], order: .givenName, offset: 6, limit: 5))
        #expect(part.total == 8)
        #expect(part.rows.map(\.0.rawValue) == [5, 8])
    }
}

@Suite("Cursors")
struct PositionTests {
    @Test("A cursor's bytes have a fixed length, and decode to the same cursor")
    func bytes() throws {
        for key in [[], [1, 2, 3], [UInt8](repeating: 0xFF, count: CollationKey.maximumSize)] as [[UInt8]] {
            for record in [0, 1, -1, Int64.max, Int64.min] {
                let place = Position(order: .familyName, keys: 0x1234_ABCD, key: key, record: RecordNumber(record))
                #expect(place.bytes.count == Position.size)
                #expect(Position(bytes: place.bytes) == place)
            }
        }
        #expect(Position.size <= 256)
    }

    @Test("Other bytes are not a cursor")
    func otherBytes() {
        let bytes = Position(order: .none, keys: 0, key: [7], record: RecordNumber(1)).bytes
        #expect(Position(bytes: []) == nil)
        #expect(Position(bytes: bytes.dropLast()) == nil)
        #expect(Position(bytes: bytes + [0]) == nil)
        for (index, value) in [(0, 3), (1, 0), (1, 193), (50, 1)] as [(Int, UInt8)] {
            var changed = bytes
            changed[index] = value
            #expect(Position(bytes: changed) == nil)
        }
    }
}
