import BrokerAccessControl
import BrokerModel

/// One record of the audit in its place in the chain.
public struct AuditEntry: Hashable, Sendable {
    /// Place in the chain, from 1, without gaps.
    public let sequence: Int64
    /// Microseconds since 1970.
    public let time: Int64
    public let uid: UInt32
    /// The app's identifier; empty where no app was concerned.
    public let app: String
    public let strength: IdentityStrength?
    public let event: AuditEvent
    /// The app's standing after the event.
    public let status: AuthorizationStatus?
    public let keys: ContactKeySet?
    /// Number of contacts concerned.
    public let count: Int?
    /// Which ones, by ``AccessStore/pseudonym(of:uid:)``.
    public let contacts: [String]?
    public let revision: Int64?
    public let repeats: Int?
    public let detail: String?
    /// The predecessor's hash in hexadecimal digits; zeros for the first.
    public let previous: String
    /// SHA-256 over this record and its predecessor's hash, in hexadecimal digits.
    public let hash: String
}

/// Which audit records are looked for. What is `nil` is not asked about.
public struct AuditFilter: Hashable, Sendable {
    public var uid: UInt32?
    public var app: String?
    public var strength: IdentityStrength?
    /// Microseconds since 1970; records of that moment included.
    public var since: Int64?
    /// Microseconds since 1970; records of that moment left out.
    public var until: Int64?
    public var event: AuditEvent?
    /// A contact's pseudonym. What is not one matches nothing.
    public var contact: String?

    public init(
        uid: UInt32? = nil, app: String? = nil, strength: IdentityStrength? = nil, since: Int64? = nil,
        until: Int64? = nil, event: AuditEvent? = nil, contact: String? = nil
    ) {
        self.uid = uid
        self.app = app
        self.strength = strength
        self.since = since
        self.until = until
        self.event = event
        self.contact = contact
    }
}

/// What one step of a walk along the chain found.
public struct AuditVerification: Hashable, Sendable {
    /// Records looked at in this step.
    public let checked: Int
    /// The hash up to which all is well, in hexadecimal digits.
    public let head: String
    /// The first place at which the chain does not hold: a record changed, missing, or in another's place.
    public let brokenAt: Int64?
    /// Where the next step begins; `nil` when the walk is over.
    public let next: Int64?
}
