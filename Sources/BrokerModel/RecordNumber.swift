/// Names a record (a contact, a group, a container) inside the broker for as long as the database lives.
///
/// It is never used again, so a stale one in an app's limited set is harmless: it names nothing. It never
/// leaves the broker: apps see identifiers made from it under a key of their own.
public struct RecordNumber: Hashable, Comparable, Sendable {
    public let rawValue: Int64
    public init(_ rawValue: Int64) { self.rawValue = rawValue }
    public static func < (left: RecordNumber, right: RecordNumber) -> Bool { left.rawValue < right.rawValue }
}

/// Which records a query may look at.
public enum RecordScope: Hashable, Sendable {
    case all
    /// These and no others. The work of a query within it depends on this set alone, never on the whole book.
    case only(Set<RecordNumber>)

    public func contains(_ record: RecordNumber) -> Bool {
        switch self {
        case .all: true
        case .only(let records): records.contains(record)
        }
    }
}
