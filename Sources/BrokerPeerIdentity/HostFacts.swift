import CBrokerLinux
import Glibc

/// What this machine's kernel gives and what it leaves open, for whoever asks how sure the broker can be.
public struct HostFacts: Hashable, Sendable {
    /// `SO_PEERPIDFD`, Linux 6.5. Without it the strongest identity is `unverified`.
    public let hasPeerPidfd: Bool
    /// `dev.tty.legacy_tiocsti`: a program can type into its terminal as if the person did. Absent before Linux 6.2,
    /// where it always can.
    public let legacyTIOCSTI: Reading<Int>
    /// `kernel.yama.ptrace_scope`: 0, and absent, let a program of the same user look into any other that is dumpable.
    public let ptraceScope: Reading<Int>

    public static func read() -> HostFacts {
        HostFacts(
            hasPeerPidfd: probePeerPidfd(), legacyTIOCSTI: setting("dev/tty/legacy_tiocsti"),
            ptraceScope: setting("kernel/yama/ptrace_scope"))
    }

    /// By trying: a version number says nothing about what was ported back.
    private static func probePeerPidfd() -> Bool {
        var pair: [CInt] = [-1, -1]
        guard clinux_pair(&pair) == 0 else { return false }
        defer { for end in pair { close(end) } }
        let pidfd = clinux_peer_pidfd(pair[0])
        guard pidfd >= 0 else { return false }
        close(pidfd)
        return true
    }

    private static func setting(_ name: String) -> Reading<Int> {
        switch contents(ofFile: "/proc/sys/" + name) {
        case .found(let bytes):
            Int(String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)).map { .found($0) }
                ?? .unreadable(errno: EINVAL)
        case .absent: .absent
        case .unreadable(let errno): .unreadable(errno: errno)
        }
    }
}
