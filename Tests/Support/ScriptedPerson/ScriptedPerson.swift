import Glibc
import PseudoTerminal

/// Plays the person at a terminal: runs a program in a real pseudo-terminal, waits for each text of the script, prints
/// that screen and presses the keys.
///
///     ScriptedPerson TEXT KEYS [TEXT KEYS]… -- PROGRAM [ARGUMENT]…
///
/// Exits with the program's status, or with 2 if a signal ended the program or it did not show a text.
@main
enum ScriptedPerson {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard let end = arguments.firstIndex(of: "--"), end.isMultiple(of: 2), end + 1 < arguments.count else {
            fail("usage: ScriptedPerson TEXT KEYS [TEXT KEYS]… -- PROGRAM [ARGUMENT]…")
        }
        let script = stride(from: 0, to: end, by: 2).map { (text: arguments[$0], keys: arguments[$0 + 1]) }
        do throws(PseudoTerminal.Failure) {
            let terminal = try PseudoTerminal(
                arguments[end + 1], arguments: Array(arguments[(end + 2)...]), environment: environment(),
                columns: 96, rows: 16)
            for (text, keys) in script {
                try terminal.wait(for: text, timeout: .seconds(60))
                show(terminal.screen, keys: keys)
                // A person takes longer to read, and the agent accepts no approval in the first half second.
                pause(milliseconds: 700)
                terminal.send(keys)
            }
            switch try terminal.waitForExit(timeout: .seconds(60)) {
            case .exited(let code): exit(code)
            case .signalled(let signal): fail("the program was ended by signal \(signal)")
            }
        } catch {
            fail("\(error)")
        }
    }

    /// The program's environment: some of this process's variables, and a terminal that the pseudo-terminal can draw.
    private static func environment() -> [String: String] {
        var variables = ["TERM": "xterm"]
        for name in ["PATH", "HOME", "LANG", "XDG_RUNTIME_DIR", "CONTACTBROKER_RUNTIME_DIR"] {
            if let value = getenv(name) { variables[name] = String(cString: value) }
        }
        return variables
    }

    private static func show(_ screen: Screen, keys: String) {
        var lines = screen.lines
        while lines.last?.allSatisfy({ $0 == " " }) == true { lines.removeLast() }
        print("  ┌" + String(repeating: "─", count: 60))
        for line in lines { print("  │ " + line) }
        print("  └─ the scripted person presses \(keys)\n")
        fflush(nil)
    }

    private static func pause(milliseconds: CInt) {
        // poll(2) without descriptors only waits.
        poll(nil, 0, milliseconds)
    }

    private static func fail(_ message: String) -> Never {
        let text = Array("ScriptedPerson: \(message)\n".utf8)
        _ = write(STDERR_FILENO, text, text.count)
        exit(2)
    }
}
