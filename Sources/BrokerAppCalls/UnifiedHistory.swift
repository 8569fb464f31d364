import BrokerContactsStore
import BrokerModel

/// Computes the events of a ``HistoryPlan`` for an app that sees linked cards as one contact. It compares the
/// app's former unified contacts with the current ones.
///
/// When two cards are linked, both are removed as single contacts, and their unified contact is added;
/// unlinking does the opposite. As in the plan, events cover everything that the app could see since the
/// place. This includes cards that were linked and unlinked again, or unlinked and linked again. Events
/// remove each former identifier that the app may know, and send each current identifier with its contact's
/// state.
struct UnifiedHistory: Hashable {
    /// A single card, or cards that the app sees as one contact. The first card names the contact.
    struct Person: Hashable {
        let first: RecordNumber
        let isUnified: Bool
    }

    private(set) var gone: [Person: HistoryPlan.Kind] = [:]
    /// The events for current contacts, keyed by the first card of each contact.
    private(set) var contacts: [RecordNumber: HistoryPlan.Kind] = [:]

    private typealias Members = [RecordNumber]
    private struct Pair: Hashable {
        let record: RecordNumber
        let member: RecordNumber

        init(_ one: RecordNumber, _ other: RecordNumber) { (record, member) = (min(one, other), max(one, other)) }
    }

    private let plan: HistoryPlan
    private let scope: RecordScope
    private let links: ContactLinks
    /// For each pair with changes, whether it was linked before the first change.
    private var wereLinked: [Pair: Bool] = [:]
    private var partners: [RecordNumber: Set<RecordNumber>] = [:]
    private var changesOf: [Pair: [BookChange]] = [:]

    /// - Parameters:
    ///   - changes: all changes since the place, including those that the plan does not disclose.
    ///   - links: the current links.
    init(
        _ plan: HistoryPlan, _ changes: [BookChange], _ links: ContactLinks, _ scope: ChangeScope,
        excluding isExcluded: (ChangeAuthor) -> Bool = { _ in false }
    ) {
        (self.plan, self.links, self.scope) = (plan, links, scope.records)
        for change in changes where scope.reports(change.kind) {
            // A link by evidence follows from a change to a card. The author of that change does not learn of
            // the link, so the link is never excluded.
            guard let isLinked = change.kind.links, let member = change.member,
                change.kind.isByEvidence || !isExcluded(change.author)
            else { continue }
            let pair = Pair(change.record, member)
            changesOf[pair, default: []].append(change)
            if wereLinked[pair] == nil { wereLinked[pair] = !isLinked }
            partners[change.record, default: []].insert(member)
            partners[member, default: []].insert(change.record)
        }
        compare()
    }

    private mutating func compare() {
        let touched = plan.came.union(plan.went).union(plan.contacts.keys).union(plan.gone.keys).union(partners.keys)
        var (before, now): ([Person: Set<RecordNumber>], [Person: Set<RecordNumber>]) = ([:], [:])
        var concerned: Set<RecordNumber> = touched
        for record in touched {
            concerned.formUnion(membersBefore(record) + membersNow(record) + partners(everSeenOf: record))
        }
        for record in concerned {
            if let person = Self.person(membersBefore(record)) { before[person, default: []].insert(record) }
            if let person = Self.person(membersNow(record)) { now[person, default: []].insert(record) }
        }
        for (person, members) in before where now[person] == nil {
            let kinds = members.compactMap { plan.gone[$0] }
            // If an excluded author removed all of the contact's cards, no removal is sent. If a card remains
            // under a different identifier, the removal of the old identifier is sent.
            guard !kinds.isEmpty || !members.isSubset(of: plan.went) else { continue }
            gone[person] = kinds.contains(.revoked) ? .revoked : .deleteContact
        }
        var moved: Set<RecordNumber> = []
        for record in concerned {
            let (seen, steady) = (partners(everSeenOf: record), steadyPartners(of: record))
            if !seen.subtracting(steady).isEmpty { moved.insert(record) }
            // An excluded author removed the card, so nothing is sent.
            if plan.went.contains(record), plan.gone[record] == nil { continue }
            let alone = Person(first: record, isUnified: false)
            guard moved.contains(record) || plan.gone[record] != nil else { continue }
            let all = seen.flatMap { timesTogether(record, $0) }
            if isKnown(record), !HistoryPlan.covers(all, plan.seen([record])) { reportAsDeleted(alone, unless: now) }
            let lower = seen.filter { $0 < record }.flatMap { timesTogether(record, $0) }
            let higher = seen.filter { $0 > record }.flatMap { timesTogether(record, $0) }
            if !HistoryPlan.covers(lower, higher) {
                reportAsDeleted(Person(first: record, isUnified: true), unless: now)
            }
        }
        for (person, members) in now {
            let kinds = members.compactMap { plan.contacts[$0] }
            if let former = before[person] {
                guard !kinds.isEmpty || former != members || !members.isDisjoint(with: moved) else { continue }
                contacts[person.first] = kinds.contains(.granted) ? .granted : .updateContact
            } else if members.isSubset(of: plan.came) {
                guard !kinds.isEmpty || !members.isDisjoint(with: moved) else { continue }
                contacts[person.first] =
                    kinds.contains(.granted)
                    ? .granted
                    : kinds.contains(.updateContact) && !kinds.contains(.addContact) ? .updateContact : .addContact
            } else {
                contacts[person.first] = kinds.contains(.granted) ? .granted : .addContact
            }
        }
    }

    // MARK: Groups

    /// Visible cards that are reported as deleted because they have become part of a unified contact. The app
    /// then drops their memberships too, so the broker sends the memberships again.
    var cardsReportedDeleted: Set<RecordNumber> {
        Set(gone.keys.lazy.filter { !$0.isUnified && isVisible($0.first) }.map(\.first))
    }

    /// - Parameter withCards: whether to add an event for every removed card. Memberships name cards, not
    ///   unified contacts.
    func gone(withCards: Bool) -> [Person: HistoryPlan.Kind] {
        guard withCards else { return gone }
        let cards = plan.gone.map { (Person(first: $0.key, isUnified: false), $0.value) }
        return gone.merging(cards) { kinds, _ in kinds }
    }

    private mutating func reportAsDeleted(_ person: Person, unless now: [Person: Set<RecordNumber>]) {
        guard now[person] == nil, gone[person] == nil else { return }
        gone[person] = plan.gone[person.first] ?? .deleteContact
    }

    /// The cards that the app could see linked with this one at any time since the place.
    private func partners(everSeenOf record: RecordNumber) -> Set<RecordNumber> {
        Set(links.members(of: record)).union(partners[record] ?? []).filter { other in
            other != record && !timesTogether(record, other).isEmpty
        }
    }

    /// The ranges of change numbers in which the app could see two cards as one contact.
    private func timesTogether(_ record: RecordNumber, _ other: RecordNumber) -> [ClosedRange<Int64>] {
        guard isKnown(record), isKnown(other) else { return [] }
        let times = changesOf[Pair(record, other)].map { HistoryPlan.together($0) { $0.links == true } }
        return plan.seen([record, other], within: times ?? [0 ... .max])
    }

    /// The cards that were visibly linked with this one during the whole time since the place.
    private func steadyPartners(of record: RecordNumber) -> Set<RecordNumber> {
        guard isVisible(record), wasVisible(record), !plan.hasMoved(record) else { return [] }
        return Set(links.members(of: record)).filter { other in
            other != record && wereLinked[Pair(record, other)] == nil && isVisible(other) && wasVisible(other)
                && !plan.hasMoved(other)
        }
    }

    /// Whether the app could see a card at any time since the place.
    private func isKnown(_ record: RecordNumber) -> Bool {
        isVisible(record) || wasVisible(record) || plan.gone[record] != nil
    }

    private static func person(_ members: Members) -> Person? {
        members.first.map { Person(first: $0, isUnified: members.count > 1) }
    }

    private func isVisible(_ record: RecordNumber) -> Bool { scope.contains(record) && !plan.went.contains(record) }

    private func wasVisible(_ record: RecordNumber) -> Bool {
        !plan.came.contains(record) && (scope.contains(record) || plan.went.contains(record))
    }

    /// The visible cards of the contact that the card belongs to; empty if the card is not visible.
    private func membersNow(_ record: RecordNumber) -> Members {
        isVisible(record) ? links.members(of: record).filter(isVisible) : []
    }

    private func membersBefore(_ record: RecordNumber) -> Members {
        guard wasVisible(record) else { return [] }
        let now = Set(links.members(of: record))
        return now.union(partners[record] ?? []).filter { other in
            guard other != record, let wasLinked = wereLinked[Pair(record, other)] else { return now.contains(other) }
            return wasLinked
        }.filter(wasVisible).sorted()
    }
}
