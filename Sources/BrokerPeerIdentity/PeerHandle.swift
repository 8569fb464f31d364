import BrokerAccessControl
import CBrokerLinux
import Glibc

/// The process that connected. The handle owns a pidfd of the process, so the broker notices if the pid is
/// reused. It closes the pidfd when it is deallocated.
public final class PeerHandle: Sendable {
    public let uid: UInt32
    /// The effective group when the process connected. Only a setgid program gets a group that its user is not in.
    public let gid: UInt32
    public let pid: Int32
    public let pidfdSource: Evidence.PidfdSource
    let label: Observation<String>
    let pidfd: CInt

    /// Asks the kernel which process connected. The event loop may call this: it makes three or four system
    /// calls, and none of them blocks.
    public init(socket: CInt) throws(PeerError) {
        var credentials = clinux_credentials()
        let result = clinux_peer_credentials(socket, &credentials)
        guard result == 0 else { throw PeerError.unreadable(what: "credentials", errno: -result) }
        // 0: the process has no pid in this pid namespace.
        guard credentials.pid > 0 else { throw PeerError.unreadable(what: "process number", errno: ESRCH) }
        uid = credentials.uid
        gid = credentials.gid
        pid = credentials.pid
        label = Self.label(of: socket)
        let offered = clinux_peer_pidfd(socket)
        switch offered {
        case 0...:
            pidfd = offered
            pidfdSource = .socket
        case -ENOPROTOOPT:
            pidfd = clinux_pidfd_open(credentials.pid)
            pidfdSource = .number
        default:
            // The kernel has no pidfd for a process that was already reaped.
            if offered == -ESRCH || offered == -EINVAL || offered == -ENODATA { throw PeerError.ended }
            throw PeerError.unreadable(what: "process descriptor", errno: -offered)
        }
        if pidfd == -ESRCH { throw PeerError.ended }
        guard pidfd >= 0 else { throw PeerError.unreadable(what: "process descriptor", errno: -pidfd) }
    }

    deinit { if pidfd >= 0 { close(pidfd) } }

    /// Whether the process has ended. If that cannot be determined, it counts as ended.
    public var hasEnded: Bool { clinux_pidfd_has_ended(pidfd) != 0 }

    private static func label(of socket: CInt) -> Observation<String> {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1_024) { text in
            let length = clinux_peer_label(socket, text.baseAddress, text.count)
            switch length {
            case -ENOPROTOOPT, -EOPNOTSUPP: return .absent
            case ..<0: return .unreadable(errno: -length)
            default: return .found(ExecutablePath.text(of: text[..<Int(length)].lazy.map { UInt8(bitPattern: $0) }))
            }
        }
    }
}

extension ExecutablePath {
    /// Splits the link's text into the path and the suffix ` (deleted)`, which the kernel appends if the file
    /// was deleted or replaced.
    ///
    /// A file that is really called `x (deleted)` is shown as `x`. That gains an attacker nothing: the hash differs.
    static func parse(link: [UInt8]) -> (path: String, isDeleted: Bool) {
        let suffix = Array(" (deleted)".utf8)
        let isDeleted = link.count > suffix.count && link.suffix(suffix.count).elementsEqual(suffix)
        return (text(of: isDeleted ? link.dropLast(suffix.count) : link[...]), isDeleted)
    }
}
