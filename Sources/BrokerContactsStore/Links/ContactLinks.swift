import BrokerBounds
import BrokerModel
import BrokerNormalization

/// The links between the cards of a book. Linked cards describe the same person and form a set. Each card is
/// in at most one set.
///
/// A set is stored under its lowest record number. A reader may see only the members within its scope, so
/// never disclose a whole set; use ``members(of:within:)``.
public struct ContactLinks: Hashable, Sendable {
    /// For each linked card, the lowest number in its set.
    private var firsts: [RecordNumber: RecordNumber] = [:]
    /// The sets by their lowest number. Each set is in ascending order and has at least two cards.
    private var sets: [RecordNumber: [RecordNumber]] = [:]

    public init() {}

    public var isEmpty: Bool { sets.isEmpty }

    /// The linked cards, in ascending order.
    var records: [RecordNumber] { firsts.keys.sorted() }

    /// The number of linked cards that are not the first of their set.
    var followers: Int { firsts.count - sets.count }

    /// Returns a card and all cards linked with it, in ascending order.
    public func members(of record: RecordNumber) -> [RecordNumber] {
        firsts[record].flatMap { sets[$0] } ?? [record]
    }

    /// Returns a card and the cards linked with it that are in the scope. Returns an empty list if the card
    /// itself is outside the scope.
    public func members(of record: RecordNumber, within scope: RecordScope) -> [RecordNumber] {
        guard scope.contains(record) else { return [] }
        return members(of: record).filter(scope.contains)
    }

    /// Returns the links between these cards only.
    func within(_ records: Set<RecordNumber>) -> ContactLinks {
        var visible: [RecordNumber: [RecordNumber]] = [:]
        for record in records {
            if let first = firsts[record] { visible[first, default: []].append(record) }
        }
        var links = ContactLinks()
        for set in visible.values { links.keep(set.sorted()) }
        return links
    }

    public func isLinked(_ record: RecordNumber) -> Bool { firsts[record] != nil }

    func areLinked(_ one: RecordNumber, _ other: RecordNumber) -> Bool {
        one == other || firsts[one] != nil && firsts[one] == firsts[other]
    }

    // MARK: Changing

    /// Joins the sets of two cards. Does not check `StoreLimits.linkedCards`.
    mutating func join(_ one: RecordNumber, _ other: RecordNumber) {
        let (left, right) = (members(of: one), members(of: other))
        guard left != right else { return }
        for set in [left, right] { sets[set[0]] = nil }
        keep((left + right).sorted())
    }

    /// Removes a card from its set. The other cards stay linked if there are at least two.
    mutating func remove(_ record: RecordNumber) {
        guard let first = firsts[record], let set = sets[first] else { return }
        sets[first] = nil
        for member in set { firsts[member] = nil }
        keep(set.filter { $0 != record })
    }

    /// Replaces the sets of these cards with new sets. If a card is given, all members of its set must be
    /// given too.
    mutating func replace(_ records: some Sequence<RecordNumber>, by new: [[RecordNumber]]) {
        for record in records {
            guard let first = firsts.removeValue(forKey: record) else { continue }
            sets[first] = nil
        }
        for set in new { keep(set) }
    }

    /// Adds one row of a link table. Add the rows of a set in ascending order, because the set keeps that
    /// order.
    mutating func restore(_ record: RecordNumber, first: RecordNumber) {
        firsts[record] = first
        sets[first, default: []].append(record)
    }

    /// Returns the lowest number in the set of a card; `nil` if the card is not linked.
    func first(of record: RecordNumber) -> RecordNumber? { firsts[record] }

    private mutating func keep(_ set: [RecordNumber]) {
        guard set.count > 1 else { return }
        sets[set[0]] = set
        for record in set { firsts[record] = set[0] }
    }
}

/// The links of a book: those by evidence and those made by hand.
///
/// Evidence links cards that share an e-mail address or a phone number if their names agree. A reader who may
/// not read all ``evidenceKeys`` must not infer hidden values from a link. Such a reader sees only the links
/// made by hand.
struct BookLinks: Hashable, Sendable {
    /// The links by evidence and the links made by hand.
    var all = ContactLinks()
    /// The links made by hand.
    var byHand = ContactLinks()

    /// The keys that evidence uses. Only readers of all these keys see links by evidence.
    static let evidenceKeys = LinkName.keys.union(ContactKeySet([.phoneNumbers, .emailAddresses]))

    func seeing(_ keys: ContactKeySet) -> ContactLinks {
        keys.isSuperset(of: Self.evidenceKeys) ? all : byHand
    }
}
