import CBrokerLinux
import Glibc

/// Runs polkit's text agent (`pkttyagent`), which asks for the password on this terminal if the login session has
/// no other agent, or if there is no login session.
///
/// The agent registers for this process only, and reads the terminal itself: this process never sees the password.
public final class PasswordAgent {
    public static let program = "/usr/bin/pkttyagent"
    /// The longest wait for the agent to register with polkit.
    static let patience = Duration.seconds(5)

    private let environment: [String]
    private var child: ChildProgram?

    /// - Parameter environment: the agent's complete environment, each entry as `NAME=value`.
    public init(environment: [String]) { self.environment = environment }

    /// Passes the variables for the terminal type and the language, and a fixed `PATH`.
    public convenience init() {
        let names = ["TERM", "LANG", "LC_ALL", "LC_MESSAGES", "LC_CTYPE"]
        let values = names.compactMap { name in getenv(name).map { "\(name)=" + String(cString: $0) } }
        self.init(environment: values + ["PATH=/usr/bin:/bin"])
    }

    /// Starts the agent if it is not running, and waits until it has registered with polkit.
    ///
    /// - Returns: whether the agent runs. If not, a desktop's agent may still ask for the password.
    @discardableResult
    public func prepare() -> Bool {
        if let child, child.isRunning { return true }
        var ends: [CInt] = [-1, -1]
        guard clinux_pipe(&ends) == 0 else { return false }
        defer { close(ends[0]) }
        child = ChildProgram(
            Self.program, Self.arguments(for: getpid(), isInSession: Self.isInSession(cgroups: Self.ownCgroups())),
            environment: environment, told: ends[1])
        close(ends[1])
        guard child != nil else { return false }
        // The child closes its end when it has registered with polkit, or when it ends.
        var waiting = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
        let deadline = ContinuousClock.now + Self.patience
        while poll(&waiting, 1, 100) <= 0, ContinuousClock.now < deadline {}
        return child?.isRunning ?? false
    }

    public func end() { child = nil }

    /// With `--fallback` a desktop's agent takes precedence. But polkit ignores such an agent if the process belongs
    /// to no login session, for example in a container or a service, and then nothing asks for the password.
    static func arguments(for process: pid_t, isInSession: Bool) -> [String] {
        ["--process", "\(process)"] + (isInSession ? ["--fallback"] : []) + ["--notify-fd", "3"]
    }

    /// Whether polkit may find a login session for a process with these control groups: logind keeps each session in
    /// its user's slice (`sd_pid_get_session(3)`, `sd_pid_get_owner_uid(3)`).
    ///
    /// - Parameter cgroups: the lines of `/proc/PID/cgroup`.
    static func isInSession(cgroups: String) -> Bool { cgroups.contains("/user-") }

    /// Up to 16 KiB of `/proc/self/cgroup`; empty if it cannot be read.
    static func ownCgroups() -> String {
        let file = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        return String(decoding: bytes.prefix(max(0, read(file, &bytes, bytes.count))), as: UTF8.self)
    }
}
