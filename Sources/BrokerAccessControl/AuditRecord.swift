import BrokerModel

/// What happened, for the administrator: who, when, how much. Never the text of a contact, a query or a purpose.
public enum AuditEvent: String, CaseIterable, Sendable {
    /// Contacts were disclosed to an app.
    case disclosure
    /// A reply with contacts was withdrawn before it was sent.
    case withheld
    /// A call got no contacts because of its caller's effective access.
    case refusal
    /// The person was asked.
    case prompt
    /// What the person answered.
    case answer
    /// A grant was made or changed.
    case grant
    /// A grant was revoked, narrowed or expired.
    case revocation
    /// An app changed contacts.
    case save
    /// A save was begun, but nothing of it is in the book.
    case saveNotDone
    /// The person looked at their own contacts through the agent.
    case agentSearch
    /// All data of a user was deleted, except these records.
    case purge
    /// A password was required: what for, and whether it was given.
    case authentication
    /// The administrator's policy was read.
    case policy
    case start
    case stop
    /// The daemon ended without a `stop`: disclosures of the last tenth of a second may be missing.
    case gap
}

/// One audit record before it has its place in the audit chain.
public struct AuditRecord: Hashable, Sendable {
    /// Microseconds since 1970.
    public var time: Int64
    public var uid: UInt32
    /// The app's identifier; empty if the event concerns no app.
    public var app: String
    public var strength: IdentityStrength?
    public var event: AuditEvent
    /// The app's authorization level after the event.
    public var status: AuthorizationStatus?
    public var keys: ContactKeySet?
    /// Number of contacts concerned.
    public var count: Int?
    /// The contacts concerned. They are stored as pseudonyms, which are the same across the apps of one user. `nil` for
    /// a whole granted set, which ``revision`` identifies.
    public var contacts: [RecordNumber]?
    public var revision: Int64?
    /// Only in a count: how many further events equalled an earlier record. That record was written before they were
    /// answered.
    public var repeats: Int?
    /// One of our own words, such as a method's name or `expired`; never text of an app or a contact. A prompt's record
    /// has its kind here, with ``purposeHash(of:)`` if the app gave a purpose.
    public var detail: String?
    /// Distinguishes two disclosures that name no contacts, such as two batches of one list; not stored. Without it
    /// such a disclosure is never deduplicated.
    public var part: Int?

    public init(
        time: Int64, uid: UInt32, app: String = "", strength: IdentityStrength? = nil, event: AuditEvent,
        status: AuthorizationStatus? = nil, keys: ContactKeySet? = nil, count: Int? = nil,
        contacts: [RecordNumber]? = nil, revision: Int64? = nil, repeats: Int? = nil, detail: String? = nil,
        part: Int? = nil
    ) {
        self.time = time
        self.uid = uid
        self.app = app
        self.strength = strength
        self.event = event
        self.status = status
        self.keys = keys
        self.count = count
        self.contacts = contacts
        self.revision = revision
        self.repeats = repeats
        self.detail = detail
        self.part = part
    }
}
