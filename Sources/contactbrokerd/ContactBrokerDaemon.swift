import ArgumentParser
import ContactsInterface
import Glibc

@main
struct ContactBrokerDaemon: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contactbrokerd",
        abstract: "Stands between a person's address book and the apps that want it.",
        discussion: """
            In session mode it runs as an ordinary user, for that user alone, and needs nothing but itself. Apps find it \
            at $XDG_RUNTIME_DIR/contactbroker; where it is elsewhere, set CONTACTBROKER_RUNTIME_DIR for them.
            """,
        version: Release.version)

    @Flag(help: "Serve the user who runs it, and nobody else.")
    var session = false

    @Option(help: ArgumentHelp("Where the sockets are.", valueName: "folder"))
    var runtimeDir: String?

    @Option(help: ArgumentHelp("Where the databases are.", valueName: "folder"))
    var stateDir: String?

    @Option(help: ArgumentHelp("Where policy.d is, the administrator's rules.", valueName: "folder"))
    var configDir: String?

    func run() throws {
        guard session else {
            throw Failure("could not start: this version has session mode only", tryThis: "contactbrokerd --session")
        }
        let folders = try SessionFolders(runtime: runtimeDir, state: stateDir, configuration: configDir)
        try SessionDaemon(folders: folders).run()
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
            fputs("contactbrokerd: \(failure.message)\n\(failure.tryThis.map { $0 + "\n" } ?? "")", Standard.error)
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
