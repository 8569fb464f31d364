import BrokerModel

/// One step of a save. Its content was already validated (``Contact/validate(writing:limits:)``).
public enum ContactChange: Hashable, Sendable {
    /// The number must never have been used in this book.
    case add(RecordNumber, Contact)
    /// Writes the contact's values of `keys`; other keys stay.
    case update(RecordNumber, Contact, keys: ContactKeySet)
    case delete(RecordNumber)
    case group(GroupChange)
    case link(LinkChange)
    case container(ContainerChange)
    /// The broker's own change: a thumbnail of that photo, both in base64. Does nothing if the contact now has
    /// another photo, none, or already a thumbnail.
    case thumbnail(RecordNumber, [UInt8], of: [UInt8])
}

/// One step of a save that concerns containers.
public enum ContainerChange: Hashable, Sendable {
    /// The number must be new.
    case add(RecordNumber, name: String)
    /// It must be empty.
    case delete(RecordNumber)
    /// Assigns a contact or a group that an earlier step of the same save added.
    case put(RecordNumber, isGroup: Bool, in: RecordNumber)
}

/// A container for contacts and groups other than the default one.
public struct StoredContainer: Hashable, Sendable {
    /// Most containers in one book.
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
    /// The number must be new. `owner` is the mark of the app that creates the group.
    case add(RecordNumber, name: String, owner: [UInt8])
    case rename(RecordNumber, name: String)
    /// Its members stay in the book.
    case delete(RecordNumber)
    case addMember(RecordNumber, to: RecordNumber)
    case removeMember(RecordNumber, from: RecordNumber)
    /// `visible` is the app whose groups the check for cycles may use; `nil` for all groups.
    case addSubgroup(RecordNumber, to: RecordNumber, visible: [UInt8]?)
    case removeSubgroup(RecordNumber, from: RecordNumber)
    /// `nil` clears it.
    case setMe(RecordNumber?)
}

/// A group without its members.
public struct StoredGroup: Hashable, Sendable {
    public let record: RecordNumber
    public let name: String
    /// The mark of the app that created it.
    public let owner: [UInt8]
    /// `nil` is the default container.
    public let container: RecordNumber?
    /// The groups that contain it.
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
