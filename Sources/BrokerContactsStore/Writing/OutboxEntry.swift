/// What the access database must learn about a save. The book keeps it until it was taken over, and does not read it.
public struct OutboxEntry: Hashable, Sendable {
    /// Rises with every entry of a book; it identifies the entries that were taken over.
    public let number: Int64
    /// The number of the book's last change of that save.
    public let change: Int64
    public let bytes: [UInt8]
}

/// The outbox entry of a save, written in the transaction of its changes.
public struct OutgoingEntry: Hashable, Sendable {
    /// Greater than every number that this book's outbox has had.
    public var number: Int64
    public var bytes: [UInt8]
    /// Entries up to this number were taken over and synced, and are deleted.
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
