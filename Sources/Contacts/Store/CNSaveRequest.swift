import Foundation

/// The contacts and groups to add, change and delete in one save.
///
/// ``CNContactStore/execute(_:)`` saves the whole request or nothing. If two saves change the same property,
/// the last one wins. Only one thread at a time may fill in a request. The request refers to the contacts;
/// ``CNContactStore/execute(_:)`` reads their values. When that method returns, added contacts have their
/// permanent identifiers.
open class CNSaveRequest: NSObject {
    /// Whether saved contacts receive the identifiers of their new values when the request is executed. Added
    /// contacts always receive their own identifiers.
    open var shouldRefetchContacts = true
    /// The app's own name for the author of this change, at most 256 bytes.
    /// ``CNChangeHistoryFetchRequest/excludedTransactionAuthors`` excludes changes by this name. Other apps
    /// never see it.
    open var transactionAuthor: String?

    /// The group that the save is in, so that the app can take it back (``CNContactStore/takeBack(_:in:overwriting:onlyCounting:)``).
    /// An extension of this library.
    open var saveGroup: CNSaveGroup?

    enum Step {
        case add(CNMutableContact, container: String?)
        case update(CNMutableContact, unchangedSince: String? = nil)
        case delete(CNMutableContact, unchangedSince: String? = nil)
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

    /// Creates an empty request.
    public override init() {}

    // MARK: Contacts

    /// Adds a contact to the container, or to the default container if the identifier is `nil`. If this
    /// request deletes the contact, this cancels the deletion instead.
    open func add(_ contact: CNMutableContact, toContainerWithIdentifier identifier: String?) {
        if cancelOpposite({ if case .delete(let deleted, _) = $0 { deleted === contact } else { false } }) { return }
        steps.append(.add(contact, container: identifier))
    }

    /// Saves the changes made to a contact. Only fetched properties can be changed.
    open func update(_ contact: CNMutableContact) {
        steps.append(.update(contact))
    }

    /// Saves the changes made to a contact, if it still has the revision that was fetched (``CNContact/revision``). Otherwise the
    /// request fails with ``CNError/Code/recordNotWritable``, whose ``CNError/brokerError`` is `RecordChanged`, and saves nothing:
    /// fetch the contact again, and make the changes on that. An extension of this library.
    open func update(_ contact: CNMutableContact, unchangedSince revision: String) {
        steps.append(.update(contact, unchangedSince: revision))
    }

    /// Deletes a contact. If this request adds the contact, this cancels the addition instead.
    open func delete(_ contact: CNMutableContact) {
        if cancelOpposite({ if case .add(let added, _) = $0 { added === contact } else { false } }) { return }
        steps.append(.delete(contact))
    }

    /// Deletes a contact, if it still has the revision that was fetched, as ``update(_:unchangedSince:)`` does. An extension of
    /// this library.
    open func delete(_ contact: CNMutableContact, unchangedSince revision: String) {
        steps.append(.delete(contact, unchangedSince: revision))
    }

    // MARK: Groups

    /// Adds a group to the container, or to the default container if the identifier is `nil`. If this request
    /// deletes the group, this cancels the deletion instead.
    open func add(_ group: CNMutableGroup, toContainerWithIdentifier identifier: String?) {
        if cancelOpposite({ if case .deleteGroup(let deleted) = $0 { deleted === group } else { false } }) { return }
        steps.append(.addGroup(group, container: identifier))
    }

    /// Renames a group.
    open func update(_ group: CNMutableGroup) {
        steps.append(.updateGroup(group))
    }

    /// Deletes a group, but not its contacts. If this request adds the group, this cancels the addition
    /// instead.
    open func delete(_ group: CNMutableGroup) {
        if cancelOpposite({ if case .addGroup(let added, _) = $0 { added === group } else { false } }) { return }
        steps.append(.deleteGroup(group))
    }

    /// Adds a group to another group.
    open func addSubgroup(_ subgroup: CNGroup, to group: CNGroup) {
        steps.append(.subgroup(subgroup, group, isIn: true))
    }

    /// Removes a group from another group.
    open func removeSubgroup(_ subgroup: CNGroup, from group: CNGroup) {
        steps.append(.subgroup(subgroup, group, isIn: false))
    }

    /// Adds a contact to a group.
    open func addMember(_ contact: CNContact, to group: CNGroup) {
        steps.append(.member(contact, group, isIn: true))
    }

    /// Removes a contact from a group.
    open func removeMember(_ contact: CNContact, from group: CNGroup) {
        steps.append(.member(contact, group, isIn: false))
    }

    // MARK: Not in Apple's Contacts

    /// Links two contacts as one person. This needs full access and ``CNContactChangeRight/all``, otherwise the save
    /// fails with
    /// ``CNError/Code/recordNotWritable``. At most 64 contacts can be linked as one person. An extension of
    /// this library.
    open func link(_ contact: CNContact, with other: CNContact) {
        steps.append(.link(contact.identifier, other.identifier, isOne: true))
    }

    /// Marks two contacts as different people. This needs full access and ``CNContactChangeRight/all``, otherwise the
    /// save fails with
    /// ``CNError/Code/recordNotWritable``. An extension of this library.
    open func unlink(_ contact: CNContact, from other: CNContact) {
        steps.append(.link(contact.identifier, other.identifier, isOne: false))
    }

    /// Sets the person's own contact; `nil` for none. This needs full access and ``CNContactChangeRight/all``. An
    /// extension of this library.
    open func setMeContact(_ contact: CNContact?) {
        steps.append(.setMe(contact?.identifier))
    }

    /// Adds a container. This needs full access and ``CNContactChangeRight/all``. Only a later save can add contacts
    /// and groups to the
    /// container, because this save assigns its identifier. An extension of this library.
    open func addContainer(named name: String) {
        steps.append(.addContainer(name: name))
    }

    /// Deletes an empty container. This needs full access and ``CNContactChangeRight/all``. An extension of this
    /// library.
    open func deleteContainer(withIdentifier identifier: String) {
        steps.append(.deleteContainer(identifier))
    }

    func append(_ step: Step) { steps.append(step) }

    /// Removes the last step that the new step would undo. Returns `false` if there is no such step.
    private func cancelOpposite(_ isOpposite: (Step) -> Bool) -> Bool {
        guard let place = steps.lastIndex(where: isOpposite) else { return false }
        steps.remove(at: place)
        return true
    }
}
