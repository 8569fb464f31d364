import BrokerAccessControl
import BrokerModel

/// One audit record with its position in the chain.
public struct AuditEntry: Hashable, Sendable {
    /// Position in the chain, from 1, without gaps.
    public let sequence: Int64
    /// Microseconds since 1970.
    public let time: Int64
    public let uid: UInt32
    /// The app's identifier; empty if no app is concerned.
    public let app: String
    public let strength: IdentityStrength?
    public let event: AuditEvent
    /// The app's authorization level after the event.
    public let status: AuthorizationStatus?
    public let keys: ContactKeySet?
    /// As in ``AuditRecord/count``.
    public let count: Int?
    /// The pseudonyms of the contacts concerned; see ``PseudonymKeys/pseudonym(of:uid:)``.
    public let contacts: [String]?
    public let revision: Int64?
    public let repeats: Int?
    public let detail: String?
    /// The predecessor's hash in hexadecimal digits; zeros for the first record.
    public let previous: String
    /// SHA-256 over this record and its predecessor's hash, in hexadecimal digits.
    public let hash: String
}

/// Selects audit records. A member that is `nil` does not restrict the result.
public struct AuditFilter: Hashable, Sendable {
    public var uid: UInt32?
    public var app: String?
    public var strength: IdentityStrength?
    /// Microseconds since 1970, inclusive.
    public var since: Int64?
    /// Microseconds since 1970, exclusive.
    public var until: Int64?
    public var event: AuditEvent?
    /// A contact's pseudonym. A malformed pseudonym matches nothing.
    public var contact: String?
    /// The pseudonyms of a contact's cards. Only records match from which follows which apps saw the contact: those that
    /// name one of the cards, all grants and revocations, and the disclosures that name nobody. At least one.
    public var concerning: [String]?
    /// Whether records from before ``since`` match, too. A query then finds at least those from which follows what apps
    /// could see at that time: the grants, revocations, saves and purges, and the first record of each app and the first
    /// and the last disclosure to it.
    public var withEarlier = false

    public init(
        uid: UInt32? = nil, app: String? = nil, strength: IdentityStrength? = nil, since: Int64? = nil,
        until: Int64? = nil, event: AuditEvent? = nil, contact: String? = nil, withEarlier: Bool = false
    ) {
        self.uid = uid
        self.app = app
        self.strength = strength
        self.since = since
        self.until = until
        self.event = event
        self.contact = contact
        self.withEarlier = withEarlier
    }
}

/// The result of one verification step.
public struct AuditVerification: Hashable, Sendable {
    /// The number of records that this step verified.
    public let checked: Int
    /// The hash of the last verified record, in hexadecimal digits.
    public let head: String
    /// The first position at which the chain is broken: a record was changed, removed or moved. `nil` if this
    /// step found no break.
    public let brokenAt: Int64?
    /// If the records from ``brokenAt`` on are missing: the last missing one.
    public let missingTo: Int64?
    /// The position at which the next step begins; `nil` when verification has ended.
    public let next: Int64?
}
