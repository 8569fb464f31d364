import CBrokerLinux
import Glibc

/// The kernel's features for identifying callers, and its settings that protect programs of one user from
/// each other.
public struct HostFacts: Hashable, Sendable {
    /// `SO_PEERPIDFD`, Linux 6.5. Without it the strongest identity strength is `unverified`.
    public let hasPeerPidfd: Bool
    /// `dev.tty.legacy_tiocsti`: if not 0, a program can put input into its terminal as if the person had
    /// typed it. Absent before Linux 6.2; those kernels always allow it.
    public let legacyTIOCSTI: Observation<Int>
    /// `kernel.yama.ptrace_scope`: if 0 or absent, a program can inspect any other dumpable program of the
    /// same user.
    public let ptraceScope: Observation<Int>

    public static func read() -> HostFacts {
        HostFacts(
            hasPeerPidfd: probePeerPidfd(), legacyTIOCSTI: setting("dev/tty/legacy_tiocsti"),
            ptraceScope: setting("kernel/yama/ptrace_scope"))
    }

    /// Tries the option, because a kernel's version number does not show backports.
    private static func probePeerPidfd() -> Bool {
        var pair: [CInt] = [-1, -1]
        guard clinux_pair(&pair) == 0 else { return false }
        defer { for end in pair { close(end) } }
        let pidfd = clinux_peer_pidfd(pair[0])
        guard pidfd >= 0 else { return false }
        close(pidfd)
        return true
    }

    private static func setting(_ name: String) -> Observation<Int> {
        switch contents(ofFile: "/proc/sys/" + name) {
        case .found(let bytes):
            Int(String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)).map { .found($0) }
                ?? .unreadable(errno: EINVAL)
        case .absent: .absent
        case .unreadable(let errno): .unreadable(errno: errno)
        }
    }
}
