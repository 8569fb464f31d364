import BrokerAccessControl
import BrokerAccessStore
import BrokerContactsStore
import BrokerDisclosure
import BrokerModel

/// Records that a save is about and that its app made. Who made one never changes, so that it need not be looked up again when the
/// save is made, on the loop and for all of its steps at once.
struct OwnRecords: Sendable {
    var groups: Set<RecordNumber> = []
    /// Cards that are to be deleted, where that depends on it.
    var contacts: Set<RecordNumber> = []
}

/// The steps of a save as the book takes them, with the numbers of the records that they add.
struct SaveChanges: Sendable {
    let changes: [ContactChange]
    /// Of which step each change is.
    private let origins: [Int]
    /// Of the contacts that are added, in the order of their steps.
    let addedContacts: [RecordNumber]
    /// By step: the record that it adds.
    private let added: [(record: RecordNumber, kind: RecordKind)?]
    private let own: OwnRecords

    /// - Parameter numbers: gives numbers that no record ever had.
    init(_ steps: [SaveStep], _ own: OwnRecords, _ reading: Reading, numbers: (_ count: Int) -> [RecordNumber]) {
        self.own = own
        let kinds = steps.map { step -> RecordKind? in
            switch step {
            case .add: .contact
            case .addGroup: .group
            case .addContainer: .container
            case .update, .delete, .renameGroup, .deleteGroup, .addMember, .removeMember, .addSubgroup,
                .removeSubgroup, .setMe, .link, .unlink, .deleteContainer, .several:
                nil
            }
        }
        var rest = numbers(kinds.count { $0 != nil })[...]
        let added = kinds.map { kind in kind.map { (record: rest.removeFirst(), kind: $0) } }
        // A record that an earlier step adds has its number by now.
        let number = { (record: SavedRecord) in
            switch record {
            case .existing(let number): number
            case .added(let step): added[step]?.record ?? RecordNumber(0)
            }
        }
        func put(_ index: Int, isGroup: Bool, in container: RecordNumber?) -> [ContactChange] {
            container.map { [.container(.put(number(.added(step: index)), isGroup: isGroup, in: $0))] } ?? []
        }
        func changes(_ step: SaveStep, _ index: Int) -> [ContactChange] {
            switch step {
            case .add(let contact, let container):
                [.add(number(.added(step: index)), contact)] + put(index, isGroup: false, in: container)
            case .update(let record, let contact, let keys): [.update(number(record), contact, keys: keys)]
            case .delete(let record): [.delete(number(record))]
            case .addGroup(let name, let container):
                [.group(.add(number(.added(step: index)), name: name, owner: reading.identifiers.mark))]
                    + put(index, isGroup: true, in: container)
            case .renameGroup(let group, let name): [.group(.rename(number(group), name: name))]
            case .deleteGroup(let group): [.group(.delete(number(group)))]
            case .addMember(let contact, let group): [.group(.addMember(number(contact), to: number(group)))]
            case .removeMember(let contact, let group): [.group(.removeMember(number(contact), from: number(group)))]
            case .addSubgroup(let child, let parent):
                [.group(.addSubgroup(number(child), to: number(parent), visible: reading.groupOwner))]
            case .removeSubgroup(let child, let parent):
                [.group(.removeSubgroup(number(child), from: number(parent)))]
            case .setMe(let contact): [.group(.setMe(contact.map(number)))]
            case .link(let one, let other): [.link(.link(number(one), number(other)))]
            case .unlink(let member, let contact): [.link(.unlink(number(member), from: number(contact)))]
            case .addContainer(let name): [.container(.add(number(.added(step: index)), name: name))]
            case .deleteContainer(let container): [.container(.delete(container))]
            case .several(let steps): steps.flatMap { changes($0, index) }
            }
        }
        let made = steps.enumerated().map { changes($1, $0) }
        self.changes = made.flatMap { $0 }
        origins = made.enumerated().flatMap { Array(repeating: $0.offset, count: $0.element.count) }
        self.added = added
        addedContacts = added.compactMap { $0?.kind == .contact ? $0?.record : nil }
    }

    /// The contacts that are added, changed, deleted, linked or unlinked.
    var contacts: [RecordNumber] {
        changes.flatMap { change -> [RecordNumber] in
            switch change {
            case .add(let record, _), .update(let record, _, _), .delete(let record): [record]
            case .link(.link(let one, let other)), .link(.unlink(let one, let other)): [one, other]
            case .group, .container, .thumbnail: []
            }
        }
    }

    /// The contacts that are given a photo.
    var photographed: [RecordNumber] {
        changes.compactMap { change in
            switch change {
            case .add(let record, let contact): contact.imageData.isEmpty ? nil : record
            case .update(let record, let contact, let keys):
                keys.contains(.imageData) && !contact.imageData.isEmpty ? record : nil
            case .delete, .group, .link, .container, .thumbnail: nil
            }
        }
    }

    /// The contacts that are deleted.
    private var deletedContacts: [RecordNumber] {
        changes.compactMap { if case .delete(let record) = $0 { record } else { nil } }
    }

    /// What the access store must learn of it.
    func contents(isKeptToSingle: Bool) -> SaveContents {
        var contents = SaveContents()
        contents.adds = addedContacts
        contents.deletes = deletedContacts
        contents.contacts = self.contacts
        contents.count = changes.count
        contents.isKeptToSingle = isKeptToSingle
        return contents
    }

    /// Whether all of it is permitted still: others may have saved since it was read, or something was taken back.
    func mayBeMade(_ reading: Reading) -> Bool {
        let new = Set(added.compactMap { $0?.record })
        let may = reading.permissions
        let isVisible = { (contact: RecordNumber) in new.contains(contact) || may.scope.contains(contact) }
        let isOwn = { (group: RecordNumber) in new.contains(group) || own.groups.contains(group) }
        return changes.allSatisfy { change in
            switch change {
            case .add(_, let contact): may.mayAdd(writing: contact.present)
            case .update(let record, _, let keys):
                new.contains(record) && keys.isSubset(of: may.keys) || may.mayUpdate(record, writing: keys)
            case .delete(let record):
                new.contains(record) || may.mayDelete(record, isOwn: own.contacts.contains(record))
            case .group(.add): true
            case .group(.rename(let group, _)), .group(.delete(let group)): may.mayChangeGroup(isOwn: isOwn(group))
            case .group(.addMember(let contact, let group)), .group(.removeMember(let contact, let group)):
                may.mayChangeMembers(ofGroupThatIsOwn: isOwn(group)) && isVisible(contact)
            case .group(.addSubgroup(let child, let parent, let visible)):
                may.mayChangeGroup(isOwn: isOwn(child)) && may.mayChangeGroup(isOwn: isOwn(parent))
                    && visible == reading.groupOwner
            case .group(.removeSubgroup(let child, let parent)):
                may.mayChangeGroup(isOwn: isOwn(child)) && may.mayChangeGroup(isOwn: isOwn(parent))
            case .group(.setMe): may.maySetMe
            case .container: may.mayChangeContainers
            // Nobody saves one.
            case .thumbnail: false
            case .link(.link(let one, let other)), .link(.unlink(let one, let other)):
                may.mayLink && isVisible(one) && isVisible(other)
            }
        }
    }

    /// The app's step that a change belongs to.
    func step(ofChange index: Int) -> Int { origins[index] }

    /// For each step the identifier of what it adds, or nothing.
    func names(_ identifiers: IdentifierCipher) -> [String] {
        added.map { $0.map { identifiers.identifier(of: $0.record, as: $0.kind) } ?? "" }
    }
}
