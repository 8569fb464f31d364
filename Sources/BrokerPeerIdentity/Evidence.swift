import BrokerAccessControl

/// Facts about a caller, from the kernel and from the files of systemd's units, without a judgement.
public struct Evidence: Hashable, Sendable {
    /// The kind of program that collected the evidence.
    public var vantage: Vantage = .session
    /// `SO_PEERCRED`: the user ID at the time of connect, unix(7).
    public var uid: UInt32
    /// `SO_PEERCRED`: the effective group at the time of connect.
    public var gid: UInt32
    public var process: ProcessIdentity
    public var pidfdSource: PidfdSource
    public var bootIdentifier: Observation<String>
    /// Absent if the leader has ended or is in a different pid namespace. Also absent if the process has no
    /// terminal, unless the process is the leader itself.
    public var sessionLeader: Observation<ProcessIdentity>
    /// The controlling terminal.
    public var terminal: Terminal?
    /// Path in the unified hierarchy, cgroups(7), as seen from the broker's own cgroup namespace.
    public var controlGroup: Observation<String>
    public var namespaces: Namespaces
    /// The broker's own namespaces.
    public var ownNamespaces: Namespaces
    /// Namespaces of process 1; an ordinary user cannot read them.
    public var initNamespaces: Namespaces
    /// `SO_PEERSEC`: the security module's label.
    public var label: Observation<String>
    public var executable: Observation<Executable>
    /// Whether process 1 finds the same file at the executable's path. Absent if the process is outside
    /// process 1's mount namespace, if the file is not local, or in session mode.
    public var place: Observation<Place> = .absent
    /// The unit of the system's service manager in which the process runs. Absent if the process is in no
    /// such unit, and always in session mode.
    public var unit: Observation<SystemUnit> = .absent
    /// The folders above the executable, after ``findFolders()``. Absent if its path does not lead to it, and always in
    /// system mode.
    public var folders: Observation<FolderChain> = .absent
    /// `/.flatpak-info` in the process's own root.
    public var flatpakInfo: Observation<FlatpakInfo>

    /// The kind of program that collected the evidence. It determines how much the program could see.
    public enum Vantage: Hashable, Sendable {
        /// An ordinary program of the user collected it, with that user's permissions. This vantage allows
        /// only ``IdentityStrength/claimed`` and the weaker strengths.
        case session
        /// A program that may inspect every process, including process 1, collected it.
        case system
    }

    public enum Place: Hashable, Sendable {
        /// The path names a different file, or nothing.
        case other
        /// The path names the same file, by device and inode. `isOnlyRoots` is true if the file and every
        /// folder above it belong to root, and nobody else may write to them.
        case same(isOnlyRoots: Bool)
    }

    /// The content of `/.flatpak-info`. Any program that creates a mount namespace can fake it.
    public struct FlatpakInfo: Hashable, Sendable {
        /// `name` in `[Application]`; `nil` if it cannot be read or is missing.
        public var app: String?
    }

    /// Where the pidfd came from.
    public enum PidfdSource: Hashable, Sendable {
        /// From `SO_PEERPIDFD`: it refers to the process that connected.
        case socket
        /// Opened by pid after the connection was made, on kernels before 6.5. If the process that connected
        /// has ended and its pid was reused, the pidfd refers to a different process.
        case number
    }

    /// Inode numbers of namespaces, namespaces(7).
    public struct Namespaces: Hashable, Sendable {
        public var mount: Observation<UInt64>
        public var user: Observation<UInt64>
    }
}
