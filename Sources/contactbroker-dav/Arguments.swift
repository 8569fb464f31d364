/// The parsed command line.
struct Arguments: Hashable {
    enum Action: Hashable {
        /// Serve the user who runs the program. `nil` stands for the default folder.
        case session(runtime: String?, state: String?)
        case help
        case version
    }

    let action: Action

    struct Misunderstood: Error, Hashable {
        let reason: String
    }

    init(_ words: some Sequence<String>) throws(Misunderstood) {
        var (isSession, runtime, state): (Bool, String?, String?) = (false, nil, nil)
        var words = Array(words)[...]
        while let word = words.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            switch parts.first {
            case "--session":
                guard parts.count == 1 else { throw Misunderstood(reason: "--session takes no value") }
                isSession = true
            case "-h", "--help":
                action = .help
                return
            case "--version":
                action = .version
                return
            case let name? where name == "--runtime-dir" || name == "--state-dir":
                guard let folder = parts.count == 2 ? parts[1] : words.popFirst() else {
                    throw Misunderstood(reason: "\(name) needs a folder")
                }
                if name == "--runtime-dir" { runtime = folder } else { state = folder }
            default: throw Misunderstood(reason: "unknown argument \(word)")
            }
        }
        guard isSession else {
            throw Misunderstood(reason: "give --session: this version does not serve a whole system yet")
        }
        action = .session(runtime: runtime, state: state)
    }

    static let help = """
        Usage: contactbroker-dav --session [--runtime-dir FOLDER] [--state-dir FOLDER]

        Serves CardDAV on the loopback, to programs that do not know contactbroker: Thunderbird, evolution-data-server,
        vdirsyncer. Each sees the contacts that you share with it. It needs a broker of yours: contactbrokerd --session

          --session             serve only the user who runs it
          --runtime-dir FOLDER  folder of the broker's sockets
          --state-dir FOLDER    folder in which the port is kept
          --version             show the version
          -h, --help            show this help

        It chooses a port once, and keeps it: programs store it with their passwords.

        Exit codes: 0 success, 2 could not start.
        """
}
