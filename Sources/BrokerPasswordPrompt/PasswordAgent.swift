import CBrokerLinux
import Glibc

/// polkit's own agent for terminals: asks for the person's password on this terminal, where their session has nobody else
/// who would.
///
/// It asks in this process's name and no other's, and speaks to the terminal itself: the password is never seen here.
public final class PasswordAgent {
    public static let program = "/usr/bin/pkttyagent"
    /// How long it may take to make itself known to polkit.
    static let patience = Duration.seconds(5)

    private let environment: [String]
    private var child: ChildProgram?

    /// - Parameter environment: all that it is given, each as `NAME=value`.
    public init(environment: [String]) { self.environment = environment }

    /// With what it needs of this process's environment: how the terminal draws, and the language.
    public convenience init() {
        let names = ["TERM", "LANG", "LC_ALL", "LC_MESSAGES", "LC_CTYPE"]
        let values = names.compactMap { name in getenv(name).map { "\(name)=" + String(cString: $0) } }
        self.init(environment: values + ["PATH=/usr/bin:/bin"])
    }

    /// Has it run, and waits until polkit knows of it.
    ///
    /// - Returns: whether it runs. Where it does not, a desktop's own agent may still ask.
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
        // It closes its end when polkit has taken it; so does its death.
        var waiting = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
        let deadline = ContinuousClock.now + Self.patience
        while poll(&waiting, 1, 100) <= 0, ContinuousClock.now < deadline {}
        return child?.isRunning ?? false
    }

    public func end() { child = nil }
}
