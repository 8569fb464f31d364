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
