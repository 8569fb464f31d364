import CBrokerLinux

/// One state of one file. Any change to the contents changes at least `st_ctime`, which only the kernel sets.
public struct FileIdentity: Hashable, Sendable {
    public let deviceMajor: UInt32
    public let deviceMinor: UInt32
    public let inode: UInt64
    /// Bytes.
    public let size: UInt64
    public let modified: Time
    /// `st_ctime`: when the contents, a name or the mode last changed.
    public let changed: Time

    /// A time since 1970.
    public struct Time: Hashable, Sendable {
        public let seconds: Int64
        public let nanoseconds: UInt32
    }
}

extension FileIdentity {
    init(_ status: clinux_file) {
        self.init(
            deviceMajor: status.device_major, deviceMinor: status.device_minor, inode: status.inode,
            size: status.size,
            modified: Time(seconds: status.modified_seconds, nanoseconds: status.modified_nanoseconds),
            changed: Time(seconds: status.changed_seconds, nanoseconds: status.changed_nanoseconds))
    }
}
