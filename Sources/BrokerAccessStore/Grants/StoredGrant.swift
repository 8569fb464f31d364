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
        grant.groups.gone = []
        grant.groups.joined = groups.joined.union(other.groups.joined).intersection(grant.access.records)
        grant.groups.withheld = groups.withheld.union(other.groups.withheld).subtracting(grant.access.records)
        grant.keys.formIntersection(other.keys)
        // The right of a denial is meaningless.
        if access != .denied, other.access != .denied { grant.changes = min(changes, other.changes) }
        switch (lifetime, other.lifetime) {
        case (.untilTime(let end), .untilTime(let otherEnd)): grant.lifetime = .untilTime(min(end, otherEnd))
        case (.untilRevoked, _): grant.lifetime = other.lifetime
        case (.untilTime, _), (.session, _), (.process, _): break
        }
        return grant
    }
}
