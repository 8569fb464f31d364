import BrokerModel

/// One step of a save. What it writes was checked (``Contact/validate(writing:limits:)``).
public enum ContactChange: Hashable, Sendable {
    /// The number must be new: never used before in this book.
    case add(RecordNumber, Contact)
    /// Writes `keys` as they are in the contact; other keys stay.
    case update(RecordNumber, Contact, keys: ContactKeySet)
    case delete(RecordNumber)
    case group(GroupChange)
    case link(LinkChange)
    case container(ContainerChange)
    /// The book's own: a thumbnail of that photo, both in base64. Nothing where the contact has another one by now, or none.
    case thumbnail(RecordNumber, [UInt8], of: [UInt8])
}

/// One step of a save that is about the places in which contacts and groups are kept.
public enum ContainerChange: Hashable, Sendable {
    /// The number must be new.
    case add(RecordNumber, name: String)
    /// It must be empty.
    case delete(RecordNumber)
    /// For a contact or a group that an earlier step of the same save added.
    case put(RecordNumber, isGroup: Bool, in: RecordNumber)
}

/// A place for contacts and groups beside the one that every book has.
public struct StoredContainer: Hashable, Sendable {
    /// Most that one book has.
    public static let most = 256

    public let record: RecordNumber
    public let name: String
}

/// One step of a save that is about which cards belong together.
public enum LinkChange: Hashable, Sendable {
    /// Joins the sets of two cards.
    case link(RecordNumber, RecordNumber)
    /// Takes the first one out of the set that it is in together with the other one.
    case unlink(RecordNumber, from: RecordNumber)
}

/// One step of a save that is about groups, or about which card is the owner's own.
public enum GroupChange: Hashable, Sendable {
    /// The number must be new. `owner`: the mark of the app that makes the group.
    case add(RecordNumber, name: String, owner: [UInt8])
    case rename(RecordNumber, name: String)
    /// Its members stay in the book.
    case delete(RecordNumber)
    case addMember(RecordNumber, to: RecordNumber)
    case removeMember(RecordNumber, from: RecordNumber)
    /// `visible`: the app whose groups alone are looked at for a cycle; `nil` for all.
    case addSubgroup(RecordNumber, to: RecordNumber, visible: [UInt8]?)
    case removeSubgroup(RecordNumber, from: RecordNumber)
    /// `nil`: nobody's.
    case setMe(RecordNumber?)
}

/// A group without what is in it.
public struct StoredGroup: Hashable, Sendable {
    public let record: RecordNumber
    public let name: String
    /// The mark of the app that made it.
    public let owner: [UInt8]
    /// `nil`: the one that every book has.
    public let container: RecordNumber?
    /// The groups that it is in.
    public let parents: [RecordNumber]
}

/// Whose book it is.
public struct StoreOwner: Hashable, Sendable {
    public let uid: UInt32
    public let name: String

    public init(uid: UInt32, name: String) {
        self.uid = uid
        self.name = name
    }
}
