import CBrokerLinux
import Glibc

/// A socket that the service manager passed to this process (sd_listen_fds(3)).
public struct PassedSocket: Hashable, Sendable {
    public let descriptor: CInt
    /// The unit's `FileDescriptorName=`; `unknown` if the unit does not set it, as in sd_listen_fds(3).
    public let name: String

    public init(descriptor: CInt, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    /// Returns the sockets that the variables name; none if the variables are invalid or meant for a
    /// different process.
    ///
    /// Unset the variables afterwards, so that no child process uses them.
    public static func all(in environment: [String: String], processID: pid_t) -> [PassedSocket] {
        guard environment["LISTEN_PID"].flatMap({ pid_t($0) }) == processID,
            let count = environment["LISTEN_FDS"].flatMap({ CInt($0) }), (1...maximum).contains(count)
        else { return [] }
        let names = environment["LISTEN_FDNAMES"]?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        return (0..<count).map { index in
            let name = Int(index) < names.count ? String(names[Int(index)]) : "unknown"
            return PassedSocket(descriptor: first + index, name: name)
        }
    }

    /// The bound path, which distinguishes sockets of the same name; `nil` if this is not a Unix socket with a
    /// path.
    public var path: String? {
        var buffer = [CChar](repeating: 0, count: 128)
        guard clinux_bound_path(descriptor, &buffer, buffer.count) == 0, buffer[0] != 0 else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// SD_LISTEN_FDS_START.
    private static let first: CInt = 3
    /// More sockets than any unit of the broker has. A higher count is treated as invalid.
    private static let maximum: CInt = 64
}
