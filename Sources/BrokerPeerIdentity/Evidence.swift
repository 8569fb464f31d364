import BrokerAccessControl

/// What the kernel says about the process at the other end of a socket. Collected, not judged.
public struct Evidence: Hashable, Sendable {
    /// From where it was collected.
    public var vantage: Vantage = .session
    /// `SO_PEERCRED`: as of connect, unix(7).
    public var uid: UInt32
    public var process: ProcessIdentity
    public var pidfdSource: PidfdSource
    public var bootIdentifier: Reading<String>
    /// Absent where the leader has ended or lies in another process namespace.
    public var sessionLeader: Reading<ProcessIdentity>
    /// The controlling terminal.
    public var terminal: Terminal?
    /// Path in the unified hierarchy, cgroups(7), as seen from the broker's own cgroup namespace.
    public var controlGroup: Reading<String>
    public var namespaces: Namespaces
    /// The broker's own.
    public var ownNamespaces: Namespaces
    /// Those of process 1; an ordinary user cannot read them.
    public var initNamespaces: Namespaces
    /// `SO_PEERSEC`: the security module's label.
    public var label: Reading<String>
    public var executable: Reading<Executable>
    /// What lies at the executable's path, as process 1 sees it. Absent where the process does not lie where process 1
    /// does, and where the file is not the kernel's own word.
    public var place: Reading<Place> = .absent
    /// The unit of the system's manager in which the process runs. Absent: in none, or not looked for in a session.
    public var unit: Reading<SystemUnit> = .absent
    /// `/.flatpak-info` in the process's own root.
    public var flatpakInfo: Reading<FlatpakInfo>

    /// From where it was collected: what could be seen from there.
    public enum Vantage: Hashable, Sendable {
        /// By an ordinary program of the user's, which sees what its user may: the two weakest strengths.
        case session
        /// With the privilege to compare every process with process 1.
        case system
    }

    public enum Place: Hashable, Sendable {
        /// Something else, or nothing.
        case other
        /// The very file, by device and inode. Only root's: it and every folder above belong to root, and nobody else
        /// may write to them.
        case same(isOnlyRoots: Bool)
    }

    /// A flatpak's mark. Whoever makes a mount namespace can make it up.
    public struct FlatpakInfo: Hashable, Sendable {
        /// `name` of `[Application]`; `nil` where it cannot be read or does not say.
        public var app: String?
    }

    /// Where the descriptor came from that holds the process.
    public enum PidfdSource: Hashable, Sendable {
        /// `SO_PEERPIDFD`: the very process that connected.
        case socket
        /// From the process number after the fact, on kernels before 6.5: if the process that connected ended at
        /// once and its number was given out again, this is another one.
        case number
    }

    /// Inode numbers of namespaces, namespaces(7).
    public struct Namespaces: Hashable, Sendable {
        public var mount: Reading<UInt64>
        public var user: Reading<UInt64>
    }
}
