/// The parsed command line. It can never contain answers to prompts.
struct Arguments: Hashable {
    enum Action: Hashable {
        case serve
        case notify
        case help
        case version
    }

    var action = Action.serve
    /// Whether the agent ends after one prompt.
    var once = false
    /// Whether the agent writes lines instead of a full screen.
    var isPlain = false
    /// The number of failed connection attempts in a row. The agent passes it on when it restarts itself to
    /// reconnect.
    var attempt = 0

    struct Unknown: Error, Hashable {
        var argument: String
    }

    init(_ words: some Sequence<String>) throws(Unknown) {
        var words = words.makeIterator()
        while let word = words.next() {
            switch word {
            case "--once": once = true
            case "--plain": isPlain = true
            case "--notify": action = .notify
            case "--attempt":
                guard let number = words.next().flatMap({ Int($0) }), (0...Self.mostAttempts).contains(number) else {
                    throw Unknown(argument: word)
                }
                attempt = number
            case "-h", "--help": action = .help
            case "--version": action = .version
            default: throw Unknown(argument: word)
            }
        }
    }

    /// The upper bound of `attempt`. The pause stops growing far earlier.
    static let mostAttempts = 1_000

    /// The arguments as a command line, without the attempt.
    var words: [String] {
        (action == .notify ? ["--notify"] : []) + (once ? ["--once"] : []) + (isPlain ? ["--plain"] : [])
    }

    static let help = """
        Usage: contact-agent [--once] [--plain]
               contact-agent --notify

        Show apps' requests for your contacts on this terminal, and take your answers.
        Keep it open in a terminal of its own. It reads keys from /dev/tty only.

          --once     Exit after one request: 0 if something was shared, 1 if refused
          --plain    Write lines instead of a full screen, for screen readers and
                     simple terminals
          --notify   Show no requests and take no answers; report that some wait,
                     on standard output and as a desktop notification
          --version  Show the version
          -h, --help Show this help

        Exit codes: 0 done, 1 refused, 2 error.
        """
}
