import BrokerPasswordPrompt
import CBrokerLinux
import Glibc

/// Setup that runs before everything else, so that the user's other programs cannot control the agent.
struct Precautions {
    /// Whether the kernel gave this program privileges that the user lacks (`AT_SECURE`). Only the installed
    /// agent has such a privilege: its group. The installed agent serves only the system's broker.
    let isPrivileged: Bool
    let environment: Environment
    /// The path of the program file. An upgrade installs the new file at the same path. Empty if `/proc` does
    /// not report it.
    private let path: [CChar]

    struct Failure: Error {
        let reason: String
    }

    /// Reduces the environment and resets descriptors, signals and limits. The installed agent also blocks
    /// access by the user's other programs (prctl(2), `PR_SET_DUMPABLE`).
    static func take() throws(Failure) -> Precautions {
        let isPrivileged = clinux_is_privileged()
        if isPrivileged { try check(clinux_hide()) }
        let environment = Environment.reduce(isPrivileged: isPrivileged)
        try check(clinux_begin_anew("contact-agent"))
        signal(SIGPIPE, SIG_IGN)
        return Precautions(isPrivileged: isPrivileged, environment: environment, path: ownPath())
    }

    private static func ownPath() -> [CChar] {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        return clinux_own_path(&path, path.count) == 0 ? path : [0]
    }

    /// Gives up the group. After this the program has only the user's own rights.
    func dropGroup() throws(Failure) {
        guard isPrivileged else { return }
        try Self.check(clinux_drop_group())
    }

    /// Restarts the agent to regain the group that the broker's socket requires. While dpkg unpacks a
    /// package, neither the old file nor the new one may be executed. In that case this method retries for 30
    /// seconds. Meanwhile a signal such as SIGINT or SIGTERM ends the program.
    ///
    /// - Parameters:
    ///   - attempt: the number of failed connection attempts in a row.
    ///   - sayBusy: reports that this method retries.
    /// - Returns: the reason why the restart failed; does not return on success.
    func startAnew(_ arguments: Arguments, attempt: Int, sayBusy: () -> Void) -> Failure {
        let words = arguments.words + ["--attempt", "\(attempt)"]
        // The agent's handlers for these signals write to a pipe, which nothing reads at this point.
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP] { signal(number, SIG_DFL) }
        var code: CInt = 0
        for pass in 0..<300 {
            code = withCStrings(["contact-agent"] + words) { words in
                withCStrings(environment.lines) { clinux_start_anew(path, words, $0) }
            }
            guard code == -EACCES else { break }
            if pass == 0 { sayBusy() }
            poll(nil, 0, 100)
        }
        return Failure(reason: String(cString: strerror(-code)))
    }

    private static func check(_ code: CInt) throws(Failure) {
        guard code >= 0 else { throw Failure(reason: String(cString: strerror(-code))) }
    }
}
