import ContactsModel

/// One step of a save. What it writes was checked (``Contact/validate(writing:limits:)``).
public enum ContactChange: Hashable, Sendable {
    /// The number must be new: never used before in this book.
    case add(RecordNumber, Contact)
    /// Writes `keys` as they are in the contact; other keys stay.
    case update(RecordNumber, Contact, keys: ContactKeySet)
    case delete(RecordNumber)
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
