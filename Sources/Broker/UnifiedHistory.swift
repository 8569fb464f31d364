import ContactsModel
import ContactsStore

/// The events of a ``HistoryPlan`` for an app that sees linked cards as one: whom it knew, compared with whom it knows.
///
/// Two cards that become linked are gone as contacts of their own, and their unified contact is added; taken apart, the
/// other way round. Pure: values in, values out.
struct UnifiedHistory: Hashable {
    /// A card, or the cards that the app sees as one, by the first of them.
    struct Person: Hashable {
        let first: RecordNumber
        let isUnified: Bool
    }

    private(set) var gone: [Person: HistoryPlan.Kind] = [:]
    /// By the first card.
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
    /// Of a pair to which something happened: the opposite of what happened first.
    private var wereLinked: [Pair: Bool] = [:]
    private var partners: [RecordNumber: Set<RecordNumber>] = [:]

    /// - Parameters:
    ///   - changes: all since that place up to now, also those that the plan does not tell of.
    ///   - links: as they are now.
    init(
        _ plan: HistoryPlan, _ changes: [BookChange], _ links: ContactLinks, _ scope: ChangeScope,
        excluding isExcluded: (ChangeAuthor) -> Bool = { _ in false }
    ) {
        (self.plan, self.links, self.scope) = (plan, links, scope.records)
        for change in changes where scope.tellsOf(change.kind) {
            // What follows from evidence an author does not know, though they brought it about.
            guard let isLinked = change.kind.links, let member = change.member,
                change.kind.isByEvidence || !isExcluded(change.author)
            else { continue }
            let pair = Pair(change.record, member)
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
        for record in touched { concerned.formUnion(membersBefore(record) + membersNow(record)) }
        for record in concerned {
            if let person = Self.person(membersBefore(record)) { before[person, default: []].insert(record) }
            if let person = Self.person(membersNow(record)) { now[person, default: []].insert(record) }
        }
        for (person, members) in before where now[person] == nil {
            let told = members.compactMap { plan.gone[$0] }
            // What went by an author whose changes are known is not told; what stays under another name is.
            guard !told.isEmpty || !members.isSubset(of: plan.went) else { continue }
            gone[person] = told.contains(.revoked) ? .revoked : .deleteContact
        }
        for (person, members) in now {
            let told = members.compactMap { plan.contacts[$0] }
            if let former = before[person] {
                guard !told.isEmpty || former != members else { continue }
                contacts[person.first] = told.contains(.granted) ? .granted : .updateContact
            } else if members.isSubset(of: plan.came) {
                guard !told.isEmpty else { continue }
                contacts[person.first] =
                    told.contains(.granted) ? .granted : told.contains(.addContact) ? .addContact : .updateContact
            } else {
                contacts[person.first] = told.contains(.granted) ? .granted : .addContact
            }
        }
    }

    private static func person(_ members: Members) -> Person? {
        members.first.map { Person(first: $0, isUnified: members.count > 1) }
    }

    private func isVisible(_ record: RecordNumber) -> Bool { scope.contains(record) && !plan.went.contains(record) }

    private func wasVisible(_ record: RecordNumber) -> Bool {
        !plan.came.contains(record) && (scope.contains(record) || plan.went.contains(record))
    }

    /// Empty where the card cannot be seen.
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
