/// What this store knows about the outbox of a user's book.
struct OutboxMark: Hashable, Sendable {
    /// The number of the last entry that was taken over.
    let number: Int64
    /// The number of the book's last change at that time.
    let change: Int64
}

/// A committed state of the store.
public struct Committed: Sendable {
    /// Commits since the store was opened.
    var commits = 0
    var outboxMarks: [UInt32: OutboxMark] = [:]
    /// The position of the last audit record.
    public internal(set) var position = AuditPosition.beginning
    /// The latest revision of any grant.
    var revision: Int64 = 0
}
