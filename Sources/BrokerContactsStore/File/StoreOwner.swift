/// The owner of a book.
public struct StoreOwner: Hashable, Sendable {
    public let uid: UInt32
    public let name: String

    public init(uid: UInt32, name: String) {
        self.uid = uid
        self.name = name
    }
}
