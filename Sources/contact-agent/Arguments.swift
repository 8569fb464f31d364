/// What the command line says. Answers are never among it.
struct Arguments: Hashable {
    enum Action: Hashable {
        case serve
        case help
        case version
    }

    var action = Action.serve
    /// Ends after one prompt.
    var once = false

    struct Unknown: Error, Hashable {
        var argument: String
    }

    init(_ words: some Sequence<String>) throws(Unknown) {
        for word in words {
            switch word {
            case "--once": once = true
            case "-h", "--help": action = .help
            case "--version": action = .version
            default: throw Unknown(argument: word)
            }
        }
    }

    static let help = """
        Usage: contact-agent [--once]

        Shows on this terminal what apps ask of your contacts, and takes your answers.
        Keep it open in a terminal of its own. It reads keys from /dev/tty only.

          --once     end after one prompt: 0 something was shared, 1 refused
          --version  say which version this is
          -h, --help say this

        Exit codes: 0 done, 1 refused, 2 could not be tried.
        """
}
