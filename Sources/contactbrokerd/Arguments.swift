import BrokerInterface

/// The parsed command line.
struct Arguments: Hashable {
    enum Action: Hashable {
        /// Serve the user who runs it.
        case session(Folders)
        /// Serve every user, on the sockets that systemd passes.
        case system
        /// Read the configuration of a session's broker and report its problems; serve nobody.
        case checkSession(Folders)
        case checkSystem
        case help
        case version
    }

    /// Folders of a session's broker; `nil`: the environment decides.
    struct Folders: Hashable {
        var runtime: String?
        var state: String?
        var configuration: String?
    }

    let action: Action

    struct Misunderstood: Error, Hashable {
        let reason: String
    }

    init(_ words: some Sequence<String>) throws(Misunderstood) {
        var folders = Folders()
        var modes: Set<String> = []
        var checksConfiguration = false
        var words = Array(words)[...]
        while let word = words.popFirst() {
            let end = word.firstIndex(of: "=") ?? word.endIndex
            let name = String(word[..<end])
            let place: WritableKeyPath<Folders, String?>
            switch name {
            case "--session", "--system":
                guard name == word else { throw Misunderstood(reason: "\(name) takes no value") }
                modes.insert(name)
                continue
            case "--check-configuration":
                guard name == word else { throw Misunderstood(reason: "\(name) takes no value") }
                checksConfiguration = true
                continue
            case "-h", "--help":
                action = .help
                return
            case "--version":
                action = .version
                return
            case "--runtime-dir": place = \.runtime
            case "--state-dir": place = \.state
            case "--config-dir": place = \.configuration
            default: throw Misunderstood(reason: "unknown argument \(word)")
            }
            guard let folder = end < word.endIndex ? String(word[word.index(after: end)...]) : words.popFirst() else {
                throw Misunderstood(reason: "\(name) names no folder")
            }
            folders[keyPath: place] = folder
        }
        guard modes.count == 1 else { throw Misunderstood(reason: "say either --session or --system") }
        if modes.contains("--session") {
            action = checksConfiguration ? .checkSession(folders) : .session(folders)
        } else if folders == Folders() {
            action = checksConfiguration ? .checkSystem : .system
        } else {
            throw Misunderstood(reason: "where the system's broker has its things, its unit says")
        }
    }

    static let help = """
        Usage: contactbrokerd --session [--runtime-dir FOLDER] [--state-dir FOLDER] [--config-dir FOLDER]
               contactbrokerd --system
               contactbrokerd --check-configuration (--session [--config-dir FOLDER] | --system)

        Stands between a person's address book and the apps that want it.

        In system mode systemd starts it, for every user of the machine.

        In session mode it runs as an ordinary user, for that user alone, and needs nothing but itself. Apps find it
        at $XDG_RUNTIME_DIR/contactbroker; where it is elsewhere, set CONTACTBROKER_RUNTIME_DIR for them.

          --session             serve the user who runs it, and nobody else
          --system              serve every user of the machine, at the sockets that systemd passes
          --runtime-dir FOLDER  where the sockets are
          --state-dir FOLDER    where the databases are
          --config-dir FOLDER   where policy.d is, the administrator's rules
          --check-configuration report the problems of contactbroker.toml and policy.d, and serve nobody;
                                as root with --system, read the files as the user contactbroker does
          --version             say which version this is
          -h, --help            say this

        Exit codes: 0 done, 2 could not start, 78 the configuration that was checked has problems.
        """
}
