import ContactsModel

/// Which cards of a book are about one person: linked cards form sets, and each card is in one at most.
///
/// A set is kept under the lowest number in it. What somebody sees of a set is a function of the members that they may
/// see, so nothing here is told to anybody as it is: see ``members(of:within:)``.
public struct ContactLinks: Hashable, Sendable {
    /// Of each linked card: the lowest number in its set.
    private var firsts: [RecordNumber: RecordNumber] = [:]
    /// By the lowest number: the set in rising order, of two cards at least.
    private var sets: [RecordNumber: [RecordNumber]] = [:]

    /// Most cards in one set. A change of a set is told pair by pair.
    public static let mostMembers = 64

    public init() {}

    public var isEmpty: Bool { sets.isEmpty }

    /// Cards of which another one is the first in their set.
    var followers: Int { firsts.count - sets.count }

    /// The cards linked with one, itself among them, in rising order.
    public func members(of record: RecordNumber) -> [RecordNumber] {
        firsts[record].flatMap { sets[$0] } ?? [record]
    }

    /// The same, of a scope. Empty where the card itself is outside it.
    public func members(of record: RecordNumber, within scope: RecordScope) -> [RecordNumber] {
        guard scope.contains(record) else { return [] }
        return members(of: record).filter(scope.contains)
    }

    public func isLinked(_ record: RecordNumber) -> Bool { firsts[record] != nil }

    func areLinked(_ one: RecordNumber, _ other: RecordNumber) -> Bool {
        one == other || firsts[one] != nil && firsts[one] == firsts[other]
    }

    // MARK: Changing

    /// Two cards that became linked, or are so no longer; the lower number first.
    typealias Pair = (record: RecordNumber, member: RecordNumber)

    /// What to write down after a change: of these cards, under which number their set is kept now; `nil`: in none.
    typealias Written = [(record: RecordNumber, first: RecordNumber?)]

    /// Joins the sets of two cards. `nil`: the set would have too many members.
    mutating func link(_ one: RecordNumber, _ other: RecordNumber) -> (pairs: [Pair], written: Written)? {
        let (left, right) = (members(of: one), members(of: other))
        guard left != right else { return ([], []) }
        guard left.count + right.count <= Self.mostMembers else { return nil }
        let joined = (left + right).sorted()
        let pairs = left.flatMap { left in right.map { Pair(min(left, $0), max(left, $0)) } }
        let before = joined.map { firsts[$0] }
        for set in [left, right] { sets[set[0]] = nil }
        keep(joined)
        let written = zip(joined, before).filter { $1 != joined[0] }.map { (record: $0.0, first: Optional(joined[0])) }
        return (pairs, written)
    }

    /// Takes a card out of its set. The others stay linked, if they are two at least.
    mutating func unlink(_ record: RecordNumber) -> (pairs: [Pair], written: Written) {
        guard let first = firsts[record], let set = sets[first] else { return ([], []) }
        let rest = set.filter { $0 != record }
        sets[first] = nil
        firsts[record] = nil
        var written: Written = [(record, nil)]
        if rest.count > 1 {
            keep(rest)
            if rest[0] != first { written += rest.map { ($0, rest[0]) } }
        } else {
            for record in rest {
                firsts[record] = nil
                written.append((record, nil))
            }
        }
        return (rest.map { Pair(min(record, $0), max(record, $0)) }, written)
    }

    /// Puts back what was written down.
    mutating func restore(_ record: RecordNumber, first: RecordNumber) {
        firsts[record] = first
        sets[first, default: []].append(record)
    }

    private mutating func keep(_ set: [RecordNumber]) {
        sets[set[0]] = set
        for record in set { firsts[record] = set[0] }
    }
}
