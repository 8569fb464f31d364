import BrokerBounds
import BrokerModel
import Dispatch
import Synchronization
import Testing

@testable import BrokerContactsStore

@Suite("Limits on the length of a read")
struct LongReadTests {
    private static let many = 4_000

    private func crowd() throws -> Book {
        try Book((0..<Self.many).map { person($0 % 2 == 0 ? "Anna" : "Annabel", "N\(Self.many - $0)") })
    }

    /// Opens the book again, with no time for bounded reads.
    private func withoutTime(_ book: Book) throws -> ContactsStore {
        book.store.close()
        return try #require(
            try ContactsStore.open(
                folder: book.folder.book, owner: owner, creating: false, timeOnLoop: 0, onDamage: { _ in }))
    }

    private func found(
        _ query: ContactQuery, _ manner: ReadingManner, _ book: Book
    ) throws -> (records: [Int64], end: FetchEnd) {
        let (rows, end) = try book.store.fetch(unified: query, manner)
        return (rows.map(\.record.rawValue), end)
    }

    @Test("A read that would block the event loop is interrupted, and later reads work")
    func bounded() throws {
        let book = try crowd()
        let everybody = ContactQuery(scope: .all, predicate: .name("a"))
        let some = RecordScope.only(Set((1...3_000).map { RecordNumber(Int64($0)) }))
        for _ in 0..<2 {
            #expect(throws: StoreError.takesLong) { try book.store.count(everybody, .bounded) }
            #expect(throws: StoreError.takesLong) {
                try book.store.count(ContactQuery(scope: some, predicate: .name("b")), .bounded)
            }
            #expect(throws: StoreError.takesLong) {
                try book.store.search(PersonSearch("", scope: .all, order: .none, offset: 0, limit: 5), .bounded)
            }
            #expect(throws: StoreError.takesLong) {
                try found(ContactQuery(scope: some, order: .givenName, limit: 5), .bounded, book)
            }
            let few = ContactQuery(scope: .all, predicate: .name("ann"), order: .familyName, limit: 20)
            #expect(try found(few, .bounded, book).records == found(few, .whole, book).records)
            // After an interruption within a snapshot the connection is still usable.
            _ = try book.store.holdSnapshot()
        }
        book.store.release()
        #expect(try book.store.count(everybody, .onWorker) == Self.many)
        #expect(try book.store.count(everybody) == Self.many)
    }

    @Test("A read that is interrupted where its transaction begins or ends leaves none open")
    func interruptedTransaction() throws {
        let book = try Book((0..<10).map { person("Anna", "N\($0)") })
        let store = try withoutTime(book)
        defer { store.close() }
        let few = ContactQuery(scope: .only([RecordNumber(1), RecordNumber(2)]), predicate: .name("anna"))
        var interruptions = 0
        // SQLite counts the steps of a statement over all its runs, so every statement is interrupted at some time.
        for _ in 0..<3_000 {
            do throws(StoreError) {
                _ = try store.fetch(unified: few, .bounded)
            } catch {
                #expect(error == .takesLong)
                interruptions += 1
            }
            #expect(try store.fetch(unified: few).rows.count == 2)
        }
        #expect(interruptions > 0)
    }

    @Test("A read that exceeds its time is interrupted too; a short one is not")
    func time() throws {
        let book = try Book((0..<300).map { person("Anna", "N\($0)") })
        let store = try withoutTime(book)
        defer { store.close() }
        let everybody = ContactQuery(scope: .all, predicate: .name("a"))
        #expect(throws: StoreError.takesLong) { try store.count(everybody, .bounded) }
        #expect(try store.count(ContactQuery(scope: .all, predicate: .name("n7")), .bounded) == 11)
        #expect(try store.count(everybody, .onWorker) == 300)
    }

    @Test(
        "A read off the event loop gives the same, page by page",
        arguments: [ContactOrder.none, .givenName, .familyName], [true, false])
    func onWorker(order: ContactOrder, seesNames: Bool) throws {
        let book = try Book((0..<300).map { person("N\($0 * 7 % 300)", "F\($0 * 11 % 300)") })
        let keys = seesNames ? ContactKeySet.all : ContactKeySet([.familyName])
        for scope in [RecordScope.all, .only(Set((1...100).map { RecordNumber(Int64($0 * 3)) }))] {
            for predicate in [nil, ContactPredicate.name("f1")] {
                let expected = try book.records(scope, predicate, seeing: keys, order: order)
                for limit in [7, 1_000] {
                    var query = ContactQuery(
                        scope: scope, predicate: predicate, matchKeys: keys, order: order, limit: limit)
                    var records: [Int64] = []
                    var end: FetchEnd
                    repeat {
                        let page = try found(query, .onWorker, book)
                        (records, end) = (records + page.records, page.end)
                        query.after = end.last
                    } while end.hasMore
                    #expect(records == expected && !records.isEmpty)
                }
                #expect(
                    try book.store.count(
                        ContactQuery(scope: scope, predicate: predicate, matchKeys: keys), .onWorker) == expected.count)
            }
        }
    }

    @Test("A save is part of every later read, and of the cached list")
    func saves() throws {
        let book = try Book([person("Ada")])
        let query = ContactQuery(scope: .only(Set((1...100).map { RecordNumber($0) })), order: .givenName)
        for round in 2...20 {
            try book.store.apply([.add(RecordNumber(Int64(round)), person("N\(round)"))], at: 0)
            #expect(try found(query, .onWorker, book).records.count == round)
            let search = PersonSearch("n", scope: .all, order: .givenName, offset: 0, limit: 5)
            #expect(try book.store.search(search, .onWorker).total == round - 1)
            if round.isMultiple(of: 5) { book.store.releaseReadMemory() }
        }
    }

    @Test(
        "A list that was sorted off the loop is cached for the loop, until a change or its expiry",
        arguments: [true, false])
    func keptForTheLoop(seesNames: Bool) throws {
        let book = try crowd()
        let keys = seesNames ? ContactKeySet.all : ContactKeySet([.givenName])
        let scope = RecordScope.only(Set((1...3_000).map { RecordNumber(Int64($0)) }))
        var query = ContactQuery(scope: scope, matchKeys: keys, order: .familyName, limit: 7)
        #expect(throws: StoreError.takesLong) { try found(query, .bounded, book) }
        let first = try found(query, .onWorker, book)
        #expect(try found(query, .bounded, book).records == first.records)
        query.after = first.end.last
        let second = try found(query, .bounded, book)
        #expect(try second.records == found(query, .whole, book).records && second.records.count == 7)
        #expect(Set(first.records).isDisjoint(with: second.records))

        // Delete the contact to which the cursor points.
        let gone = try #require(first.records.last)
        try book.store.apply([.delete(RecordNumber(gone))], at: 0)
        #expect(throws: StoreError.takesLong) { try found(query, .bounded, book) }
        #expect(try found(query, .onWorker, book).records == second.records)
        #expect(try found(query, .bounded, book).records == second.records)

        let others = ContactQuery(
            scope: .only(Set((1...2_999).map { RecordNumber(Int64($0)) })), matchKeys: keys, order: .familyName,
            limit: 7)
        #expect(throws: StoreError.takesLong) { try found(others, .bounded, book) }
        book.store.releaseReadMemory()
        #expect(throws: StoreError.takesLong) { try found(query, .bounded, book) }
    }

    @Test("The log is checkpointed between successive reads, and closing the book ends them")
    func checkpoint() throws {
        let book = try crowd()
        let store = book.store
        let isOver = Atomic(false)
        let last = Mutex<StoreError?>(nil)
        let ended = DispatchSemaphore(value: 0)
        DispatchQueue(label: "long reads").async {
            do throws(StoreError) {
                while !isOver.load(ordering: .acquiring) {
                    _ = try store.count(ContactQuery(scope: .all, predicate: .name("a")), .onWorker)
                }
                while true { _ = try store.count(ContactQuery(scope: .all, predicate: .name("a")), .onWorker) }
            } catch {
                last.withLock { $0 = error }
            }
            ended.signal()
        }
        for round in 1...10 {
            try store.apply([.delete(RecordNumber(Int64(round)))], at: 0)
            try store.checkpoint()
            #expect(try book.folder.frames() == 0)
        }
        isOver.store(true, ordering: .releasing)
        store.close()
        #expect(ended.wait(timeout: .now() + .seconds(20)) == .success)
        #expect(last.withLock { $0 } == .unavailable(reason: "the book was closed"))
    }
}
