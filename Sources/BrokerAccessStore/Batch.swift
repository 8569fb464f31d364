import BrokerAccessControl

/// The changes that are not in the file yet. A failed commit clears the intents. It keeps the grants: a
/// revocation stays in force, and the next commit that succeeds writes it.
struct Unwritten {
    var grants: [Principal: SetChange] = [:]
    var intents: Set<Int64> = []

    var isEmpty: Bool { grants.isEmpty && intents.isEmpty }
}

/// The changes since the last commit, with the state that a rollback restores.
struct Batch {
    /// The previous values of the changed grants.
    var grants: [Principal: StoredGrant?] = [:]
    /// Principals with a new identifier key.
    var identifiers: Set<Principal> = []
    /// The previous values of the changed intents.
    var intents: [Int64: SaveIntent?] = [:]
    /// Whether this batch already applied every save in `undelivered`. If not, the next commit must reapply
    /// them.
    var hasDelivered = false

    mutating func clear() {
        if !grants.isEmpty { grants = [:] }
        if !identifiers.isEmpty { identifiers = [] }
        if !intents.isEmpty { intents = [:] }
        hasDelivered = false
    }
}
