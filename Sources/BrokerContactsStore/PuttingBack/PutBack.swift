import BrokerModel

/// What the person wants to put back from the bin.
public enum PutBackRequest: Hashable, Sendable {
    /// One contact, as it was before a save.
    case contact(RecordNumber, save: Int64)
    /// Everything that a save added, changed and deleted.
    case save(Int64)
    /// The same of all saves of an app since a time, in seconds since 1970. `strength`: only those at this strength.
    case app(String, strength: String?, since: Int64)
}

/// What was put back, or would be.
public struct PutBackResult: Hashable, Sendable {
    public struct Item: Hashable, Sendable {
        public enum Outcome: Hashable, Sendable {
            /// A deleted contact comes back.
            case returned
            /// A contact becomes what it was.
            case changed
            /// A contact that the save added is deleted.
            case removed
            /// Somebody else has changed the contact since, so it stays as it is.
            case conflict
            /// The bin has its content no more, or the content is damaged.
            case lost
        }

        public let record: RecordNumber
        public let isGroup: Bool
        public var outcome: Outcome
    }

    /// The contacts and groups, in the order in which they were changed.
    public internal(set) var items: [Item] = []
    /// The new entries of the change history.
    public internal(set) var changes: [BookChange] = []

    /// Creates the result of a request of which the bin has nothing.
    public init() {}

    /// How many contacts get this outcome.
    public func contacts(_ outcome: Item.Outcome) -> Int { items.count { !$0.isGroup && $0.outcome == outcome } }
}
