import BrokerAccessControl
import BrokerBounds
import BrokerInterface
import BrokerVarlink

/// Which users the broker serves.
public enum BrokerMode: String, Sendable {
    /// Only the user who runs the broker.
    case session
    /// Every user of the machine. The broker runs as a separate user.
    case system
}

/// Events that an administrator can find in the journal by an identifier, independent of the message text.
public enum Notice: Hashable, Sendable {
    /// The policy was read and is in force.
    case policyInForce
    /// The policy cannot be read: every app is refused.
    case policyUnreadable
    /// A reload found a mistake in the policy files: the former rules stay in force.
    case policyNotReloaded
    /// The settings cannot be read: every app is refused until the broker restarts.
    case settingsUnreadable
    /// The audit cannot be synced: nothing is disclosed.
    case recordsNotKept
    /// Synced audit records are missing: every grant was denied.
    case recordsLost
    /// A book names an audit record that is missing from the audit or different there.
    case auditContradicted
    /// The last record of the audit that is synced. It has the sequence number and the hash as facts.
    case auditHead
    /// Retention is about to remove old audit records. The facts have the sequence number and the hash of the last one.
    case auditRemoved
    /// Something that an administrator should look at. The facts have the kind, the user and the app.
    case alarm
    /// A card is damaged, so replies to apps leave it out.
    case cardDamaged
    /// The stored data for a UID belongs to another person.
    case anotherPerson
    /// A user's stored data was purged.
    case userPurged
}

/// The number of connections on all sockets and the memory that they use, with the limits.
public struct SocketUse: Hashable, Sendable {
    public var connections: Int
    public var connectionsLimit: Int
    /// Buffered bytes of calls, and of replies that peers have not read yet.
    public var heldBytes: Int
    public var heldBytesLimit: Int

    public init(connections: Int, connectionsLimit: Int, heldBytes: Int, heldBytesLimit: Int) {
        self.connections = connections
        self.connectionsLimit = connectionsLimit
        self.heldBytes = heldBytes
        self.heldBytesLimit = heldBytesLimit
    }
}

/// A folder that the person may declare.
public struct FoundFolder: Hashable, Sendable {
    /// The path without links.
    public let path: String
    public let identity: FolderIdentity

    public init(path: String, identity: FolderIdentity) {
        self.path = path
        self.identity = identity
    }
}

/// The broker's environment, which the host program provides: for example the event loop, the clocks, and
/// facts from the kernel.
public struct Surroundings {
    public var loop: any Loop
    /// Microseconds since 1970.
    public var now: () -> Int64
    /// Seconds since 1970.
    package var seconds: Int64 { now() / 1_000_000 }
    /// Microseconds on a monotonic clock, which nobody can set.
    public var uptime: () -> Int64
    /// The folder that contains the databases.
    public var stateFolder: String
    public var mode = BrokerMode.session
    /// The UID that the broker runs as.
    public var ownUID: UInt32
    /// Looks up a user's name. The user database may be remote (NSS), so this may block and is never called
    /// on the event loop.
    public var userName: @Sendable (_ uid: UInt32) -> String
    /// Runs `ended` on the event loop when the terminal session or process of the binding ends. Returns
    /// `nil` if the session or process has already ended or cannot be watched. Releasing the returned
    /// object ends the watch.
    public var watch: (_ binding: Principal.Binding, _ ended: @escaping () -> Void) -> AnyObject?
    /// Whether the two processes are the same, or one is an ancestor of the other. If this is unknown, the
    /// result is `true`.
    public var areKin: (_ left: ProcessIdentity, _ right: ProcessIdentity) -> Bool
    /// Whether the user has a login session and can therefore start an agent. It must not block.
    public var hasLoginSession: (_ uid: UInt32) -> Bool = { _ in false }
    /// Whether a UID belongs to a user of this machine, and not for example to a container. It must not block.
    public var isUser: (_ uid: UInt32) -> Bool = { _ in true }
    /// The country for the user's phone numbers without a country code, such as `DE`; empty if unknown.
    public var region = ""
    /// The language of the order of names if the person set none: a BCP 47 tag, or a locale such as `sv_SE.UTF-8`; empty if
    /// it is not known.
    public var language = ""
    /// Resource limits.
    public var limits = Limits()
    /// Whether root may look up which apps may see or saw other users' contacts.
    public var mayLookUpContacts = false
    /// Reads the administrator's policy. Called off the event loop, except at the start.
    public var readPolicy: @Sendable () -> Policy = { Policy() }
    /// Reads a policy from texts instead of the policy folder. Called off the event loop.
    /// Returns ``Policy/digest`` of the files as they are now, without parsing them; a text that is no digest if they cannot
    /// be read. It may block.
    public var policyDigest: @Sendable () -> String? = { nil }
    public var parsePolicy: @Sendable (_ texts: [PolicyText]) -> Policy = { _ in
        Policy(unreadable: Policy.Problem(.policy, "nothing here reads policies"))
    }
    /// The policy folder, shown to the administrator.
    public var policyFolder = ""
    /// Returns the use of the sockets, for the status report; `nil` if there are no sockets.
    public var socketUse: () -> SocketUse? = { nil }
    /// Further facts for the administrator, such as missing kernel features.
    public var facts: [(name: String, value: String)]
    /// Asks for passwords; `nil` in session mode, which has no authority.
    public var authority: (any Authority)?
    /// Whether some requests need a password. Without an ``authority``, the broker refuses such requests.
    package var wantsPasswords: Bool { mode == .system || authority != nil }
    /// The administrator's setting for answers that need a password when no authority can ask for it. The
    /// stricter of this setting and the policy's applies. If neither is set in session mode, the person can
    /// share all contacts without a password, but an app whose rule requires a password gets nothing. In
    /// system mode, the daemon sets `refuse` by default.
    public var withoutAuthentication: Policy.WithoutAuthentication?
    /// Returns the apps that installed packages name; `nil` if that is not known. It reads files, so it is not called
    /// on the event loop.
    public var installedApps: @Sendable () -> Set<String>? = { nil }
    /// Checks whether the person may declare a folder, and returns the folder. It reads files, so it is not called on the
    /// event loop.
    public typealias InspectFolder = @Sendable (_ path: String, _ uid: UInt32) throws(FolderProblem) -> FoundFolder
    /// `nil` in system mode, where nobody can declare a folder.
    public var inspectFolder: InspectFolder?
    /// Stores audit records in a second place; `nil` for none.
    public var auditKeeper: (any AuditKeeper)?
    /// Returns a thumbnail of a photo, both in base64; `nil` if no thumbnail is needed or none can be made.
    /// This is slow, so the broker calls it off the event loop.
    public var makeThumbnail: @Sendable (_ photo: [UInt8]) -> [UInt8]? = { _ in nil }
    /// Writes a message to the journal. The message must not contain contact data.
    public var log: (_ message: String) -> Void
    /// Writes a notice to the journal. Its facts may contain UIDs and user names.
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
