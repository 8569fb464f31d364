import BrokerConnection
import BrokerFormatting
import BrokerPasswordPrompt
import BrokerVarlinkClient
import CBrokerLinux
import Glibc

/// The program that shows prompts to the person and reads the answers.
@main
struct ContactAgent {
    static let version = "0.1.0"

    static func main() {
        let precautions: Precautions
        do {
            precautions = try Precautions.take()
        } catch {
            exit(failed("could not make sure that nobody steers it: \(error.reason)", advice: "Report this."))
        }
        let arguments: Arguments
        do {
            arguments = try Arguments(CommandLine.arguments.dropFirst())
        } catch {
            exit(failed("unknown argument \(error.argument)", advice: "Try contact-agent --help."))
        }
        switch arguments.action {
        case .help: print(Arguments.help)
        case .version: print("contact-agent \(version)")
        case .serve: exit(serve(arguments, precautions, connector(2, precautions)))
        case .notify: exit(notify(arguments, precautions, connector(1, precautions)))
        }
    }

    /// Prepares connections to the broker's socket. The installed agent opens `count` connections
    /// immediately. Then it gives up the group that the socket requires, even if connecting failed.
    private static func connector(_ count: Int, _ precautions: Precautions) -> AgentConnector {
        guard precautions.isPrivileged else { return AgentConnector() }
        let connector = AgentConnector(opening: count)
        do {
            try precautions.dropGroup()
        } catch {
            exit(failed("could not give up its group: \(error.reason)", advice: "Report this."))
        }
        return connector
    }

    private static func serve(_ arguments: Arguments, _ precautions: Precautions, _ connector: AgentConnector) -> CInt {
        let terminal: any Display
        let names = precautions.environment.names
        let watched = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH]
        do {
            terminal =
                try arguments.isPlain
                ? LineTerminal(names)
                : Terminal(
                    type: precautions.environment.terminalType, withoutStyles: precautions.environment.noColor,
                    isRightToLeft: names.isRightToLeft)
        } catch {
            switch error {
            case .cannotOpen(let reason):
                return failed(
                    "could not open /dev/tty: \(reason)",
                    advice: "Start it in a terminal window, not from a service or a pipe.")
            case .tooSimple:
                return failed(
                    "could not draw on this terminal (TERM is not set, unknown on this system, or dumb)",
                    advice: "Start it with --plain, or with TERM=xterm-256color before the command.")
            }
        }
        let signals = clinux_watch_signals(watched, watched.count)
        guard signals >= 0 else {
            terminal.close()
            return failed("could not catch signals", advice: "Report this: \(String(cString: strerror(-signals))).")
        }
        let password = precautions.isPrivileged ? PasswordAgent(environment: precautions.environment.lines) : nil
        let agent = Agent(
            terminal: terminal, names: names, signals: signals, once: arguments.once,
            attempt: arguments.attempt, connector: connector,
            password: password)
        let ending = agent.run()
        password?.end()
        terminal.close()
        switch ending {
        case .quit: return arguments.once ? 1 : 0
        case .approved: return 0
        case .refused: return 1
        case .failed(let what, let advice): return failed(what, advice: advice)
        case .startAnew(let attempt):
            let failure = precautions.startAnew(arguments, attempt: attempt)
            return failed("could not start anew: \(failure.reason)", advice: "Start it again.")
        case .signal(let number):
            _ = clinux_take_signal(number)
            return 128 + number
        }
    }

    private static func notify(_ arguments: Arguments, _ precautions: Precautions, _ connector: AgentConnector) -> CInt
    {
        let notifier = Notifier(environment: precautions.environment, names: precautions.environment.names)
        var attempt = arguments.attempt
        while true {
            switch notifier.run(connector.open) {
            case .refused(let name):
                return failed(
                    "could not become a notifier: \(ShownText.line(name))",
                    advice: "See whether others run, and whether the broker takes this one for you.")
            case .lost(let reason, let advice, let wasServed):
                if wasServed { attempt = 0 }
                // Write only one line per outage, because the journal keeps every line.
                if attempt == 0 {
                    _ = failed("the broker cannot be reached: \(reason)", advice: advice ?? "Trying again.")
                }
            }
            poll(nil, 0, CInt(clamping: Agent.pause(before: attempt).wholeMilliseconds))
            attempt = min(attempt + 1, Arguments.mostAttempts)
            guard connector.canOpenAgain else {
                let failure = precautions.startAnew(arguments, attempt: attempt)
                return failed("could not start anew: \(failure.reason)", advice: "Start it again.")
            }
        }
    }

    private static func failed(_ what: String, advice: String) -> CInt {
        let bytes = Array("contact-agent: \(what)\n\(advice)\n".utf8)
        // A failed write cannot be reported.
        _ = write(STDERR_FILENO, bytes, bytes.count)
        return 2
    }
}
