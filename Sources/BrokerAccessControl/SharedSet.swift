import BrokerModel

/// The cards that a policy rule shares with an app because they are members of a contact group.
public struct SharedSet: Hashable, Sendable {
    public let records: Set<RecordNumber>
    /// A number of the access store, which is higher for each later state of the set.
    public let revision: Int64
    /// The same number whenever the set is the same, also after a restart. The app's change history begins again when
    /// it changes.
    public let epoch: Int64

    /// No card.
    public static let empty = SharedSet([], revision: 0)

    public init(_ records: Set<RecordNumber>, revision: Int64) {
        self.records = records
        self.revision = revision
        // FNV-1a over the numbers.
        let hash = records.sorted().reduce(UInt64(0xcbf2_9ce4_8422_2325)) { hash, record in
            (hash ^ UInt64(bitPattern: record.rawValue)) &* 0x100_0000_01b3
        }
        epoch = Int64(truncatingIfNeeded: hash >> 1)
    }

    /// The cards that are in both sets.
    public func intersection(_ other: SharedSet) -> SharedSet {
        SharedSet(records.intersection(other.records), revision: max(revision, other.revision))
    }
}
