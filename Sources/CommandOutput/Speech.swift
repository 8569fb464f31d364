import Formatting
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
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        write("\(question) [y/N] ", to: terminal)
        var answer: [UInt8] = []
        var byte: UInt8 = 0
        while read(terminal, &byte, 1) == 1, byte != 0x0A, answer.count < 256 { answer.append(byte) }
        return ["y", "yes"].contains(String(decoding: answer, as: UTF8.self).lowercased())
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
