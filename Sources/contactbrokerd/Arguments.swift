import BrokerInterface

/// The parsed command line.
struct Arguments: Hashable {
    enum Action: Hashable {
        /// Serve the user who runs the broker.
        case session(Folders)
        /// Serve every user, on the sockets that systemd passes.
        case system
        /// Read the configuration of a session's broker and report its problems; serve nobody.
        case checkSession(Folders)
        case checkSystem
        case help
        case version
    }

    /// Folders of a session's broker. `nil` stands for the default, which depends on the environment.
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
                throw Misunderstood(reason: "\(name) needs a folder")
            }
            folders[keyPath: place] = folder
        }
        guard modes.count == 1 else { throw Misunderstood(reason: "give either --session or --system") }
        if modes.contains("--session") {
            action = checksConfiguration ? .checkSession(folders) : .session(folders)
        } else if folders == Folders() {
            action = checksConfiguration ? .checkSystem : .system
        } else {
            throw Misunderstood(reason: "--system takes no folders: contactbroker.service sets them")
        }
    }

    static let help = """
        Usage: contactbrokerd --session [--runtime-dir FOLDER] [--state-dir FOLDER] [--config-dir FOLDER]
               contactbrokerd --system
               contactbrokerd --check-configuration (--session [--config-dir FOLDER] | --system)

        Decides which contacts of a person each app may see, and records what it discloses.

        In system mode, systemd starts it, and it serves every user of the machine.

        In session mode, an ordinary user runs it for themselves, and it needs no other service. Apps find it at
        $XDG_RUNTIME_DIR/contactbroker. If it is elsewhere, set CONTACTBROKER_RUNTIME_DIR for them.

          --session             serve only the user who runs it
          --system              serve every user of the machine, on the sockets that systemd passes
          --runtime-dir FOLDER  folder of the sockets
          --state-dir FOLDER    folder of the databases
          --config-dir FOLDER   folder of contactbroker.toml and policy.d
          --check-configuration report problems in contactbroker.toml and policy.d, and serve nobody;
                                as root with --system, read the files as the user contactbroker
          --version             show the version
          -h, --help            show this help

        Exit codes: 0 success, 2 could not start, 78 problems in the configuration that was checked.
        """
}
