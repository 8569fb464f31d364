import BrokerFormatting
import Glibc
import Synchronization

/// Messages and questions on the terminal. Messages go to standard error, because results go to standard
/// output.
public enum Speech {
    private static let isProgressShown = Atomic(false)

    /// Writes a message line to standard error, and erases a ``progress(_:)`` line before it.
    public static func say(_ line: String) {
        endProgress()
        // Flushes standard output first. If both streams go to the same file, their order is then kept.
        fflush(nil)
        write(line + "\n", to: STDERR_FILENO)
    }

    /// Shows a line that the next progress line overwrites. Does nothing unless standard error is a terminal.
    public static func progress(_ line: String) {
        guard isatty(STDERR_FILENO) == 1 else { return }
        write("\r\(line)\u{1B}[K", to: STDERR_FILENO)
        isProgressShown.store(true, ordering: .relaxed)
    }

    /// Erases the last ``progress(_:)`` line, if there is one.
    public static func endProgress() {
        if isProgressShown.exchange(false, ordering: .relaxed) { write("\r\u{1B}[K", to: STDERR_FILENO) }
    }

    /// Makes untrusted text safe for one line of a terminal.
    public static func clean(_ text: String) -> String { DisplayText.line(text) }

    /// Asks a yes-or-no question on `/dev/tty`, whatever standard input is. Any answer except `y` or `yes`
    /// means no.
    ///
    /// - Returns: `nil` if there is no terminal.
    public static func confirm(_ question: String) -> Bool? {
        onTerminal { terminal in
            ask("\(question) [y/N]", on: terminal)
            var answer: [UInt8] = []
            var byte: UInt8 = 0
            while read(terminal, &byte, 1) == 1, byte != 0x0A, answer.count < 256 { answer.append(byte) }
            return ["y", "yes"].contains(String(decoding: answer, as: UTF8.self).lowercased())
        }
    }

    /// Whether `/dev/tty` can be opened.
    public static var canAsk: Bool { onTerminal { _ in true } ?? false }

    /// Asks for one key on `/dev/tty`, whatever standard input is.
    ///
    /// - Parameters:
    ///   - keys: the accepted keys; Return counts as the first.
    ///   - wait: waits until the descriptor is readable; returns `false` to give up. It must also return
    ///     `false` when a signal asks the program to exit, so that this function can turn the echo back on
    ///     first.
    /// - Returns: the key; `nil` if there is no terminal or `wait` gave up.
    public static func key(
        _ question: String, among keys: String, waiting wait: (CInt) -> Bool
    ) -> Character? {
        onTerminal { terminal in
            var before = termios()
            guard tcgetattr(terminal, &before) == 0 else { return nil }
            var raw = before
            raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
            tcsetattr(terminal, TCSANOW, &raw)
            defer { tcsetattr(terminal, TCSANOW, &before) }
            ask(question, on: terminal)
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

    /// Discards what was typed on `/dev/tty` so far. Call it before another program asks there.
    public static func discardTyped() { _ = onTerminal { tcflush($0, TCIFLUSH) } }

    /// Shows a question, and discards what was typed before it: nobody can answer what they have not seen. If input comes
    /// from a pipe, that is not the terminal, and stays.
    private static func ask(_ question: String, on terminal: CInt) {
        endProgress()
        tcflush(terminal, TCIFLUSH)
        write(question + " ", to: terminal)
    }

    /// The width of `/dev/tty` in columns; 80 if it is unknown.
    public static var columns: Int {
        onTerminal { Screen.size(of: $0) }.map { Int($0.ws_col) } ?? 80
    }

    /// Runs `body` with `/dev/tty`; returns `nil` if it cannot be opened.
    private static func onTerminal<Result>(_ body: (CInt) -> Result?) -> Result? {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        return body(terminal)
    }

    private static func write(_ text: String, to descriptor: CInt) {
        _ = OutputFile.write(Array(text.utf8), to: descriptor)
    }
}
