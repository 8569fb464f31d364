import BrokerAccessControl
import CBrokerLinux
import Glibc

/// Reports the end of a process to which grants are bound: the leader of a terminal session, or the caller
/// itself.
///
/// It owns its descriptor and closes it.
public final class SessionWatch: Sendable {
    /// Becomes readable when the process ends, pidfd_open(2). Code that uses it may only wait on it, not
    /// close it.
    public let fileDescriptor: CInt

    /// Watches a process, identified by pid and start time.
    ///
    /// - Throws: ``PeerError/ended`` if the process has ended, even if a later process has the same pid.
    public init(_ process: ProcessIdentity) throws(PeerError) {
        let pidfd = clinux_pidfd_open(process.pid)
        fileDescriptor = pidfd
        if pidfd == -ESRCH { throw PeerError.ended }
        guard pidfd >= 0 else { throw PeerError.unreadable(what: "process descriptor", errno: -pidfd) }
        // The order matters: open the pidfd, read the start time by pid, then check that the pidfd's process
        // still runs.
        let startTime: UInt64?
        do {
            startTime = try ProcessStatus(of: process.pid).startTime
        } catch {
            guard clinux_pidfd_has_ended(pidfd) == 0 else { throw PeerError.ended }
            throw error
        }
        guard startTime == process.startTime, clinux_pidfd_has_ended(pidfd) == 0 else { throw PeerError.ended }
    }

    /// Watches the leader of a terminal session.
    ///
    /// - Throws: ``PeerError/ended`` also if the session began before the last boot.
    public convenience init(_ session: SessionIdentity) throws(PeerError) {
        switch BootIdentifier.read() {
        case .found(let boot):
            guard boot == session.bootIdentifier else { throw PeerError.ended }
        case .absent: throw PeerError.unreadable(what: "boot", errno: ENOENT)
        case .unreadable(let errno): throw PeerError.unreadable(what: "boot", errno: errno)
        }
        try self.init(session.leader)
    }

    deinit { if fileDescriptor >= 0 { close(fileDescriptor) } }

    /// Whether the process has ended. If that cannot be determined, it counts as ended.
    public var hasEnded: Bool { clinux_pidfd_has_ended(fileDescriptor) != 0 }
}

/// Reads `/proc/sys/kernel/random/boot_id`, which changes with every boot.
enum BootIdentifier {
    static func read() -> Observation<String> {
        switch contents(ofFile: "/proc/sys/kernel/random/boot_id") {
        case .found(let bytes): .found(String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self))
        case .absent: .absent
        case .unreadable(let errno): .unreadable(errno: errno)
        }
    }
}
