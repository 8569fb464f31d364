import BrokerModel

/// One step of a save. Its content must already be valid (``Contact/validate(writing:limits:)``).
public enum ContactChange: Hashable, Sendable {
    /// The number must never have been used in this book.
    case add(RecordNumber, Contact)
    /// Replaces the values of `keys` with those of this contact. Other keys do not change.
    case update(RecordNumber, Contact, keys: ContactKeySet)
    case delete(RecordNumber)
    case group(GroupChange)
    case link(LinkChange)
    case container(ContainerChange)
    /// Brings back what the author deleted, as the bin has it (``ContactsStore/inverse(of:_:limit:)``).
    case putBack(FormerRecords)
    /// The broker's own change: adds a thumbnail of the photo `of`; both are base64. `nil`: the photo has none, so it no
    /// longer waits for one. Does nothing if the
    /// contact has no photo, has a different photo, or already has a thumbnail.
    case thumbnail(RecordNumber, [UInt8]?, of: [UInt8])
}

extension Sequence<ContactChange> {
    /// The deleted contacts that come back.
    public var returnedContacts: Set<RecordNumber> {
        reduce(into: []) { returned, change in
            if case .putBack(let former) = change, case .contact = former.kind { returned.formUnion(former.records) }
        }
    }

    /// The contacts, groups and containers that the changes concern.
    public var records: Set<RecordNumber> {
        reduce(into: []) { records, change in
            switch change {
            case .add(let record, _), .update(let record, _, _), .delete(let record), .thumbnail(let record, _, _),
                .group(.add(let record, _, _)), .group(.rename(let record, _)), .group(.delete(let record)),
                .group(.setMe(let record?)), .container(.add(let record, _)), .container(.delete(let record)):
                records.insert(record)
            case .group(.addMember(let record, let other)), .group(.removeMember(let record, let other)),
                .group(.addSubgroup(let record, let other, _)), .group(.removeSubgroup(let record, let other)),
                .container(.put(let record, _, let other)), .link(.link(let record, let other)),
                .link(.unlink(let record, let other)):
                records.formUnion([record, other])
            case .putBack(let former): records.formUnion(former.records)
            case .group(.setMe(nil)): break
            }
        }
    }
}

/// One step of a save that concerns containers.
public enum ContainerChange: Hashable, Sendable {
    /// The number must be new.
    case add(RecordNumber, name: String)
    /// The container must be empty.
    case delete(RecordNumber)
    /// Moves a contact or a group, which an earlier step of the same save added, into the container.
    case put(RecordNumber, isGroup: Bool, in: RecordNumber)
}

/// A container for contacts and groups, other than the default container.
public struct StoredContainer: Hashable, Sendable {
    /// The maximum number of containers in one book.
    public static let most = 256

    public let record: RecordNumber
    public let name: String
}

/// One step of a save that links or unlinks cards.
public enum LinkChange: Hashable, Sendable {
    /// Joins the sets of two cards.
    case link(RecordNumber, RecordNumber)
    /// Removes the first card from its set if the other card is in that set. Afterwards, evidence links the
    /// first card neither with the other card nor with the rest of that set.
    case unlink(RecordNumber, from: RecordNumber)
}

/// One step of a save that concerns groups or the owner's own card.
public enum GroupChange: Hashable, Sendable {
    /// The number must be new. `owner` identifies the app that creates the group, as ``ChangeAuthor/app``
    /// does.
    case add(RecordNumber, name: String, owner: [UInt8])
    case rename(RecordNumber, name: String)
    /// The group's members stay in the book.
    case delete(RecordNumber)
    case addMember(RecordNumber, to: RecordNumber)
    case removeMember(RecordNumber, from: RecordNumber)
    /// `visible` is the app whose groups the check for cycles may follow; `nil` allows all groups.
    case addSubgroup(RecordNumber, to: RecordNumber, visible: [UInt8]?)
    case removeSubgroup(RecordNumber, from: RecordNumber)
    /// Sets the owner's own card; `nil` clears it.
    case setMe(RecordNumber?)
}

/// A group without its members.
public struct StoredGroup: Hashable, Sendable {
    public let record: RecordNumber
    public let name: String
    /// Identifies the app that created the group, as ``ChangeAuthor/app`` does.
    public let owner: [UInt8]
    /// `nil` for the default container.
    public let container: RecordNumber?
    /// Whether an app with access to every card gave the group its name.
    public let isConfirmed: Bool
    /// The groups that contain this one.
    public let parents: [RecordNumber]
}
