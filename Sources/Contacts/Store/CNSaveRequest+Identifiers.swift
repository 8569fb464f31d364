import BrokerModel

// Steps about records of which one knows the identifiers, and nothing has to be fetched. Nothing of it is on Apple's systems.
extension CNSaveRequest {
    /// Deletes the contact of an identifier. An extension of this library.
    public func deleteContact(withIdentifier identifier: String) {
        delete(CNMutableContact(ContactValues(identifier: identifier), keys: []))
    }

    /// Deletes the group of an identifier; its contacts stay. An extension of this library.
    public func deleteGroup(withIdentifier identifier: String) {
        delete(CNMutableGroup(CNGroup.Values(identifier: identifier)))
    }

    /// Adds the contact of an identifier to a group. Both may be what this request adds, under the identifiers that they have until then.
    /// An extension of this library.
    public func addMember(withIdentifier contact: String, toGroupWithIdentifier group: String) {
        addMember(Self.contact(contact), to: Self.group(group))
    }

    /// Takes the contact of an identifier out of a group. An extension of this library.
    public func removeMember(withIdentifier contact: String, fromGroupWithIdentifier group: String) {
        removeMember(Self.contact(contact), from: Self.group(group))
    }

    /// Adds the group of an identifier to another one. An extension of this library.
    public func addSubgroup(withIdentifier subgroup: String, toGroupWithIdentifier group: String) {
        addSubgroup(Self.group(subgroup), to: Self.group(group))
    }

    /// Takes the group of an identifier out of another one. An extension of this library.
    public func removeSubgroup(withIdentifier subgroup: String, fromGroupWithIdentifier group: String) {
        removeSubgroup(Self.group(subgroup), from: Self.group(group))
    }

    /// Says that the contacts of two identifiers are one person. An extension of this library; as ``link(_:with:)``.
    public func link(contactWithIdentifier contact: String, withContactWithIdentifier other: String) {
        link(Self.contact(contact), with: Self.contact(other))
    }

    /// Says that the contacts of two identifiers are not one person. An extension of this library; as ``unlink(_:from:)``.
    public func unlink(contactWithIdentifier contact: String, fromContactWithIdentifier other: String) {
        unlink(Self.contact(contact), from: Self.contact(other))
    }

    private static func contact(_ identifier: String) -> CNContact {
        CNContact(ContactValues(identifier: identifier), keys: [])
    }

    private static func group(_ identifier: String) -> CNGroup { CNGroup(CNGroup.Values(identifier: identifier)) }
}

extension CNSaveRequest.Step {
    /// The identifiers of contacts that steps speak of. Where none of them adds a contact nobody needs to know.
    static func names(in steps: [CNSaveRequest.Step]) -> Set<String> {
        var names: Set<String> = []
        guard steps.contains(where: { if case .add = $0 { true } else { false } }) else { return names }
        for step in steps {
            switch step {
            case .update(let contact), .delete(let contact): names.insert(contact.identifier)
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
    /// The identifiers of the groups that this one is within, as far as the app sees them; of a group that was fetched. An extension of
    /// this library.
    public var parentGroupIdentifiers: [String] { values.parents }
}
