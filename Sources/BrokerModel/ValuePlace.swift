/// One value of a contact: its key and, for a key with several values, its position.
public struct ValuePlace: Hashable, Sendable {
    public let key: ContactKey
    public let index: Int

    public init(key: ContactKey, index: Int = 0) {
        self.key = key
        self.index = index
    }
}
