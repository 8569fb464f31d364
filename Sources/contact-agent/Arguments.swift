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
    var words: [String] { (action == .notify ? ["--notify"] : []) + (once ? ["--once"] : []) }

    static let help = """
        Usage: contact-agent [--once | --notify]

        Shows on this terminal what apps ask of your contacts, and takes your answers.
        Keep it open in a terminal of its own. It reads keys from /dev/tty only.

          --once     end after one prompt: 0 something was shared, 1 refused
          --notify   show no prompts and take no answers, only say that some wait:
                     a line on standard output, and a notification of the desktop
          --version  say which version this is
          -h, --help say this

        Exit codes: 0 done, 1 refused, 2 could not be tried.
        """
}
