import BrokerAccessStore
import BrokerContactsStore
import BrokerModel

/// Computes the events for an app by comparing its current view with its view at an earlier place.
///
/// Each record has at most one event, which gives the record's current state. Events cover everything that
/// the app could see at any time since that place. The app may have read its list in parts after it got the
/// place. It may therefore know contacts that appeared after the place and are already gone.
///
/// A record without visible changes has no event, because the app's copy is current. If the app applies the
/// events in order, its copy becomes equal to its view of the book. An app ignores the removal of a record
/// that it never had.
struct HistoryPlan: Hashable {
    /// The `kind` of the interface's `HistoryEvent`.
    enum Kind: String {
        case dropEverything, addContact, updateContact, deleteContact, granted, revoked
        case addGroup, updateGroup, deleteGroup, addMember, removeMember, addSubgroup, removeSubgroup
    }

    struct Link: Hashable {
        let group: RecordNumber
        let member: RecordNumber
        let isSubgroup: Bool
    }

    /// Contacts that the app can no longer see.
    private(set) var gone: [RecordNumber: Kind] = [:]
    /// Contacts that the app can see, if they still exist.
    private(set) var contacts: [RecordNumber: Kind] = [:]
    private(set) var groups: [RecordNumber: Kind] = [:]
    private(set) var links: [Link: Kind] = [:]
    /// Contacts granted since the place. The app can now see all of their memberships in visible groups, even
    /// old ones.
    private(set) var newlyGranted: Set<RecordNumber> = []
    /// For contacts that appeared or disappeared since the place, the ranges of change numbers in which the
    /// app could see them.
    private var spans: [RecordNumber: [ClosedRange<Int64>]] = [:]
    private var joinedOrLeft: Set<RecordNumber> = []
    /// Of the contacts with changes, ``came`` contains those that the app could not see at the place.
    /// ``went`` contains those that it can no longer see. Changes by excluded authors count too.
    private(set) var came: Set<RecordNumber> = []
    private(set) var went: Set<RecordNumber> = []

    /// - Parameters:
    ///   - changes: the changes to the book since the place, in order, for records that the app can see or
    ///     could see.
    ///   - events: the changes to the granted set since the place.
    ///   - isExcluded: whether the app asked to leave out this author's changes.
    init(
        _ changes: [BookChange], _ events: some Sequence<SetEvent>, _ scope: ChangeScope,
        excluding isExcluded: (ChangeAuthor) -> Bool = { _ in false }
    ) {
        var contactChanges: [RecordNumber: [BookChange]] = [:]
        for change in changes where !change.kind.isOfGroup && !change.kind.isOfLinks {
            contactChanges[change.record, default: []].append(change)
        }
        switch scope.records {
        case .all:
            for (record, changes) in contactChanges {
                if changes.first?.kind == .addContact { came.insert(record) }
                if changes.last?.kind == .deleteContact { went.insert(record) }
                note([0 ... .max], of: record, changes)
                let visible = changes.filter { scope.contains($0) && !isExcluded($0.author) }
                guard let first = visible.first, let last = visible.last else { continue }
                switch (first.kind == .addContact, last.kind == .deleteContact) {
                case (_, true): gone[record] = .deleteContact
                case (true, false): contacts[record] = .addContact
                case (false, false): contacts[record] = .updateContact
                }
            }
        case .only(let visible):
            var eventsOf: [RecordNumber: [SetEvent]] = [:]
            for event in events { eventsOf[event.record, default: []].append(event) }
            for record in Set(eventsOf.keys).union(contactChanges.keys) {
                limited(
                    record, contactChanges[record] ?? [], eventsOf[record] ?? [], isVisible: visible.contains(record),
                    scope, isExcluded)
            }
        }
        compareGroups(changes.filter { $0.kind.isOfGroup && scope.contains($0) && !isExcluded($0.author) })
    }

    private mutating func limited(
        _ record: RecordNumber, _ changes: [BookChange], _ events: [SetEvent], isVisible: Bool, _ scope: ChangeScope,
        _ isExcluded: (ChangeAuthor) -> Bool
    ) {
        // One that was deleted first was there before, and was put back.
        let add = changes.first { $0.kind == .addContact || $0.kind == .deleteContact }.flatMap {
            $0.kind == .addContact ? $0 : nil
        }
        // A contact that was added after the place was not visible at the place. It may have been in the
        // granted set, because an app's own contact joins the set slightly before it is added.
        let wasVisible =
            switch events.first?.kind {
            case .revoked, .left, .deleted, .deletedMember, .forgotten: add == nil
            case .granted: false
            case nil: isVisible && add == nil
            }
        let isUpdated = changes.contains {
            $0.kind == .updateContact && !scope.keys.isDisjoint(with: $0.keys) && !isExcluded($0.author)
        }
        // A contact that the app itself added joins the granted set without an event.
        let inSet = events.isEmpty ? [0 ... .max] : Self.spans(events.map { ($0.change, $0.kind == .granted) })
        note(inSet, of: record, changes)
        if !events.isEmpty { joinedOrLeft.insert(record) }
        if !wasVisible { came.insert(record) }
        if !isVisible { went.insert(record) }
        switch (wasVisible, isVisible) {
        case (false, false) where events.isEmpty: break
        case (false, true):
            if let add, !events.contains(where: { $0.kind == .granted }) {
                if !isExcluded(add.author) {
                    contacts[record] = .addContact
                } else if isUpdated {
                    contacts[record] = .updateContact
                }
            } else {
                contacts[record] = .granted
                newlyGranted.insert(record)
            }
        case (_, false):
            if events.last?.kind == .revoked || events.last?.kind == .left {
                gone[record] = .revoked
            } else if !changes.contains(where: { $0.kind == .deleteContact && isExcluded($0.author) }) {
                gone[record] = .deleteContact
            }
        case (true, true):
            if !events.isEmpty {
                contacts[record] = .granted
                newlyGranted.insert(record)
            } else if isUpdated {
                contacts[record] = .updateContact
            }
        }
    }

    // MARK: Visibility over time

    /// Whether a contact joined or left the granted set since the place.
    func hasMoved(_ record: RecordNumber) -> Bool { joinedOrLeft.contains(record) }

    private mutating func note(_ inSet: [ClosedRange<Int64>], of record: RecordNumber, _ changes: [BookChange]) {
        // A contact that was put back was in the book twice.
        let inBook = Self.together(changes.filter { $0.kind != .updateContact }) { $0 == .addContact }
        guard inSet != [0 ... .max] || inBook != [0 ... .max] else { return }
        spans[record] = Self.common(inBook, inSet)
    }

    /// The ranges of change numbers, within the given ones, in which the app could see all of these contacts.
    func seen(_ records: [RecordNumber], within times: [ClosedRange<Int64>] = [0 ... .max]) -> [ClosedRange<Int64>] {
        records.reduce(times) { times, record in
            spans[record].map { Self.common(times, $0) } ?? times
        }
    }

    private static func common(_ times: [ClosedRange<Int64>], _ others: [ClosedRange<Int64>]) -> [ClosedRange<Int64>] {
        times.flatMap { time in others.filter(time.overlaps).map { $0.clamped(to: time) } }
    }

    /// Whether the ranges in `others` together cover all ranges in `times`.
    static func covers(_ others: [ClosedRange<Int64>], _ times: [ClosedRange<Int64>]) -> Bool {
        let others = others.sorted { $0.lowerBound < $1.lowerBound }
        return times.allSatisfy { time in
            var next = time.lowerBound
            for other in others where other.lowerBound <= next && other.upperBound >= next {
                guard other.upperBound < time.upperBound else { return true }
                next = other.upperBound + 1
            }
            return false
        }
    }

    /// The ranges of change numbers in which a condition was true, in order.
    ///
    /// - Parameter switchovers: in order, each number from which the condition was true (`isSo`) and each
    ///   number up to which it was true.
    static func spans(_ switchovers: [(number: Int64, isSo: Bool)]) -> [ClosedRange<Int64>] {
        var spans: [ClosedRange<Int64>] = []
        // If the condition ends first, it was true from the start.
        var first: Int64? = switchovers.first?.isSo == true ? nil : 0
        for switchover in switchovers {
            if switchover.isSo {
                first = first ?? switchover.number
            } else if let begun = first {
                spans.append(begun...max(begun, switchover.number))
                first = nil
            }
        }
        if let first { spans.append(first ... .max) }
        return spans
    }

    /// The ranges of change numbers in which two records belonged together.
    static func together(_ changes: [BookChange], _ joins: (BookChange.Kind) -> Bool) -> [ClosedRange<Int64>] {
        spans(changes.map { joins($0.kind) ? ($0.number, true) : ($0.number - 1, false) })
    }

    private mutating func compareGroups(_ changes: [BookChange]) {
        var ofGroup: [RecordNumber: [BookChange]] = [:]
        var ofLink: [Link: [BookChange]] = [:]
        for change in changes {
            switch change.kind {
            case .addGroup, .updateGroup, .deleteGroup: ofGroup[change.record, default: []].append(change)
            case .addMember, .removeMember, .addSubgroup, .removeSubgroup:
                guard let member = change.member else { continue }
                let isSubgroup = change.kind == .addSubgroup || change.kind == .removeSubgroup
                let link = Link(group: change.record, member: member, isSubgroup: isSubgroup)
                ofLink[link, default: []].append(change)
            case .addContact, .updateContact, .deleteContact, .link, .unlink, .linkByEvidence, .unlinkByEvidence,
                .linkByHand, .unlinkByHand:
                break
            }
        }
        for (group, changes) in ofGroup {
            switch (changes.first?.kind == .addGroup, changes.last?.kind == .deleteGroup) {
            case (_, true): groups[group] = .deleteGroup
            case (true, false): groups[group] = .addGroup
            case (false, false): groups[group] = .updateGroup
            }
        }
        for (link, changes) in ofLink {
            let isIn = { (kind: BookChange.Kind) in kind == .addMember || kind == .addSubgroup }
            if changes.last.map({ isIn($0.kind) }) == true {
                // The broker sends all memberships of a newly granted contact separately.
                guard link.isSubgroup || !newlyGranted.contains(link.member) else { continue }
                links[link] = link.isSubgroup ? .addSubgroup : .addMember
            } else {
                // The app must not learn of memberships from times when the contact was not in the granted set.
                let members = link.isSubgroup ? [] : [link.member]
                var spans = Self.together(changes, isIn)
                // While a group was deleted, it had no members.
                for group in [link.group] + (link.isSubgroup ? [link.member] : []) {
                    let life = ofGroup[group, default: []].filter { $0.kind != .updateGroup }
                    spans = Self.common(spans, Self.together(life) { $0 == .addGroup })
                }
                guard !seen(members, within: spans).isEmpty else { continue }
                links[link] = link.isSubgroup ? .removeSubgroup : .removeMember
            }
        }
    }
}
