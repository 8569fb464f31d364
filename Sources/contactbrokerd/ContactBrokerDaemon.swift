import BrokerInterface
import BrokerVarlinkServer
import CBrokerLinux
import Glibc

/// The daemon: it decides which app sees which of a person's contacts. For its options see ``Arguments/help``.
@main
enum ContactBrokerDaemon {
    static func main() {
        clinux_share_memory()
        // New files are accessible to this user only, even before their mode is set.
        umask(0o077)
        // A write to a peer that has disconnected then fails, instead of ending the daemon.
        signal(SIGPIPE, SIG_IGN)
        do {
            let arguments = try Arguments(CommandLine.arguments.dropFirst())
            switch arguments.action {
            case .help: print(Arguments.help)
            case .version: print(Release.version)
            case .session(let folders): try serveSession(folders)
            case .system: try serve { passed in try SystemPlaces.setting(passed) }
            case .checkSession(let folders): exit(try ConfigurationCheck.ofSession(folders).run())
            case .checkSystem: exit(try ConfigurationCheck.ofSystem().run())
            }
        } catch let misunderstood as Arguments.Misunderstood {
            let text = Array("contactbrokerd: \(misunderstood.reason)\ntry: contactbrokerd --help\n".utf8)
            _ = write(STDERR_FILENO, text, text.count)
            exit(2)
        } catch let failure as Failure {
            Journaling.report(failure)
            exit(2)
        } catch {
            Journaling.report(Failure("could not start: \(error)"))
            exit(2)
        }
    }

    private static func serveSession(_ arguments: Arguments.Folders) throws {
        try serve { _ in
            let folders = try SessionFolders(
                runtime: arguments.runtime, state: arguments.state, configuration: arguments.configuration)
            try folders.make()
            return folders.setting
        }
    }

    private static func serve(_ setting: ([PassedSocket]) throws -> Setting) throws {
        let passed = passedSockets()
        try Daemon(setting: try setting(passed), log: Journaling.logger()).run()
    }

    /// The sockets that systemd passes. The variables are removed, so that no child process uses them.
    private static func passedSockets() -> [PassedSocket] {
        let names = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]
        defer { for name in names { unsetenv(name) } }
        var environment: [String: String] = [:]
        for name in names { environment[name] = getenv(name).map { String(cString: $0) } }
        return PassedSocket.all(in: environment, processID: getpid())
    }
}

/// Why the daemon does not start, and what to try.
struct Failure: Error {
    let message: String
    let tryThis: String?

    init(_ message: String, tryThis: String? = nil) {
        self.message = message
        self.tryThis = tryThis
    }
}
