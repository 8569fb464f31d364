import BrokerModel

/// The kind of an audit record. Records never contain the text of a contact, a query or a purpose.
public enum AuditEvent: String, CaseIterable, Sendable {
    /// Contacts were disclosed to an app.
    case disclosure
    /// The broker withdrew replies with contacts, because the grant was revoked or narrowed.
    case withheld
    /// A call got no contacts because of its caller's effective access.
    case refusal
    /// The broker showed the person a prompt, or could not.
    case prompt
    /// The person answered a prompt. ``AuditRecord/detail`` names the agent.
    case answer
    /// An agent that can answer prompts joined or left.
    case agent
    /// A grant was made or changed.
    case grant
    /// A grant was revoked or narrowed, or it expired.
    case revocation
    /// The person declared a folder, or the declaration ended. ``AuditRecord/app`` is the folder's path.
    case declaration
    /// The person connected a program that speaks CardDAV, or disconnected it. ``AuditRecord/app`` is the connection's name.
    case connection
    /// An app changed contacts.
    case save
    /// A save began, but none of its changes reached the book.
    case saveNotDone
    /// The person looked at their own contacts through the agent.
    case agentSearch
    /// Somebody looked up who may see or saw a contact. The record does not name the contact.
    case lookUp
    /// The broker noticed something that an administrator should look at. ``AuditRecord/detail`` says what.
    case alarm
    /// All data of a user was deleted, except the audit.
    case purge
    /// A user's contacts and grants were written to a backup.
    case backup
    /// A user's address book was replaced by that of a backup.
    case restore
    /// The days of a user's bin were changed, or something was removed from it. ``AuditRecord/detail`` says what.
    case bin
    /// An action required a password. The record names the action and the outcome.
    case authentication
    /// The broker read the administrator's policy.
    case policy
    /// Retention removed old records. ``AuditRecord/detail`` says which.
    case retention
    case start
    case stop
    /// The daemon ended without a `stop`, so records of disclosures in the last tenth of a second may be
    /// missing. If ``AuditRecord/detail`` is set, synced records are lost or may be lost.
    case gap
}

/// One audit record, before it gets its position in the audit chain.
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
    /// The number of contacts concerned. For a save that concerns no contacts, the number of changes. For
    /// ``AuditEvent/withheld``, the number of replies; for ``AuditEvent/purge``, the number of grants.
    public var count: Int?
    /// The contacts concerned, if the record names them. A record about a whole granted set has `nil` here and
    /// identifies the set by ``revision``. The store replaces each contact with a pseudonym, which is the same
    /// for all apps of one user.
    public var contacts: [RecordNumber]?
    public var revision: Int64?
    /// Only in a count record: the number of events that equal an earlier record and have no record of their
    /// own.
    public var repeats: Int?
    /// The broker's own text, such as a method's name or `expired`; never text from an app or a contact. For a
    /// prompt, it is the prompt's kind, followed by the hash of the app's purpose if the app gave one; or ``notShown``.
    public var detail: String?

    /// The end of the detail of a grant or a revocation that nobody decided: cards joined or left a granted set because
    /// of a contact group.
    public static let byContactGroup = "contact group"
    /// The same for what a policy rule shares. The app's stored grant did not change.
    public static let byPolicyGroup = "policy, \(byContactGroup)"
    /// The beginning of the detail of an answer that no app asked for: the person changed an app's access themself.
    public static let inReview = "in a review, "
    /// The detail of a prompt that ended before an agent showed it, for example because there was no agent.
    public static let notShown = "not shown"
    /// Distinguishes two disclosures that name no contacts, such as two batches of one list. It is not
    /// stored. A disclosure that names neither contacts nor a part is deduplicated only if its ``count`` is 0
    /// or `nil`.
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
