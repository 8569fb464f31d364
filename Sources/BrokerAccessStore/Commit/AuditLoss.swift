/// Describes synced records that are missing from the database, or may be.
public struct AuditLoss: Hashable, Sendable {
    /// The sequence number of the last synced record; `nil` if the position file is missing or damaged.
    public let synced: Int64?
    /// The sequence number of the last record in the database.
    public let found: Int64

    /// For the audit and the journal.
    public var description: String {
        switch synced {
        case nil: "the file \(SyncedPosition.name) is missing or damaged, so nobody knows which records are lost"
        case let synced? where synced > found: "records \(found + 1) to \(synced) were on the disk and are lost"
        case let synced?: "record \(synced) is not the one that was on the disk"
        }
    }
}
