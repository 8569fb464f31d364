import BrokerConnection
import CLinux
import Glibc
import VarlinkClient

/// The program that the person sees and answers.
@main
struct ContactAgent {
    static let version = "0.1.0"

    static func main() {
        let arguments: Arguments
        do {
            arguments = try Arguments(CommandLine.arguments.dropFirst())
        } catch {
            exit(failed("unknown argument \(error.argument)", advice: "Try contact-agent --help."))
        }
        switch arguments.action {
        case .help: print(Arguments.help)
        case .version: print("contact-agent \(version)")
        case .serve: exit(serve(once: arguments.once))
        }
    }

    private static func serve(once: Bool) -> CInt {
        let environment = Environment.reduce()
        let watched = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH]
        signal(SIGPIPE, SIG_IGN)
        let terminal: Terminal
        do {
            terminal = try Terminal(type: environment.terminalType, withoutStyles: environment.noColor)
        } catch {
            switch error {
            case .cannotOpen(let reason):
                return failed(
                    "could not open /dev/tty: \(reason)",
                    advice: "Start it in a terminal window, not from a service or a pipe.")
            case .tooSimple:
                return failed(
                    "could not draw on this terminal (TERM is not set, or dumb)",
                    advice: "Start it in another terminal.")
            }
        }
        let signals = clinux_watch_signals(watched, watched.count)
        guard signals >= 0 else {
            terminal.close()
            return failed("could not catch signals", advice: "Report this: \(String(cString: strerror(-signals))).")
        }
        let agent = Agent(terminal: terminal, signals: signals, once: once) {
            try BrokerConnection.connect(to: .agent, timeout: AgentConnection.timeout)
        }
        let ending = agent.run()
        terminal.close()
        switch ending {
        case .quit: return once ? 1 : 0
        case .approved: return 0
        case .refused: return 1
        case .failed(let what, let advice): return failed(what, advice: advice)
        case .signal(let number):
            _ = clinux_take_signal(number)
            return 128 + number
        }
    }

    private static func failed(_ what: String, advice: String) -> CInt {
        let bytes = Array("contact-agent: \(what)\n\(advice)\n".utf8)
        // Nobody is left to tell if this fails.
        _ = write(STDERR_FILENO, bytes, bytes.count)
        return 2
    }
}
