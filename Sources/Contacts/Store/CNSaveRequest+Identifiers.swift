import BrokerModel

// These methods take identifiers, so an app need not fetch the records first. Apple's systems do not have
// them.
extension CNSaveRequest {
    /// Deletes the contact with this identifier. An extension of this library.
    public func deleteContact(withIdentifier identifier: String) {
        delete(CNMutableContact(ContactValues(identifier: identifier), keys: []))
    }

    /// Deletes the group with this identifier, but not its contacts. An extension of this library.
    public func deleteGroup(withIdentifier identifier: String) {
        delete(CNMutableGroup(CNGroup.Values(identifier: identifier)))
    }

    /// Adds a contact to a group. If this request also adds the contact or the group, pass its temporary
    /// identifier. An extension of this library.
    public func addMember(withIdentifier contact: String, toGroupWithIdentifier group: String) {
        addMember(Self.contact(contact), to: Self.group(group))
    }

    /// Removes a contact from a group. An extension of this library.
    public func removeMember(withIdentifier contact: String, fromGroupWithIdentifier group: String) {
        removeMember(Self.contact(contact), from: Self.group(group))
    }

    /// Adds a group to another group. An extension of this library.
    public func addSubgroup(withIdentifier subgroup: String, toGroupWithIdentifier group: String) {
        addSubgroup(Self.group(subgroup), to: Self.group(group))
    }

    /// Removes a group from another group. An extension of this library.
    public func removeSubgroup(withIdentifier subgroup: String, fromGroupWithIdentifier group: String) {
        removeSubgroup(Self.group(subgroup), from: Self.group(group))
    }

    /// Links two contacts as one person, like ``link(_:with:)``. An extension of this library.
    public func link(contactWithIdentifier contact: String, withContactWithIdentifier other: String) {
        link(Self.contact(contact), with: Self.contact(other))
    }

    /// Marks two contacts as different people, like ``unlink(_:from:)``. An extension of this library.
    public func unlink(contactWithIdentifier contact: String, fromContactWithIdentifier other: String) {
        unlink(Self.contact(contact), from: Self.contact(other))
    }

    private static func contact(_ identifier: String) -> CNContact {
        CNContact(ContactValues(identifier: identifier), keys: [])
    }

    private static func group(_ identifier: String) -> CNGroup { CNGroup(CNGroup.Values(identifier: identifier)) }
}

extension CNSaveRequest.Step {
    /// The identifiers of existing or added contacts to which the steps refer. Only steps that add a contact
    /// use this set, so it is empty if there is no such step.
    static func names(in steps: [CNSaveRequest.Step]) -> Set<String> {
        var names: Set<String> = []
        guard steps.contains(where: { if case .add = $0 { true } else { false } }) else { return names }
        for step in steps {
            switch step {
            case .update(let contact, _), .delete(let contact, _): names.insert(contact.identifier)
            case .member(let contact, _, _): names.insert(contact.identifier)
            case .link(let contact, let other, _): names.formUnion([contact, other])
            case .setMe(let contact): if let contact { names.insert(contact) }
            case .add, .addGroup, .updateGroup, .deleteGroup, .subgroup, .addContainer, .deleteContainer: break
            }
        }
        return names
    }
}

extension CNGroup {
    /// The identifiers of this group's parent groups that the app may see; empty if the group was not
    /// fetched. An extension of this library.
    public var parentGroupIdentifiers: [String] { values.parents }

    /// Whether another app, one without access to every contact, chose the group's name. Such an app can make a group of any
    /// name, so prefer another group when the person names one. An extension of this library.
    public var isNamedByOtherApp: Bool { values.isNamedByOther }
}
