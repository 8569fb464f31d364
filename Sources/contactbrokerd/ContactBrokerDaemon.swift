import ArgumentParser
import ContactsInterface
import Glibc
import VarlinkServer

@main
struct ContactBrokerDaemon: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contactbrokerd",
        abstract: "Stands between a person's address book and the apps that want it.",
        discussion: """
            In system mode systemd starts it, for every user of the machine.

            In session mode it runs as an ordinary user, for that user alone, and needs nothing but itself. Apps find it \
            at $XDG_RUNTIME_DIR/contactbroker; where it is elsewhere, set CONTACTBROKER_RUNTIME_DIR for them.
            """,
        version: Release.version)

    @Flag(help: "Serve the user who runs it, and nobody else.")
    var session = false

    @Flag(help: "Serve every user of the machine, at the sockets that systemd passes.")
    var system = false

    @Option(help: ArgumentHelp("Where the sockets are.", valueName: "folder"))
    var runtimeDir: String?

    @Option(help: ArgumentHelp("Where the databases are.", valueName: "folder"))
    var stateDir: String?

    @Option(help: ArgumentHelp("Where policy.d is, the administrator's rules.", valueName: "folder"))
    var configDir: String?

    func validate() throws {
        guard session != system else { throw ValidationError("say either --session or --system") }
        guard session || runtimeDir == nil && stateDir == nil && configDir == nil else {
            throw ValidationError("where the system's broker has its things, its unit says")
        }
    }

    func run() throws {
        let passed = Self.passedSockets()
        let log = Journaling.logger()
        let setting: Setting
        if system {
            setting = try SystemPlaces.setting(passed)
        } else {
            let folders = try SessionFolders(runtime: runtimeDir, state: stateDir, configuration: configDir)
            try folders.make()
            setting = folders.setting
        }
        try Daemon(setting: setting, log: log).run()
    }

    /// The sockets that systemd passes; no child is to take them for its own.
    private static func passedSockets() -> [PassedSocket] {
        let names = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]
        defer { for name in names { unsetenv(name) } }
        var environment: [String: String] = [:]
        for name in names { environment[name] = getenv(name).map { String(cString: $0) } }
        return PassedSocket.all(in: environment, processID: getpid())
    }

    static func main() {
        // Whatever we make is ours alone, also before its mode is set.
        umask(0o077)
        // A peer that hangs up is an error of that one write.
        signal(SIGPIPE, SIG_IGN)
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch let failure as Failure {
            Journaling.tell(failure)
            Glibc.exit(2)
        } catch {
            exit(withError: error)
        }
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
