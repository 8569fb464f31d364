import CBrokerLinux
import Glibc

/// Runs polkit's text agent (`pkttyagent`), which asks for the password on this terminal if the session has
/// no other agent.
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
            Self.program, ["--process", "\(getpid())", "--fallback", "--notify-fd", "3"], environment: environment,
            told: ends[1])
        close(ends[1])
        guard child != nil else { return false }
        // The child closes its end when it has registered with polkit, or when it ends.
        var waiting = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
        let deadline = ContinuousClock.now + Self.patience
        while poll(&waiting, 1, 100) <= 0, ContinuousClock.now < deadline {}
        return child?.isRunning ?? false
    }

    public func end() { child = nil }
}
