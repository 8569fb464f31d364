import BrokerAccessControl

/// What the kernel says about the process at the other end of a socket. Collected, not judged.
public struct Evidence: Hashable, Sendable {
    /// From where it was collected.
    public var vantage: Vantage
    /// `SO_PEERCRED`: as of connect, unix(7).
    public var uid: UInt32
    public var gid: UInt32
    public var process: ProcessIdentity
    public var pidfdSource: PidfdSource
    /// The process's own idea of its name, `/proc/PID/stat` field 2. For display only: any process can set it.
    public var command: String
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
    public var place: Reading<Place>
    /// The unit of the system's manager in which the process runs. Absent: in none, or not looked for in a session.
    public var unit: Reading<SystemUnit>
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
        /// `instance-id` of `[Instance]`.
        public var instance: String?

        public init(app: String?, instance: String?) {
            self.app = app
            self.instance = instance
        }
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

        public init(mount: Reading<UInt64>, user: Reading<UInt64>) {
            self.mount = mount
            self.user = user
        }
    }

    public init(
        vantage: Vantage = .session, uid: UInt32, gid: UInt32, process: ProcessIdentity, pidfdSource: PidfdSource,
        command: String,
        bootIdentifier: Reading<String>, sessionLeader: Reading<ProcessIdentity>, terminal: Terminal?,
        controlGroup: Reading<String>, namespaces: Namespaces, ownNamespaces: Namespaces, initNamespaces: Namespaces,
        label: Reading<String>, executable: Reading<Executable>, place: Reading<Place> = .absent,
        unit: Reading<SystemUnit> = .absent, flatpakInfo: Reading<FlatpakInfo>
    ) {
        self.vantage = vantage
        self.uid = uid
        self.gid = gid
        self.process = process
        self.pidfdSource = pidfdSource
        self.command = command
        self.bootIdentifier = bootIdentifier
        self.sessionLeader = sessionLeader
        self.terminal = terminal
        self.controlGroup = controlGroup
        self.namespaces = namespaces
        self.ownNamespaces = ownNamespaces
        self.initNamespaces = initNamespaces
        self.label = label
        self.executable = executable
        self.place = place
        self.unit = unit
        self.flatpakInfo = flatpakInfo
    }
}
