import BrokerModel
import Testing

@testable import BrokerContactsStore

@Suite("Unified contacts")
struct UnifyingTests {
    /// Many similar names, in pairs and larger sets, so that every query plan is used.
    private static func crowd() throws -> Book {
        let names = ["Ada", "Adam", "Adele", "Bob", "Bobby", "Cid"]
        let book = try Book(
            (0..<1_200).map { number in
                person(names[number % 6], "Zet\(number * 7 % 1_200)") {
                    $0.phoneNumbers = [LabeledString(value: "+49 30 555\(1_000 + number % 50)")]
                }
            })
        var changes: [ContactChange] = []
        for number in stride(from: Int64(1), to: 1_000, by: 3) {
            changes.append(.link(.link(RecordNumber(number), RecordNumber(1_200 - number * 3 % 400))))
        }
        try book.store.apply(changes, at: 0)
        return book
    }

    private static let predicates: [ContactPredicate?] = [
        nil, .name("a"), .name("ada"), .name("adam"), .name("bob"), .name("cid zet1"), .name("zet"), .name("nobody"),
        .phoneNumber("+49 30 5551007"), .emailAddress("x@example.org"),
        .records((1...50).map { RecordNumber($0 * 20) }),
    ]

    @Test("A unified contact is found by any of its visible cards, is placed by the first, and appears once")
    func pages() throws {
        let book = try Self.crowd()
        let links = book.store.links
        let some = RecordScope.only(Set((1...1_200).filter { $0 % 5 != 1 }.map { RecordNumber(Int64($0)) }))
        for scope in [RecordScope.all, some] {
            for (order, keys) in [
                (ContactOrder.none, ContactKeySet.all), (.givenName, .all), (.familyName, .all),
                (.familyName, ContactKeySet([.familyName, .phoneNumbers])),
            ] {
                let everybody = try book.records(scope, seeing: keys, order: order)
                for predicate in Self.predicates {
                    let found = try book.records(scope, predicate, seeing: keys, order: order)
                    let firsts = Set(
                        found.compactMap { links.members(of: RecordNumber($0), within: scope).first?.rawValue })
                    let expected = everybody.filter(firsts.contains)
                    for limit in [17, 1_000] {
                        let told = try book.records(
                            scope, predicate, seeing: keys, order: order, pages: limit, unifies: true)
                        #expect(told == expected, "\(order) \(String(describing: predicate))")
                    }
                    let query = ContactQuery(scope: scope, predicate: predicate, matchKeys: keys, unifies: true)
                    #expect(try book.store.count(query) == expected.count, "\(String(describing: predicate))")
                }
            }
        }
    }

    @Test("A unified contact has exactly its linked cards")
    func others() throws {
        let book = try Self.crowd()
        let links = book.store.links
        let some = RecordScope.only(Set((1...1_200).filter { $0 % 5 != 1 }.map { RecordNumber(Int64($0)) }))
        for scope in [RecordScope.all, some] {
            var told: [RecordNumber] = []
            let query = ContactQuery(scope: scope, limit: 2_000, byteLimit: .max, unifies: true)
            for contact in try book.store.fetch(unified: query).rows {
                let members = [contact.record] + contact.others.map(\.record)
                #expect(members == links.members(of: contact.record, within: scope))
                told += members
            }
            #expect(told.count == Set(told).count)
            #expect(try told.count == book.store.count(ContactQuery(scope: scope)))
            // Without unifying, each card is separate.
            let alone = try book.store.fetch(unified: ContactQuery(scope: scope, limit: 50)).rows
            #expect(alone.count == 50 && alone.allSatisfy(\.others.isEmpty))
        }
    }
}
