import BrokerAccessControl
import BrokerDisclosure
import BrokerModel

/// A grant as the store keeps it in memory.
struct StoredGrant {
    var grant: Grant
    var displayName: String
    /// The changes to the grant's granted set.
    var history = SetHistory()
    /// A random number, renewed by every decision about the app. It distinguishes this grant from every
    /// other, even if a crash or a restored copy resets the counters. 0 in a grant that an earlier version
    /// of the broker wrote without this field.
    var decision: Int64 = 0

    static func newDecision() -> Int64 { Int64.random(in: 1...Int64.max) }
}

/// The key of a principal's identifiers, and the cipher that uses it.
struct IdentifierKey {
    let bytes: [UInt8]
    let cipher: IdentifierCipher
}

/// How often an app read contacts, and when it last did.
struct Usage {
    /// Seconds since 1970.
    var lastUsedAt: Int64?
    var uses = 0
    /// The contacts in the replies, each as often as a reply had it. Repeats of a reply within seconds do not count.
    var contacts = 0
    /// When the last reply with contacts was, in seconds since 1970.
    var lastReadAt: Int64?
    /// Uses that are not written to the file yet.
    var unwritten = 0
}

/// How the next commit must change the rows of a granted set.
enum SetChange {
    case rows(added: Set<RecordNumber>, removed: Set<RecordNumber>)
    case whole
}

/// The changes that are not in the file yet. A failed commit clears the intents and marks. It keeps all other
/// changes: a revocation stays in force, and the next commit that succeeds writes it.
struct Unwritten {
    var grants: [Principal: SetChange] = [:]
    var intents: Set<Int64> = []
    var marks: Set<UInt32> = []
    var silences: Set<Principal> = []
    /// Users whose ``AccessStore/unconfirmed`` contacts changed.
    var unconfirmed: Set<UInt32> = []
    /// Users whose ``AccessStore/declared`` folders changed.
    var declared: Set<UInt32> = []
    var pseudonyms: Set<UInt32> = []
    var owners: Set<UInt32> = []
    /// Users whose rows the next commit deletes before it writes new ones for them.
    var purges: Set<UInt32> = []

    var isEmpty: Bool {
        grants.isEmpty && intents.isEmpty && marks.isEmpty && silences.isEmpty && unconfirmed.isEmpty
            && declared.isEmpty && pseudonyms.isEmpty && owners.isEmpty && purges.isEmpty
    }
}

/// The changes since the last commit, with the state that a rollback restores.
struct Batch {
    var records: [AuditRecord] = []
    /// The previous values of the changed grants.
    var grants: [Principal: StoredGrant?] = [:]
    /// Principals with a new identifier key.
    var identifiers: Set<Principal> = []
    /// The previous values of the changed intents.
    var intents: [Int64: SaveIntent?] = [:]
    /// The previous values of the changed marks.
    var outboxMarks: [UInt32: OutboxMark?] = [:]
    /// The removal that this batch announces. Its last record is the announcement.
    var removal: AuditRemoval?
    /// Whether this batch already applied every save in `undelivered`. If not, the next commit must reapply
    /// them.
    var hasDelivered = false
    /// An error that makes it impossible to commit the batch.
    var failure: AccessStoreError?

    /// Empties the batch. Keeps the array's buffer if it is small, because most batches contain only a few
    /// records.
    mutating func clear() {
        records.removeAll(keepingCapacity: records.capacity <= 256)
        if !grants.isEmpty { grants = [:] }
        if !identifiers.isEmpty { identifiers = [] }
        if !intents.isEmpty { intents = [:] }
        if !outboxMarks.isEmpty { outboxMarks = [:] }
        removal = nil
        hasDelivered = false
        failure = nil
    }
}

extension Grant {
    /// Returns this grant, reduced to the access that both grants allow. If this grant lasts until it is
    /// revoked, it gets the lifetime of `other`. If both have an end time, the earlier one applies.
    /// Otherwise it keeps its own lifetime.
    public func narrowed(to other: Grant) -> Grant {
        var grant = self
        switch (access, other.access) {
        case (.denied, _), (_, .denied): grant.access = .denied
        case (.limited(let records), .limited(let others)): grant.access = .limited(to: records.intersection(others))
        case (.limited(let records), .full), (.full, .limited(let records)): grant.access = .limited(to: records)
        case (.full, .full): break
        }
        grant.groups.records.formIntersection(other.groups.records)
        grant.groups.joined = groups.joined.union(other.groups.joined).intersection(grant.access.records)
        grant.groups.withheld = groups.withheld.union(other.groups.withheld).subtracting(grant.access.records)
        grant.keys.formIntersection(other.keys)
        switch (lifetime, other.lifetime) {
        case (.untilTime(let end), .untilTime(let otherEnd)): grant.lifetime = .untilTime(min(end, otherEnd))
        case (.untilRevoked, _): grant.lifetime = other.lifetime
        case (.untilTime, _), (.session, _), (.process, _): break
        }
        return grant
    }
}
