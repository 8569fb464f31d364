/// What somebody else is to learn of a save, kept by the book until it is certain that they did. The book does not read it.
public struct OutboxEntry: Hashable, Sendable {
    /// Rises with every entry of a book; by it is known what was taken over.
    public let number: Int64
    /// The book's last change with that save.
    public let change: Int64
    public let bytes: [UInt8]
}

/// What a save puts into its book's outbox, in the transaction of its changes.
public struct OutgoingEntry: Hashable, Sendable {
    /// Above every number that this book's outbox has had.
    public var number: Int64
    public var bytes: [UInt8]
    /// Entries up to this number were taken over for good, and go.
    public var takenOver: Int64
    /// The last record of the audit that is on the disk.
    public var anchor: AuditAnchor

    public init(number: Int64, bytes: [UInt8], takenOver: Int64, anchor: AuditAnchor) {
        self.number = number
        self.bytes = bytes
        self.takenOver = takenOver
        self.anchor = anchor
    }
}
