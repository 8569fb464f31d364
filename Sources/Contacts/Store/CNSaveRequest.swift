import Foundation

/// What to save: contacts and groups to add, change and delete, in one step.
///
/// ``CNContactStore/execute(_:)`` does all of it or nothing. Where two saves change the same property, the last one counts.
/// A request is filled in by one thread. Its contacts are looked at when it is executed; after that those that were added
/// have the identifiers that they are saved under.
public final class CNSaveRequest: NSObject {
    /// Whether contacts that were saved are given, when the request is executed, what the address book made of them: the
    /// identifiers of their new values. The contacts’ own identifiers they are given in any case.
    public var shouldRefetchContacts = true
    /// The app’s own name for who makes this change, by which ``CNChangeHistoryFetchRequest/excludedTransactionAuthors``
    /// leaves it out. Nobody else ever sees it. 256 bytes at most.
    public var transactionAuthor: String?

    enum Step {
        case add(CNMutableContact, container: String?)
        case update(CNMutableContact)
        case delete(CNMutableContact)
        case addGroup(CNMutableGroup, container: String?)
        case updateGroup(CNMutableGroup)
        case deleteGroup(CNMutableGroup)
        case member(CNContact, CNGroup, isIn: Bool)
        case subgroup(CNGroup, CNGroup, isIn: Bool)
        case link(String, String, isOne: Bool)
        case addContainer(name: String)
        case deleteContainer(String)
        case setMe(String?)
    }

    private(set) var steps: [Step] = []

    /// An empty request.
    public override init() {}

    // MARK: Contacts

    /// Adds a contact, to the default container where none is named. This takes back its deletion in the same request.
    public func add(_ contact: CNMutableContact, toContainerWithIdentifier identifier: String?) {
        if takeBack({ if case .delete(let deleted) = $0 { deleted === contact } else { false } }) { return }
        steps.append(.add(contact, container: identifier))
    }

    /// Saves what was changed of a contact. Only properties that were fetched can be.
    public func update(_ contact: CNMutableContact) {
        steps.append(.update(contact))
    }

    /// Deletes a contact. This takes back its addition in the same request.
    public func delete(_ contact: CNMutableContact) {
        if takeBack({ if case .add(let added, _) = $0 { added === contact } else { false } }) { return }
        steps.append(.delete(contact))
    }

    // MARK: Groups

    /// Adds a group, to the default container where none is named. This takes back its deletion in the same request.
    public func add(_ group: CNMutableGroup, toContainerWithIdentifier identifier: String?) {
        if takeBack({ if case .deleteGroup(let deleted) = $0 { deleted === group } else { false } }) { return }
        steps.append(.addGroup(group, container: identifier))
    }

    /// Renames a group.
    public func update(_ group: CNMutableGroup) {
        steps.append(.updateGroup(group))
    }

    /// Deletes a group; its contacts stay. This takes back its addition in the same request.
    public func delete(_ group: CNMutableGroup) {
        if takeBack({ if case .addGroup(let added, _) = $0 { added === group } else { false } }) { return }
        steps.append(.deleteGroup(group))
    }

    /// Adds a group to another one.
    public func addSubgroup(_ subgroup: CNGroup, to group: CNGroup) {
        steps.append(.subgroup(subgroup, group, isIn: true))
    }

    /// Takes a group out of another one.
    public func removeSubgroup(_ subgroup: CNGroup, from group: CNGroup) {
        steps.append(.subgroup(subgroup, group, isIn: false))
    }

    /// Adds a contact to a group.
    public func addMember(_ contact: CNContact, to group: CNGroup) {
        steps.append(.member(contact, group, isIn: true))
    }

    /// Takes a contact out of a group.
    public func removeMember(_ contact: CNContact, from group: CNGroup) {
        steps.append(.member(contact, group, isIn: false))
    }

    // MARK: What Apple's library has no place for

    /// Says that two contacts are one person. An extension of this library; for apps with full access, else
    /// ``CNError/Code/recordNotWritable``. 64 contacts at most are linked with one another.
    public func link(_ contact: CNContact, with other: CNContact) {
        steps.append(.link(contact.identifier, other.identifier, isOne: true))
    }

    /// Says that two contacts are not one person. An extension of this library; for apps with full access, else
    /// ``CNError/Code/recordNotWritable``.
    public func unlink(_ contact: CNContact, from other: CNContact) {
        steps.append(.link(contact.identifier, other.identifier, isOne: false))
    }

    /// Says which contact is the person’s own; `nil` that none is. An extension of this library; for apps with full access.
    public func setMeContact(_ contact: CNContact?) {
        steps.append(.setMe(contact?.identifier))
    }

    /// Adds a container. An extension of this library; for apps with full access. What goes into it is saved afterwards, when
    /// it has its identifier.
    public func addContainer(named name: String) {
        steps.append(.addContainer(name: name))
    }

    /// Deletes an empty container. An extension of this library; for apps with full access.
    public func deleteContainer(withIdentifier identifier: String) {
        steps.append(.deleteContainer(identifier))
    }

    func append(_ step: Step) { steps.append(step) }

    /// Takes back the last step that is the opposite of the one that comes.
    private func takeBack(_ isOpposite: (Step) -> Bool) -> Bool {
        guard let place = steps.lastIndex(where: isOpposite) else { return false }
        steps.remove(at: place)
        return true
    }
}
