import BrokerAccessControl
import BrokerVarlink

/// Whom the broker serves.
public enum BrokerMode: String, Sendable {
    /// The user who runs it, and nobody else.
    case session
    /// Every user of the machine, as a user of its own.
    case system
}

/// What the administrator should hear of under a name of its own, beside the words.
public enum Notice: Hashable, Sendable {
    /// The policy was read, and holds.
    case policyInForce
    /// The policy cannot be read: every app is refused.
    case policyUnreadable
    /// The settings cannot be read: every app is refused until the broker restarts.
    case settingsUnreadable
    /// The disk does not take the audit: nothing is disclosed.
    case recordsNotKept
    /// Records that were on the disk are lost: every grant was denied.
    case recordsLost
    /// A book names a record that the audit does not have.
    case auditContradicted
    /// A card is not as it was saved, and is left out.
    case cardDamaged
    /// What is kept for a user number is another person's.
    case anotherPerson
    /// What was kept for a user is gone.
    case userPurged
}

/// What the broker has from the program around it: the loop, clocks, and what only the kernel knows.
public struct Surroundings {
    public var loop: any Loop
    /// Microseconds since 1970.
    public var now: () -> Int64
    /// Seconds since 1970.
    var seconds: Int64 { now() / 1_000_000 }
    /// Microseconds on a clock that nobody can set.
    public var uptime: () -> Int64
    /// The folder that holds the databases.
    public var stateFolder: String
    public var mode = BrokerMode.session
    /// The user as whom the broker runs.
    public var ownUID: UInt32
    /// What the user database calls a user, which may be remote: never called on the loop.
    public var userName: @Sendable (_ uid: UInt32) -> String
    /// Runs the body on the loop when the process or session ends; `nil` where it has ended already or cannot be watched.
    /// What is returned keeps the watch.
    public var watch: (_ binding: Principal.Binding, _ ended: @escaping () -> Void) -> AnyObject?
    /// Whether one process is an ancestor of the other.
    public var areKin: (_ left: ProcessIdentity, _ right: ProcessIdentity) -> Bool
    /// Where the user's phone numbers are dialled that are written without a country, as in `DE`; empty where that is not known.
    public var region = ""
    /// What callers may use up.
    public var limits = Limits()
    /// Reads the administrator's policy; called off the loop, but at the start.
    public var readPolicy: @Sendable () -> Policy = { Policy() }
    /// Where the policy is read from, for the administrator to know.
    public var policyFolder = ""
    /// What else the administrator should know, such as what the kernel lacks.
    public var facts: [(name: String, value: String)]
    /// Who asks for the person's password where a program's word is not enough; `nil` in session mode, where nobody does.
    public var authority: (any Authority)?
    /// Whether passwords are wanted at all. Where they are and nobody can ask for one, the answer is no.
    var wantsPasswords: Bool { mode == .system || authority != nil }
    /// What the administrator configured for where there is no such authority; the policy's word stands beside it, and the
    /// stricter one holds. Where both are silent it is `refuse` if there should be an authority, and `allow` in session mode.
    public var withoutAuthentication: Policy.WithoutAuthentication?
    /// Keeps the audit in a second place; `nil` where one is enough.
    public var auditKeeper: (any AuditKeeper)?
    /// Makes a thumbnail of a photo, both in base64; called off the loop, and takes its time. `nil` where there is none to
    /// make, and where nobody can.
    public var makeThumbnail: @Sendable (_ photo: [UInt8]) -> [UInt8]? = { _ in nil }
    /// For the journal: what happened, never what a contact says.
    public var log: (_ message: String) -> Void
    /// The same, for what has a name; numbers and names of users may stand beside it as facts.
    public var notice: (_ notice: Notice, _ message: String, _ facts: [(name: String, value: String)]) -> Void

    public init(
        loop: any Loop, now: @escaping () -> Int64, uptime: @escaping () -> Int64, stateFolder: String,
        ownUID: UInt32, userName: @escaping @Sendable (UInt32) -> String,
        watch: @escaping (Principal.Binding, @escaping () -> Void) -> AnyObject?,
        areKin: @escaping (ProcessIdentity, ProcessIdentity) -> Bool, facts: [(name: String, value: String)],
        log: @escaping (String) -> Void
    ) {
        self.loop = loop
        self.now = now
        self.uptime = uptime
        self.stateFolder = stateFolder
        self.ownUID = ownUID
        self.userName = userName
        self.watch = watch
        self.areKin = areKin
        self.facts = facts
        self.log = log
        notice = { _, message, _ in log(message) }
    }
}
