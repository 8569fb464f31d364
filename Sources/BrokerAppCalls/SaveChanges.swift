import BrokerAccessControl
import BrokerAccessStore
import BrokerContactsStore
import BrokerDisclosure
import BrokerLedger
import BrokerModel

/// The steps of a save, translated into changes to the book.
struct SaveChanges: Sendable {
    private(set) var changes: [ContactChange] = []
    /// For each change, the index of its step.
    private var origins: [Int] = []
    /// The number of steps that were appended.
    private(set) var stepCount = 0
    /// For each step, the record that it adds; `nil` if it adds none.
    let added: [(record: RecordNumber, kind: RecordKind)?]
    private let new: Set<RecordNumber>
    /// The contacts that must have a revision, each with the index of its step.
    private(set) var expected: [(step: Int, record: RecordNumber, isUnified: Bool, revision: String)] = []
    /// The app's own groups and cards for which a permission depends on their creator. The creator of a
    /// record never changes, so ``mayBeMade(_:)`` need not look up the creator again.
    var ownGroups: Set<RecordNumber> = []
    var ownContacts: Set<RecordNumber> = []

    init(adding added: [(record: RecordNumber, kind: RecordKind)?]) {
        self.added = added
        new = Set(added.compactMap { $0?.record })
    }

    /// - Parameter inverse: changes that take back saves. Each is a step.
    init(_ inverse: InverseSave) {
        self.init(adding: [])
        changes = inverse.changes
        origins = Array(changes.indices)
        stepCount = changes.count
        (ownContacts, ownGroups) = (inverse.ownContacts, inverse.ownGroups)
    }

    mutating func append(step changes: [ContactChange]) {
        self.changes += changes
        origins += Array(repeating: stepCount, count: changes.count)
        stepCount += 1
    }

    /// The next step fails if the contact has not this revision.
    mutating func expect(_ revision: String, of record: RecordNumber, isUnified: Bool) {
        expected.append((stepCount, record, isUnified, revision))
    }

    /// The conditions on the contacts, as an app sees them.
    func conditions(_ context: ReadContext) -> [ContactCondition] {
        guard !expected.isEmpty else { return [] }
        let revisions = ContactRevisions(context.disclosure, under: context.identifiers)
        return expected.map { expected in
            ContactCondition(
                step: expected.step, record: expected.record, isUnified: expected.isUnified,
                scope: context.disclosure.scope, keys: revisions?.readKeys ?? [], images: revisions?.images ?? []
            ) { cards in
                revisions?.revision(of: cards) == expected.revision
            }
        }
    }

    /// The added records, in the order of their steps.
    var newRecords: [RecordNumber] { added.compactMap { $0?.record } }

    func isNew(_ record: RecordNumber) -> Bool { new.contains(record) }

    func isOwn(group: RecordNumber) -> Bool { isNew(group) || ownGroups.contains(group) }

    /// The added contacts, in the order of their steps.
    var addedContacts: [RecordNumber] { added.compactMap { $0?.kind == .contact ? $0?.record : nil } }

    /// The contacts that are added, updated, deleted, linked or unlinked.
    var contacts: [RecordNumber] {
        changes.flatMap { change -> [RecordNumber] in
            switch change {
            case .add(let record, _), .update(let record, _, _), .delete(let record): [record]
            case .link(.link(let one, let other)), .link(.unlink(let one, let other)): [one, other]
            case .putBack(let former): former.isContact ? Array(former.records) : []
            case .group, .container, .thumbnail: []
            }
        }
    }

    var changesGroups: Bool {
        changes.contains {
            switch $0 {
            case .group, .putBack: true
            case .add, .update, .delete, .link, .container, .thumbnail: false
            }
        }
    }

    var setsMe: Bool { changes.contains { if case .group(.setMe) = $0 { true } else { false } } }

    /// The contacts whose photo the save sets.
    var photographed: [RecordNumber] {
        changes.compactMap { change in
            switch change {
            case .add(let record, let contact): contact.imageData.isEmpty ? nil : record
            case .update(let record, let contact, let keys):
                keys.contains(.imageData) && !contact.imageData.isEmpty ? record : nil
            case .delete, .group, .link, .container, .putBack, .thumbnail: nil
            }
        }
    }

    /// The deleted contacts.
    private var deletedContacts: [RecordNumber] {
        changes.compactMap { if case .delete(let record) = $0 { record } else { nil } }
    }

    /// The contacts of before the save that it changes or deletes.
    var changedContacts: Set<RecordNumber> {
        changes.reduce(into: []) { changed, change in
            switch change {
            case .update(let record, _, _) where !isNew(record), .delete(let record) where !isNew(record):
                changed.insert(record)
            case .add, .update, .delete, .group, .link, .container, .putBack, .thumbnail: break
            }
        }
    }

    /// The facts about the save that the access database needs.
    func contents(isKeptToSingle: Bool) -> SaveContents {
        var contents = SaveContents()
        contents.adds = addedContacts
        contents.deletes = deletedContacts
        contents.contacts = self.contacts
        contents.count = changes.count
        contents.isKeptToSingle = isKeptToSingle
        contents.detail = summary
        return contents
    }

    /// How many contacts are added, changed and deleted, as the audit says it; `nil` if none are.
    private var summary: String? {
        let updated = changes.reduce(into: Set<RecordNumber>()) { updated, change in
            if case .update(let record, _, _) = change, !isNew(record) { updated.insert(record) }
        }
        let deleted = Set(deletedContacts)
        let counts = [
            (changes.returnedContacts.count, "returned"), (addedContacts.count, "added"),
            (updated.subtracting(deleted).count, "changed"), (deleted.count, "deleted"),
        ]
        let words = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    /// The updated contacts that the app may not delete.
    func undeletable(_ may: SavePermissions) -> Set<RecordNumber> {
        guard !may.deletesWhatItSees else { return [] }
        return changes.reduce(into: []) { kept, change in
            guard case .update(let record, _, _) = change, !isNew(record),
                !may.mayDelete(record, isOwn: ownContacts.contains(record))
            else { return }
            kept.insert(record)
        }
    }

    /// Whether every change is still permitted. Another save may have been made since the steps were read, or the
    /// grant may have been narrowed.
    func mayBeMade(_ context: ReadContext) -> Bool {
        let may = context.permissions
        let isVisible = { (contact: RecordNumber) in isNew(contact) || may.scope.contains(contact) }
        return changes.allSatisfy { change in
            switch change {
            case .add(_, let contact): may.mayAdd(writing: contact.present)
            case .update(let record, _, let keys):
                isNew(record) && may.mayAdd && keys.isSubset(of: may.keys)
                    || may.mayUpdate(record, isOwn: ownContacts.contains(record), writing: keys)
            case .delete(let record):
                isNew(record) && may.mayAdd || may.mayDelete(record, isOwn: ownContacts.contains(record))
            case .group(.add): may.mayAdd
            case .group(.rename(let group, _)), .group(.delete(let group)):
                may.mayChangeGroup(isOwn: isOwn(group: group))
            case .group(.addMember(let contact, let group)), .group(.removeMember(let contact, let group)):
                may.mayChangeMembers(ofGroupThatIsOwn: isOwn(group: group)) && isVisible(contact)
            case .group(.addSubgroup(let child, let parent, let visible)):
                may.mayChangeGroup(isOwn: isOwn(group: child)) && may.mayChangeGroup(isOwn: isOwn(group: parent))
                    && visible == context.groupOwner
            case .group(.removeSubgroup(let child, let parent)):
                may.mayChangeGroup(isOwn: isOwn(group: child)) && may.mayChangeGroup(isOwn: isOwn(group: parent))
            case .group(.setMe): may.maySetMe
            case .container(.put(let record, isGroup: _, in: _)): isNew(record) && may.mayPutIntoContainers
            case .container(.add), .container(.delete): may.mayChangeContainers
            case .putBack(let former):
                switch former.kind {
                case .contact, .relations: may.mayAdd
                case .group:
                    may.mayAdd && former.records.allSatisfy { may.mayChangeGroup(isOwn: isOwn(group: $0)) }
                case .container: may.mayChangeContainers
                case .links: may.mayLink && former.records.allSatisfy(isVisible)
                }
            // No app can save a thumbnail.
            case .thumbnail: false
            case .link(.link(let one, let other)), .link(.unlink(let one, let other)):
                may.mayLink && isVisible(one) && isVisible(other)
            }
        }
    }

    /// The index of the step that a change belongs to.
    func step(ofChange index: Int) -> Int { origins[index] }

    /// For each step, the identifier of the record that it adds, or an empty string.
    func names(_ identifiers: IdentifierCipher) -> [String] {
        added.map { $0.map { identifiers.identifier(of: $0.record, as: $0.kind) } ?? "" }
    }
}
