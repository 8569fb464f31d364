/// The data about a save that the access database must take over. The book stores the entry until then and
/// does not interpret its bytes.
public struct OutboxEntry: Hashable, Sendable {
    /// Greater than the number of every earlier entry of the book. ``OutgoingEntry/takenOver`` refers to it.
    public let number: Int64
    /// The number of the book's last change at the end of that save.
    public let change: Int64
    public let bytes: [UInt8]
}

/// The outbox entry of a save. It is written in the same transaction as the save's changes.
public struct OutgoingEntry: Hashable, Sendable {
    /// Greater than the number of every earlier entry of the book.
    public var number: Int64
    public var bytes: [UInt8]
    /// The access database has taken over and synced the entries up to this number. The save deletes them.
    public var takenOver: Int64
    /// The last synced audit record.
    public var anchor: AuditAnchor

    public init(number: Int64, bytes: [UInt8], takenOver: Int64, anchor: AuditAnchor) {
        self.number = number
        self.bytes = bytes
        self.takenOver = takenOver
        self.anchor = anchor
    }
}
