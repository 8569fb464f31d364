import BrokerAccessControl
import BrokerDisclosure
import BrokerModel

/// A grant as the store holds it.
struct HeldGrant {
    var grant: Grant
    var displayName: String
    /// How its set became what it is.
    var history = SetHistory()
    /// By chance, and new with everything that is decided about the app: it tells this grant from every other, whatever a crash
    /// or a restored copy takes from the counters. 0 for what an earlier version wrote.
    var decision: Int64 = 0

    static func newDecision() -> Int64 { Int64.random(in: 1...Int64.max) }
}

/// The key of a principal's identifiers, and what works with it.
struct IdentifierKey {
    let bytes: [UInt8]
    let cipher: IdentifierCipher
}

/// How often an app read contacts.
struct Usage {
    /// Seconds since 1970.
    var lastUsedAt: Int64?
    var uses = 0
    /// Uses that are not in the file yet.
    var unwritten = 0
}

/// What has to be done to the rows of a limited set.
enum SetChange {
    case rows(added: Set<RecordNumber>, removed: Set<RecordNumber>)
    case whole
}

/// What differs from the file. Unlike the batch it outlives a commit that failed, so that a revocation which stays in force is
/// written as soon as that is possible again.
struct Unwritten {
    var grants: [Principal: SetChange] = [:]
    var intents: Set<Int64> = []
    var marks: Set<UInt32> = []
    var silences: Set<Principal> = []
    var pseudonyms: Set<UInt32> = []
    var owners: Set<UInt32> = []
    /// Users of whom no row is to be left; what is written for them afterwards is new.
    var purges: Set<UInt32> = []

    var isEmpty: Bool {
        grants.isEmpty && intents.isEmpty && marks.isEmpty && silences.isEmpty && pseudonyms.isEmpty && owners.isEmpty
            && purges.isEmpty
    }
}

/// What was done since the last commit, with what is needed to take it back.
struct Batch {
    var records: [AuditRecord] = []
    /// The grants touched, as they were.
    var grants: [Principal: HeldGrant?] = [:]
    /// Whose identifier keys were made.
    var identifiers: Set<Principal> = []
    /// The intents touched, as they were.
    var intents: [Int64: SaveIntent?] = [:]
    /// The marks touched, as they were.
    var outboxMarks: [UInt32: Int64?] = [:]
    /// The saves that were not in a commit yet are in this one.
    var hasDelivered = false
    /// Something went wrong that makes the batch impossible to commit.
    var failure: AccessStoreError?

    /// Makes it new, and keeps the room: most batches hold a few records and nothing else.
    mutating func clear() {
        records.removeAll(keepingCapacity: records.capacity <= 256)
        if !grants.isEmpty { grants = [:] }
        if !identifiers.isEmpty { identifiers = [] }
        if !intents.isEmpty { intents = [:] }
        if !outboxMarks.isEmpty { outboxMarks = [:] }
        hasDelivered = false
        failure = nil
    }
}

extension Grant {
    /// What both grants allow, for as long as both do.
    func narrowed(to other: Grant) -> Grant {
        var grant = self
        switch (access, other.access) {
        case (.denied, _), (_, .denied): grant.access = .denied
        case (.limited(let records), .limited(let others)): grant.access = .limited(to: records.intersection(others))
        case (.limited(let records), .full), (.full, .limited(let records)): grant.access = .limited(to: records)
        case (.full, .full): break
        }
        grant.keys.formIntersection(other.keys)
        switch (lifetime, other.lifetime) {
        case (.untilTime(let end), .untilTime(let otherEnd)): grant.lifetime = .untilTime(min(end, otherEnd))
        case (.untilRevoked, _): grant.lifetime = other.lifetime
        case (.untilTime, _), (.session, _), (.process, _): break
        }
        return grant
    }
}
