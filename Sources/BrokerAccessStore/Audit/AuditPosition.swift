/// A record's position in the chain, and its hash.
public struct AuditPosition: Hashable, Sendable {
    public let sequence: Int64
    /// SHA-256, 32 bytes.
    public let hash: [UInt8]
    public static let hashSize = AuditChain.hashSize

    public init(sequence: Int64, hash: [UInt8]) {
        self.sequence = sequence
        self.hash = hash
    }

    /// The position before the first record.
    static let beginning = AuditPosition(sequence: 0, hash: AuditChain.beginning)
}

/// A position of the chain that somebody remembers, and that the chain contradicts.
public struct ContradictedPosition: Hashable, Sendable {
    public let sequence: Int64
    /// The time of the record that the chain has there, in microseconds since 1970; `nil` if it has none.
    public let time: Int64?
}

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
