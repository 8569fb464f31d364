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
        // Errors before the group is given up are in English, so that no library reads the language until then.
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
            let advice: Phrase = error == .tooSimple ? .advicePlain : .adviceTerminal
            return failed(names.words(for: error), advice: names.text(advice))
        }
        let signals = clinux_watch_signals(watched, watched.count)
        guard signals >= 0 else {
            terminal.close()
            let reason = String(cString: strerror(-signals))
            return failed(names.text(.startSignals, [.reason: reason]), advice: names.text(.adviceReport))
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
        case .startAnew(let attempt): return startAnew(arguments, precautions, attempt: attempt, names)
        case .signal(let number):
            _ = clinux_take_signal(number)
            return 128 + number
        }
    }

    private static func notify(_ arguments: Arguments, _ precautions: Precautions, _ connector: AgentConnector) -> CInt
    {
        let names = precautions.environment.names
        let notifier = Notifier(environment: precautions.environment, names: names)
        var attempt = arguments.attempt
        while true {
            switch notifier.run(connector.open) {
            case .refused(let error):
                return failed(
                    names.text(.startNotifier, [.reason: names.words(for: error)]), advice: names.text(.adviceOthers))
            case .lost(let error, let wasServed):
                if wasServed { attempt = 0 }
                // Write only one line per outage, because the journal keeps every line.
                if attempt == 0 {
                    _ = failed(
                        names.text(.brokerLost, [.reason: names.words(for: error)]),
                        advice: names.advice(for: error) ?? names.text(.tryingAgain))
                }
            }
            poll(nil, 0, CInt(clamping: Agent.pause(before: attempt).milliseconds))
            attempt = min(attempt + 1, Arguments.mostAttempts)
            guard connector.canOpenAgain else {
                return startAnew(arguments, precautions, attempt: attempt, names)
            }
        }
    }

    /// Restarts the agent. Returns only if that fails.
    private static func startAnew(
        _ arguments: Arguments, _ precautions: Precautions, attempt: Int, _ names: LocalizedNames
    ) -> CInt {
        let failure = precautions.startAnew(arguments, attempt: attempt) { say(names.text(.startBusy)) }
        return failed(names.text(.startAgain, [.reason: failure.reason]), advice: names.text(.adviceStart))
    }

    private static func failed(_ what: String, advice: String) -> CInt {
        say(what + "\n" + advice)
        return 2
    }

    /// Writes to standard error.
    private static func say(_ text: String) {
        let bytes = Array("contact-agent: \(text)\n".utf8)
        // A failed write cannot be reported.
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
