import BrokerInterface
import BrokerVarlinkServer
import CBrokerLinux
import Glibc

/// The daemon decides which contacts of a person each app may see. For its options, see ``Arguments/help``.
@main
enum ContactBrokerDaemon {
    static func main() {
        clinux_share_memory()
        // With this mask, new files are accessible only to this user, even before their mode is set.
        umask(0o077)
        // Without this, a write to a disconnected peer would end the daemon.
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

    /// Returns the sockets that systemd passed, and removes their environment variables, so that no child
    /// process uses them.
    private static func passedSockets() -> [PassedSocket] {
        let names = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]
        defer { for name in names { unsetenv(name) } }
        var environment: [String: String] = [:]
        for name in names { environment[name] = getenv(name).map { String(cString: $0) } }
        return PassedSocket.all(in: environment, processID: getpid())
    }
}

/// The reason why the daemon does not start or cannot check the configuration, and what to try.
struct Failure: Error {
    let message: String
    let tryThis: String?

    init(_ message: String, tryThis: String? = nil) {
        self.message = message
        self.tryThis = tryThis
    }
}
