import AccessStore
import ContactsModel
import ContactsStore

/// The events that an app is told: what it sees now, compared with what it saw at an earlier place.
///
/// Each record has one event at most: what came and went in between is none. Pure: values in, values out.
struct HistoryPlan: Hashable {
    /// `kind` of the interface's `HistoryEvent`.
    enum Kind: String {
        case dropEverything, addContact, updateContact, deleteContact, granted, revoked
        case addGroup, updateGroup, deleteGroup, addMember, removeMember, addSubgroup, removeSubgroup
    }

    struct Link: Hashable {
        let group: RecordNumber
        let member: RecordNumber
        let isSubgroup: Bool
    }

    /// Contacts that the app no longer sees.
    private(set) var gone: [RecordNumber: Kind] = [:]
    /// Contacts that it sees, if they are still there.
    private(set) var contacts: [RecordNumber: Kind] = [:]
    private(set) var groups: [RecordNumber: Kind] = [:]
    private(set) var links: [Link: Kind] = [:]
    /// Contacts that it did not see at that place and was given since: with them it sees in which of its groups they are,
    /// whenever they came into them.
    private(set) var newlyGranted: Set<RecordNumber> = []
    /// Contacts, of those that something happened to, that the app did not see at that place, and those that it does not
    /// see now; whoever told it.
    private(set) var came: Set<RecordNumber> = []
    private(set) var went: Set<RecordNumber> = []

    /// - Parameters:
    ///   - changes: of the book since that place, in their order, about what the app sees or saw.
    ///   - events: of its set since that place.
    ///   - isExcluded: whether an author's changes are known to the app already.
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
                let told = changes.filter { scope.contains($0) && !isExcluded($0.author) }
                guard let first = told.first, let last = told.last else { continue }
                switch (first.kind == .addContact, last.kind == .deleteContact) {
                case (true, true): break
                case (true, false): contacts[record] = .addContact
                case (false, true): gone[record] = .deleteContact
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
        let add = changes.first { $0.kind == .addContact }
        // What was not in the book yet nobody saw, though an app's own contact is in its set a little before.
        let wasVisible =
            switch events.first?.kind {
            case .revoked, .deleted: add == nil
            case .granted: false
            case nil: isVisible && add == nil
            }
        let isUpdated = changes.contains {
            $0.kind == .updateContact && !scope.keys.isDisjoint(with: $0.keys) && !isExcluded($0.author)
        }
        if !wasVisible { came.insert(record) }
        if !isVisible { went.insert(record) }
        switch (wasVisible, isVisible) {
        case (false, false): break
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
        case (true, false):
            if events.last?.kind == .revoked {
                gone[record] = .revoked
            } else if !changes.contains(where: { $0.kind == .deleteContact && isExcluded($0.author) }) {
                gone[record] = .deleteContact
            }
        case (true, true):
            if !events.isEmpty {
                contacts[record] = .granted
            } else if isUpdated {
                contacts[record] = .updateContact
            }
        }
    }

    private mutating func compareGroups(_ changes: [BookChange]) {
        var ofGroup: [RecordNumber: [BookChange]] = [:]
        var ofLink: [Link: [BookChange]] = [:]
        for change in changes {
            switch change.kind {
            case .addGroup, .updateGroup, .deleteGroup: ofGroup[change.record, default: []].append(change)
            case .addMember, .removeMember, .addSubgroup, .removeSubgroup:
                // What went on in a group with a contact before it was granted is none of the app's business.
                guard let member = change.member, !newlyGranted.contains(member) else { continue }
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
            case (true, true): break
            case (true, false): groups[group] = .addGroup
            case (false, true): groups[group] = .deleteGroup
            case (false, false): groups[group] = .updateGroup
            }
        }
        for (link, changes) in ofLink {
            let joins = { (change: BookChange?) in change?.kind == .addMember || change?.kind == .addSubgroup }
            switch (joins(changes.first), joins(changes.last)) {
            case (true, true): links[link] = link.isSubgroup ? .addSubgroup : .addMember
            case (false, false): links[link] = link.isSubgroup ? .removeSubgroup : .removeMember
            case (true, false), (false, true): break
            }
        }
    }
}
