/// How reliably an app was identified, strongest first.
public enum IdentityStrength: String, CaseIterable, Sendable {
    /// The process has an enforced LSM label that agrees with its control group, and a mount namespace of its
    /// own.
    case labelled
    /// A Flatpak app with its own mount namespace, whose `/.flatpak-info` and control group name the same
    /// app.
    case sandboxed
    /// A service of the system's service manager.
    case service
    /// A program that a root-owned manifest names. This strength shows which program it is, not who controls
    /// it.
    case installed
    /// A program that speaks CardDAV and showed the password of a ``CardDAVConnection``. It may be any program that knows the password.
    case password
    /// The user's own service manager reports this name. Any program of the user can claim it.
    case claimed
    /// Only the path and the hash of the executable are known.
    case unverified
    /// The executable lies in a folder that the person declared in session mode. Every program that can write into the
    /// folder can replace it.
    case declared

    /// Whether any ordinary program of the same user can impersonate an app at this strength. A program that
    /// sets up a fake Flatpak sandbox is not considered here.
    public var isAssumable: Bool {
        switch self {
        case .labelled, .sandboxed, .service: false
        case .installed, .password, .claimed, .unverified, .declared: true
        }
    }

    /// Whether a program can ask the person under as many names as it likes, so that callers who were never approved share
    /// the limits on prompts.
    public var sharesCrowd: Bool { namesNobody || self == .password }

    /// Whether any program of the user can get this strength under a new app identifier. A policy rule for
    /// this strength may neither allow access nor name apps.
    public var namesNobody: Bool {
        switch self {
        case .claimed, .unverified, .declared: true
        // The person names a connection.
        case .labelled, .sandboxed, .service, .installed, .password: false
        }
    }
}

/// Identifies one process, even if its pid is reused.
public struct ProcessIdentity: Hashable, Sendable {
    public let pid: Int32
    /// Clock ticks since boot, `/proc/PID/stat` field 22.
    public let startTime: UInt64

    public init(pid: Int32, startTime: UInt64) {
        self.pid = pid
        self.startTime = startTime
    }
}

/// One terminal session. It ends when its leader ends.
public struct SessionIdentity: Hashable, Sendable {
    public let bootIdentifier: String
    public let leader: ProcessIdentity

    public init(bootIdentifier: String, leader: ProcessIdentity) {
        self.bootIdentifier = bootIdentifier
        self.leader = leader
    }
}

/// The owner of a grant. The same app at a weaker identity strength is a different principal, so a grant for
/// the stronger principal does not apply to it.
public struct Principal: Hashable, Sendable {
    public let uid: UInt32
    public let strength: IdentityStrength
    /// The app's identifier; for `unverified`, the path and SHA-256 of the executable; for `declared`, see
    /// ``DeclaredFolder/app(program:)``.
    public let app: String
    /// How long the principal exists.
    public let binding: Binding

    public enum Binding: Hashable, Sendable {
        case persistent
        case session(SessionIdentity)
        case process(ProcessIdentity)
    }

    public init(uid: UInt32, strength: IdentityStrength, app: String, binding: Binding = .persistent) {
        self.uid = uid
        self.strength = strength
        self.app = app
        self.binding = binding
    }

    /// The path of the executable, if the identifier begins with one.
    public var path: Substring? {
        guard app.hasPrefix("/") else { return nil }
        // Only the identifier of an unverified app ends with a hash.
        guard strength == .unverified else { return app[...] }
        return app.lastIndex(of: " ").map { app[..<$0] } ?? app[...]
    }

    public func bound(to binding: Binding) -> Principal {
        Principal(uid: uid, strength: strength, app: app, binding: binding)
    }
}

/// The process at the other end of a connection, with the identity that the broker derived for it.
public struct Caller: Hashable, Sendable {
    public let uid: UInt32
    public let strength: IdentityStrength
    public let app: String
    /// The app's human-readable name, or the executable's file name. It is untrusted text: strip it before
    /// display.
    public let displayName: String
    /// Path of the executable, if it could be read.
    public let executable: String?
    public let process: ProcessIdentity
    /// The terminal session, if the caller has a controlling terminal.
    public let session: SessionIdentity?
    /// The controlling terminal's human-readable name.
    public let terminal: String?
    /// Whether the executable is an interpreter. An interpreter runs other programs, so its executable does
    /// not identify an app.
    public let isInterpreter: Bool
    /// Whether the caller appears to run in a sandbox. Such a caller may use neither the agent's nor the
    /// administrator's socket.
    public let isSandboxed: Bool
    /// Set only if the caller is not in process 1's mount namespace: the name of the caller's sandbox, or the
    /// number of the caller's mount namespace if the name is unknown. ``executable`` is then a path in the
    /// sandbox.
    public let sandbox: String?

    public init(
        uid: UInt32, strength: IdentityStrength, app: String, displayName: String, executable: String?,
        process: ProcessIdentity, session: SessionIdentity?, terminal: String?, isInterpreter: Bool, isSandboxed: Bool,
        sandbox: String? = nil
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
        self.sandbox = sandbox
    }

    /// The principal whose grants last longer than a session. An interpreter has none.
    public var persistent: Principal { Principal(uid: uid, strength: strength, app: app) }

    /// The principals whose grants this caller may use, the most specific first.
    ///
    /// An interpreter has no persistent principal: a grant for one script must not apply to the next.
    public var principals: [Principal] {
        var principals = [persistent.bound(to: .process(process))]
        if let session { principals.append(persistent.bound(to: .session(session))) }
        if !isInterpreter { principals.append(persistent) }
        return principals
    }

    /// Returns the principal for a grant with this lifetime; `nil` if this caller cannot have such a grant.
    public func principal(for lifetime: Lifetime) -> Principal? {
        switch lifetime {
        case .untilRevoked, .untilTime: isInterpreter ? nil : persistent
        case .session: session.map { persistent.bound(to: .session($0)) }
        case .process: persistent.bound(to: .process(process))
        }
    }

    /// Lifetimes that the person may choose from, the default first. For an interpreter the default is the
    /// process, and the only other choice is the session, if there is one. For any other caller the default
    /// is the session if the caller has a controlling terminal and is not in a sandbox; otherwise it is until
    /// revoked.
    public var lifetimes: [LifetimeKind] {
        if isInterpreter { return session == nil ? [.process] : [.process, .session] }
        return session == nil || isSandboxed ? [.untilRevoked] : [.session, .untilRevoked]
    }
}
