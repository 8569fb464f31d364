/// A terminal, identified by its device number, `/proc/PID/stat` field 7.
public struct Terminal: Hashable, Sendable {
    public let major: UInt32
    public let minor: UInt32

    public init(major: UInt32, minor: UInt32) {
        self.major = major
        self.minor = minor
    }

    /// The name under `/dev`, derived from the kernel's list of devices. Searching `/dev` would access the
    /// file system.
    public var name: String {
        switch major {
        case 4 where minor < 64: "tty\(minor)"
        case 4: "ttyS\(minor - 64)"
        case 136...143: "pts/\(minor + (major - 136) * 256)"
        default: "terminal \(major):\(minor)"
        }
    }
}

extension Terminal {
    /// `nil` for 0, which means no terminal.
    ///
    /// proc(5): the minor number is in bits 31 to 20 and 7 to 0, the major number in bits 15 to 8.
    public init?(statField number: Int32) {
        guard number != 0 else { return nil }
        let bits = UInt32(bitPattern: number)
        self.init(major: (bits >> 8) & 0xfff, minor: (bits & 0xff) | ((bits >> 12) & 0xfff00))
    }
}
