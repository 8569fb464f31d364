/// How sure the broker is of who is calling, surest first.
public enum IdentityStrength: String, CaseIterable, Sendable {
    /// An LSM label that agrees with cgroup and mount namespace.
    case labelled
    /// A flatpak whose namespace and cgroup agree.
    case sandboxed
    /// A unit of the system manager.
    case service
    /// A program named by a root-owned manifest.
    case installed
    /// What the user's own service manager calls it: any program of the user can take that name.
    case claimed
    /// A path and the hash of what was found there.
    case unverified
}

/// One run of one process: its number alone is used again by the kernel.
public struct ProcessIdentity: Hashable, Sendable {
    public let pid: Int32
    /// Clock ticks since boot, `/proc/PID/stat` field 22.
    public let startTime: UInt64

    public init(pid: Int32, startTime: UInt64) {
        self.pid = pid
        self.startTime = startTime
    }
}

/// One terminal session: it ends with its leader.
public struct SessionIdentity: Hashable, Sendable {
    public let bootIdentifier: String
    public let leader: ProcessIdentity

    public init(bootIdentifier: String, leader: ProcessIdentity) {
        self.bootIdentifier = bootIdentifier
        self.leader = leader
    }
}

/// Whom a grant belongs to. A weaker identity never inherits a stronger one's grant, because it is another principal.
public struct Principal: Hashable, Sendable {
    public let uid: UInt32
    public let strength: IdentityStrength
    /// The app's identifier; for `unverified` the path and SHA-256 of the executable.
    public let app: String
    /// What the grant's life hangs on; ``Binding/standing`` for one that outlives process and session.
    public let binding: Binding

    public enum Binding: Hashable, Sendable {
        case standing
        case session(SessionIdentity)
        case process(ProcessIdentity)
    }

    public init(uid: UInt32, strength: IdentityStrength, app: String, binding: Binding = .standing) {
        self.uid = uid
        self.strength = strength
        self.app = app
        self.binding = binding
    }

    public func bound(to binding: Binding) -> Principal {
        Principal(uid: uid, strength: strength, app: app, binding: binding)
    }
}

/// Who is at the other end of a connection, as the kernel told us.
public struct Caller: Hashable, Sendable {
    public let uid: UInt32
    public let strength: IdentityStrength
    public let app: String
    /// For people: a name or the executable's own. Text of strangers; whoever shows it strips it.
    public let displayName: String
    /// Path of the executable, where it could be read.
    public let executable: String?
    public let process: ProcessIdentity
    /// The terminal session, where the caller has a controlling terminal.
    public let session: SessionIdentity?
    /// The controlling terminal's name, for people.
    public let terminal: String?
    /// The executable runs other people's programs, so that it names no app.
    public let isInterpreter: Bool
    /// In a sandbox, as far as can be told. The agent's and the administrator's doors are closed to it.
    public let isSandboxed: Bool

    public init(
        uid: UInt32, strength: IdentityStrength, app: String, displayName: String, executable: String?,
        process: ProcessIdentity, session: SessionIdentity?, terminal: String?, isInterpreter: Bool, isSandboxed: Bool
    ) {
        self.uid = uid
        self.strength = strength
        self.app = app
        self.displayName = displayName
        self.executable = executable
        self.process = process
        self.session = session
        self.terminal = terminal
        self.isInterpreter = isInterpreter
        self.isSandboxed = isSandboxed
    }

    private var standing: Principal { Principal(uid: uid, strength: strength, app: app) }

    /// The principals whose grants this caller may use, the most particular first.
    ///
    /// An interpreter names no app: what was granted to one script must not reach the next, so it never has a
    /// standing grant.
    public var principals: [Principal] {
        var principals = [standing.bound(to: .process(process))]
        if let session { principals.append(standing.bound(to: .session(session))) }
        if !isInterpreter { principals.append(standing) }
        return principals
    }

    /// The principal to whom a grant of that lifetime is given; `nil` where this caller cannot have it.
    public func principal(for lifetime: Lifetime) -> Principal? {
        switch lifetime {
        case .untilRevoked, .untilTime: isInterpreter ? nil : standing
        case .session: session.map { standing.bound(to: .session($0)) }
        case .process: standing.bound(to: .process(process))
        }
    }

    /// Lifetimes that the person may choose from, the one offered first in front (DESIGN: callers with a
    /// controlling terminal and no sandbox are offered a session; an interpreter's grants last a process).
    public var lifetimes: [LifetimeKind] {
        if isInterpreter { return session == nil ? [.process] : [.process, .session] }
        return session == nil || isSandboxed ? [.untilRevoked] : [.session, .untilRevoked]
    }
}
