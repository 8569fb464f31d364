import BrokerAccessControl
import BrokerGrants
import BrokerLedger
import BrokerPolicy
import Glibc

/// Reads the configuration in the same way as the daemon does when it starts, and reports the first problem
/// of each file. It opens no socket.
struct ConfigurationCheck {
    let mode: BrokerMode
    let folder: PolicyFolder

    /// The exit code `EX_CONFIG` from sysexits.h.
    static let problemsFound: CInt = 78
    /// The user that `contactbroker.service` runs as.
    private static let user = "contactbroker"

    static func ofSession(_ folders: Arguments.Folders) throws -> ConfigurationCheck {
        let configuration = try SessionFolders.configuration(folders.configuration)
        return ConfigurationCheck(mode: .session, folder: PolicyFolder(configuration: configuration))
    }

    static func ofSystem() throws -> ConfigurationCheck {
        if geteuid() == 0 { try becomeUser() }
        return ConfigurationCheck(mode: .system, folder: SystemPlaces.policyFolder)
    }

    /// Gives up root's privileges, because root can read files that the broker cannot.
    private static func becomeUser() throws {
        guard let entry = getpwnam(user)?.pointee else {
            throw Failure("could not check the configuration: there is no user \(user)", tryThis: "systemd-sysusers")
        }
        guard initgroups(user, entry.pw_gid) == 0, setgid(entry.pw_gid) == 0, setuid(entry.pw_uid) == 0 else {
            let reason = String(cString: strerror(errno))
            throw Failure("could not check the configuration as user \(user): \(reason)")
        }
    }

    /// - Returns: the exit code.
    func run() -> CInt {
        for file in folder.unread() { print("nothing reads \(file.onOneLine)") }
        let problems = folder.problems()
        guard !problems.isEmpty else {
            print("no problems in \(folder.configuration)")
            return 0
        }
        for problem in problems {
            let text = Array("\(problem.reason.onOneLine)\n  \(problem.advice(in: mode))\n".utf8)
            // A failure here cannot be reported.
            _ = write(STDERR_FILENO, text, text.count)
        }
        return Self.problemsFound
    }
}
