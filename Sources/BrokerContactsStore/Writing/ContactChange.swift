import BrokerModel

/// One step of a save. Its content was already validated (``Contact/validate(writing:limits:)``).
public enum ContactChange: Hashable, Sendable {
    /// The number must never have been used in this book.
    case add(RecordNumber, Contact)
    /// Writes the contact's values of `keys`. The other keys do not change.
    case update(RecordNumber, Contact, keys: ContactKeySet)
    case delete(RecordNumber)
    case group(GroupChange)
    case link(LinkChange)
    case container(ContainerChange)
    /// The broker's own change: adds a thumbnail of the photo `of`; both are base64. Does nothing if the
    /// contact has another photo, no photo, or a thumbnail already.
    case thumbnail(RecordNumber, [UInt8], of: [UInt8])
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

/// A container for contacts and groups. The default container has no such value.
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
    /// Removes the first card from the set that it shares with the other one.
    case unlink(RecordNumber, from: RecordNumber)
}

/// One step of a save that concerns groups or the owner's own card.
public enum GroupChange: Hashable, Sendable {
    /// The number must be new. `owner` identifies the app that creates the group, as ``ChangeAuthor/app``
    /// does.
    case add(RecordNumber, name: String, owner: [UInt8])
    case rename(RecordNumber, name: String)
    /// Its members stay in the book.
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
    /// `nil` is the default container.
    public let container: RecordNumber?
    /// The groups that contain this one.
    public let parents: [RecordNumber]
}

/// The owner of a book.
public struct StoreOwner: Hashable, Sendable {
    public let uid: UInt32
    public let name: String

    public init(uid: UInt32, name: String) {
        self.uid = uid
        self.name = name
    }
}
