import BrokerModel

/// What happened, for the administrator: who, when, how much. Never what a contact, a query or a purpose says.
public enum AuditEvent: String, CaseIterable, Sendable {
    /// Contacts were told to an app.
    case disclosure
    /// What was about to be told was taken back before it left.
    case withheld
    /// A call got no contacts because of its caller's standing.
    case refusal
    /// The person was asked.
    case prompt
    /// What the person answered.
    case answer
    /// A grant was made or changed.
    case grant
    /// A grant was taken back, narrowed or ran out.
    case revocation
    /// An app changed contacts.
    case save
    /// A save that was begun, and of which nothing is in the book.
    case saveNotDone
    /// The person looked at their own contacts through the agent.
    case agentSearch
    /// Everything that was kept for a user was taken away, but for these records.
    case purge
    /// A password was wanted: for what, and whether it was given.
    case authentication
    /// The administrator's policy was read.
    case policy
    case start
    case stop
    /// The daemon ended without a `stop`: the last tenth of a second of disclosures may be missing.
    case gap
}

/// One record of the audit before it has its place in the chain.
public struct AuditRecord: Hashable, Sendable {
    /// Microseconds since 1970.
    public var time: Int64
    public var uid: UInt32
    /// The app's identifier; empty where no app was concerned.
    public var app: String
    public var strength: IdentityStrength?
    public var event: AuditEvent
    /// The app's standing after the event.
    public var status: AuthorizationStatus?
    public var keys: ContactKeySet?
    /// Number of contacts concerned.
    public var count: Int?
    /// Which ones; kept as pseudonyms that are the same across the apps of one user. `nil` for a whole set, named by ``revision``.
    public var contacts: [RecordNumber]?
    public var revision: Int64?
    /// Set in a count alone: so many more were equal to an earlier record, which was written before they were answered.
    public var repeats: Int?
    /// One of our own words, such as a method's name or `expired`; never a text of an app or a contact. Beside the kind of a
    /// prompt stands ``purposeHash(of:)``, where the app gave a reason.
    public var detail: String?
    /// Tells apart two disclosures that name no contacts, such as two batches of one list; it is not stored. Without it
    /// such a disclosure is never taken for a repeat.
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
