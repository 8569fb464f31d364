import BrokerPasswordPrompt
import CBrokerLinux
import Glibc

/// What the agent does before anything else, so that whoever started it cannot steer it.
struct Precautions {
    /// The program's file gives it a group that whoever started it is not in: it is the installed agent, and serves the
    /// system's broker only.
    let isPrivileged: Bool
    let environment: Environment
    /// Where the agent was started from; an upgrade puts another file there. Empty where `/proc` does not say.
    private let path: [CChar]

    struct Failure: Error {
        let reason: String
    }

    /// Empties the environment, puts descriptors, signals and limits in order; as the installed agent it also hides from
    /// every program of the user.
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

    /// Gives up the group. From here on the program may do what any program of the user may, and no more.
    func dropGroup() throws(Failure) {
        guard isPrivileged else { return }
        try Self.check(clinux_drop_group())
    }

    /// Restarts the agent, as whoever started it could: the broker's door opens only to the group that was given up.
    /// While dpkg unpacks a package neither the old file nor the new one may be executed. The agent retries for 30 seconds
    /// then, and any signal ends it.
    ///
    /// - Parameter attempt: how often in a row that was tried.
    func startAnew(_ arguments: Arguments, attempt: Int) -> Failure {
        let words = arguments.words + ["--attempt", "\(attempt)"]
        // The handlers only write to a pipe that nobody reads any more.
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP] { signal(number, SIG_DFL) }
        var code: CInt = 0
        for pass in 0..<300 {
            code = withCStrings(["contact-agent"] + words) { words in
                withCStrings(environment.lines) { clinux_start_anew(path, words, $0) }
            }
            guard code == -EACCES else { break }
            if pass == 0 {
                let said = Array(
                    "contact-agent: the program file cannot be executed yet; retrying for 30 seconds\n".utf8)
                // Nobody is left to tell if this fails.
                _ = write(STDERR_FILENO, said, said.count)
            }
            poll(nil, 0, 100)
        }
        return Failure(reason: String(cString: strerror(-code)))
    }

    private static func check(_ code: CInt) throws(Failure) {
        guard code >= 0 else { throw Failure(reason: String(cString: strerror(-code))) }
    }
}
