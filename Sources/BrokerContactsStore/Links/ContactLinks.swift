import BrokerModel
import BrokerNormalization

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

    /// Joins the sets of two cards, however many members that makes.
    mutating func join(_ one: RecordNumber, _ other: RecordNumber) {
        let (left, right) = (members(of: one), members(of: other))
        guard left != right else { return }
        for set in [left, right] { sets[set[0]] = nil }
        keep((left + right).sorted())
    }

    /// Takes a card out of its set. The others stay linked, if they are two at least.
    mutating func remove(_ record: RecordNumber) {
        guard let first = firsts[record], let set = sets[first] else { return }
        sets[first] = nil
        for member in set { firsts[member] = nil }
        keep(set.filter { $0 != record })
    }

    /// Links cards of a set anew: these sets and no others. Each card of a set that is touched must be among them.
    mutating func replace(_ records: some Sequence<RecordNumber>, by new: [[RecordNumber]]) {
        for record in records {
            guard let first = firsts.removeValue(forKey: record) else { continue }
            sets[first] = nil
        }
        for set in new { keep(set) }
    }

    /// Puts back what was written down.
    mutating func restore(_ record: RecordNumber, first: RecordNumber) {
        firsts[record] = first
        sets[first, default: []].append(record)
    }

    /// The lowest number in the set of a card; `nil` for one that is linked with none.
    func first(of record: RecordNumber) -> RecordNumber? { firsts[record] }

    private mutating func keep(_ set: [RecordNumber]) {
        guard set.count > 1 else { return }
        sets[set[0]] = set
        for record in set { firsts[record] = set[0] }
    }
}

/// Which cards are one, by whatever says so.
///
/// By evidence: cards that share an address or a number are linked if their names agree. Who may not read all that this is told
/// by must not see it in a link either: for them cards are linked by hand or not at all.
struct BookLinks: Hashable, Sendable {
    /// By evidence and by hand.
    var all = ContactLinks()
    /// What somebody said.
    var byHand = ContactLinks()

    /// Who reads these sees why cards are linked by evidence.
    static let evidenceKeys = LinkName.keys.union(ContactKeySet([.phoneNumbers, .emailAddresses]))

    func seeing(_ keys: ContactKeySet) -> ContactLinks {
        keys.isSuperset(of: Self.evidenceKeys) ? all : byHand
    }
}
