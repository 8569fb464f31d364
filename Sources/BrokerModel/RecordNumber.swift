/// Identifies a record (a contact, a group or a container) inside the broker for as long as the database
/// exists.
///
/// Numbers are never reused, so the number of a deleted record in an app's granted set is harmless. Numbers
/// never leave the broker: apps see identifiers that the broker derives from them with one key per app.
public struct RecordNumber: Hashable, Comparable, Sendable {
    public let rawValue: Int64
    public init(_ rawValue: Int64) { self.rawValue = rawValue }
    public static func < (left: RecordNumber, right: RecordNumber) -> Bool { left.rawValue < right.rawValue }
}

/// The records that a query may read.
public enum RecordScope: Hashable, Sendable {
    case all
    /// Only these records. The cost of a query depends on the size of this set, never on the size of the book.
    case only(Set<RecordNumber>)

    public func contains(_ record: RecordNumber) -> Bool {
        switch self {
        case .all: true
        case .only(let records): records.contains(record)
        }
    }
}
