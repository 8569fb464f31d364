import BrokerFormatting
import Glibc

/// Where a command's words go: results to standard output, everything said to the person to standard error.
public enum Speech {
    /// Says a line to the person.
    public static func say(_ line: String) {
        // What was printed before comes before, also where both go into one file.
        fflush(nil)
        write(line + "\n", to: STDERR_FILENO)
    }

    /// A line that the next one may take the place of, on a terminal; nothing elsewhere.
    public static func progress(_ line: String) {
        guard isatty(STDERR_FILENO) == 1 else { return }
        write("\r\(line)\u{1B}[K", to: STDERR_FILENO)
    }

    /// Takes the last ``progress(_:)`` away.
    public static func endProgress() { progress("") }

    /// Text of strangers, fit for a line of a terminal.
    public static func clean(_ text: String) -> String { DisplayText.line(text) }

    /// Asks a question on the terminal, whatever standard input is. Return is "no".
    ///
    /// - Returns: `nil` where there is no terminal.
    public static func confirm(_ question: String) -> Bool? {
        onTerminal { terminal in
            write("\(question) [y/N] ", to: terminal)
            var answer: [UInt8] = []
            var byte: UInt8 = 0
            while read(terminal, &byte, 1) == 1, byte != 0x0A, answer.count < 256 { answer.append(byte) }
            return ["y", "yes"].contains(String(decoding: answer, as: UTF8.self).lowercased())
        }
    }

    /// Whether there is a terminal to ask on.
    public static var canAsk: Bool { onTerminal { _ in true } ?? false }

    /// Asks for one key on the terminal, whatever standard input is. What was typed before the question is discarded.
    ///
    /// - Parameters:
    ///   - keys: those that are an answer; Return is the first of them.
    ///   - wait: waits until the descriptor has something to read; `false` gives up. It must also where a
    ///     signal would end the program: the terminal has no echo meanwhile.
    /// - Returns: the key; `nil` where there is no terminal, or it was given up.
    public static func key(
        _ question: String, among keys: String, waiting wait: (CInt) -> Bool
    ) -> Character? {
        onTerminal { terminal in
            var before = termios()
            guard tcgetattr(terminal, &before) == 0 else { return nil }
            var raw = before
            raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
            tcsetattr(terminal, TCSAFLUSH, &raw)
            defer { tcsetattr(terminal, TCSANOW, &before) }
            write(question + " ", to: terminal)
            var byte: UInt8 = 0
            while wait(terminal), read(terminal, &byte, 1) == 1 {
                let key = byte == 0x0A || byte == 0x0D ? keys.first : Character(Unicode.Scalar(byte))
                guard let key, keys.contains(key) else { continue }
                write("\(key)\n", to: terminal)
                return key
            }
            write("\n", to: terminal)
            return nil
        }
    }

    /// The width of the terminal that one is asked on; 80 where it does not say.
    public static var columns: Int {
        let said: Int? = onTerminal { terminal in
            var size = winsize()
            return ioctl(terminal, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : nil
        }
        return said ?? 80
    }

    /// - Parameter body: is given the terminal; `nil` where there is none.
    private static func onTerminal<Result>(_ body: (CInt) -> Result?) -> Result? {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        return body(terminal)
    }

    private static func write(_ text: String, to descriptor: CInt) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            // Sound: the pointer does not leave the closure.
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else {
                if count < 0, errno == EINTR { continue }
                return
            }
            rest = rest.dropFirst(count)
        }
    }
}
