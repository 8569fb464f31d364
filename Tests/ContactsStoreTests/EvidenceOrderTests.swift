import BrokerModel
import Testing

@testable import BrokerContactsStore

@Suite("Links by evidence in any order")
struct EvidenceOrderTests {
    @Test("The same cards are linked, whatever the order of additions and edits", arguments: 1...16)
    func order(seed: UInt64) throws {
        var numbers = SmallRandom(seed: seed)
        let pick = { (texts: [String], numbers: inout SmallRandom) in texts[Int(numbers.next() % UInt64(texts.count))] }
        let emails = (1...5).map { "mail\($0)@example.org" }
        let phones = (1...5).map { "+49 30 555010\($0)" }
        let make = { (numbers: inout SmallRandom) in
            card(
                pick(["John", "John", "J.", "James", "Jane", ""], &numbers),
                pick(["Smith", "Smith", "Jones", ""], &numbers),
                email: Set((0..<numbers.next() % 3).map { _ in pick(emails, &numbers) }).sorted(),
                phone: Set((0..<numbers.next() % 3).map { _ in pick(phones, &numbers) }).sorted())
        }
        let count = 14
        let cards = (0..<count).map { _ in make(&numbers) }
        // Most cards have a container of their own; some share one.
        let containers = (0..<count).map { RecordNumber(1_000_000 + Int64($0 % 10)) }
        let pairs = (0..<4).map { _ in (Int(numbers.next() % UInt64(count)), Int(numbers.next() % UInt64(count))) }
        let keys = ContactKeySet([.givenName, .familyName, .emailAddresses, .phoneNumbers])
        var found: Set<Set<Set<Int>>> = []
        for round in 0..<4 {
            let book = try Book()
            try book.store.apply(
                Set(containers).sorted().map { .container(.add($0, name: "C\($0.rawValue)")) }, at: 1)
            let order = round == 0 ? Array(0..<count) : (0..<count).shuffled(using: &numbers)
            var rest = order[...]
            while !rest.isEmpty {
                let batch = rest.prefix(1 + Int(numbers.next() % 4))
                rest = rest.dropFirst(batch.count)
                // Some cards are edited later, and some are deleted again.
                let changes = batch.flatMap { index -> [ContactChange] in
                    let record = RecordNumber(Int64(1 + (order.firstIndex(of: index) ?? 0)))
                    let put = ContactChange.container(.put(record, isGroup: false, in: containers[index]))
                    guard round > 0, numbers.next() % 3 == 0 else { return [.add(record, cards[index]), put] }
                    return [
                        .add(record, make(&numbers)), put, .add(RecordNumber(record.rawValue + 100), make(&numbers)),
                    ]
                }
                try book.store.apply(changes, at: 1, isEvidence: true)
            }
            let place = { (index: Int) in RecordNumber(Int64(1 + (order.firstIndex(of: index) ?? 0))) }
            // Name each pair once, in a fixed order: the result of repeated decisions would depend on their order.
            let said = Array(Set(pairs.map { [min($0.0, $0.1), max($0.0, $0.1)] })).filter { $0[0] != $0[1] }.sorted {
                ($0[0], $0[1]) < ($1[0], $1[1])
            }
            let edits = (0..<count).shuffled(using: &numbers).map { index in
                ContactChange.update(place(index), cards[index], keys: keys)
            }
            let gone = try (101...100 + count).map { RecordNumber(Int64($0)) }.filter {
                try book.contact($0.rawValue) != nil
            }
            let clean = edits + gone.map { .delete($0) }
            try book.store.apply(clean, at: 1, isEvidence: true)
            // Remove all evidence before the links by hand, so that those links mean the same in every book.
            let blank = (0..<count).map { ContactChange.update(place($0), card("X"), keys: keys) }
            try book.store.apply(blank, at: 1, isEvidence: true)
            #expect(book.store.links.isEmpty)
            for (index, pair) in said.enumerated() {
                let (one, other) = (place(pair[0]), place(pair[1]))
                try book.store.apply(
                    [.link(index % 2 == 0 ? .link(one, other) : .unlink(one, from: other))], at: 1)
            }
            for change in edits { try book.store.apply([change], at: 1, isEvidence: true) }
            let sets = book.store.sets(of: 1...Int64(count)).map { Set($0.map { order[Int($0) - 1] }) }
            found.insert(Set(sets))
        }
        #expect(found.count == 1, "\(found)")
    }
}

/// Pseudo-random numbers from a seed (xorshift64*).
struct SmallRandom: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }
}
