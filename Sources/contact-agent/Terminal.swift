import CBrokerLinux
import Glibc

/// The person's terminal. It is always `/dev/tty`, so that no app can answer or listen through the standard
/// streams.
///
/// While the terminal is open, this class changes its settings. ``close()``, ``suspend()`` and `deinit`
/// restore them.
final class Terminal {
    /// The descriptor for poll(2). Reading it never blocks.
    let fileDescriptor: CInt
    private let original: termios
    private let withStyles: Bool
    private(set) var isOnAlternateScreen = false
    private var isOpen = true

    enum Failure: Error, Hashable {
        /// There is no controlling terminal, or it cannot be opened.
        case cannotOpen(reason: String)
        /// The terminal cannot move its cursor, so a prompt cannot be separated from other output.
        case tooSimple
    }

    /// Opens the controlling terminal, and sets it to read single keys without echo.
    init(type: String?, withoutStyles: Bool) throws(Failure) {
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw .cannotOpen(reason: String(cString: strerror(errno))) }
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else {
            let reason = String(cString: strerror(errno))
            _ = Glibc.close(descriptor)
            throw .cannotOpen(reason: reason)
        }
        guard let type, !type.isEmpty, type != "dumb" else {
            _ = Glibc.close(descriptor)
            throw .tooSimple
        }
        fileDescriptor = descriptor
        original = settings
        withStyles = !withoutStyles
        resume()
    }

    deinit { close() }

    /// Restores the terminal and closes it.
    func close() {
        guard isOpen else { return }
        suspend()
        isOpen = false
        _ = Glibc.close(fileDescriptor)
    }

    /// The size; `nil` if the terminal does not report it.
    var size: ScreenSize? {
        var size = clinux_terminal_size()
        guard clinux_terminal_size(fileDescriptor, &size) == 0, size.rows > 0, size.columns > 0 else { return nil }
        return ScreenSize(columns: Int(size.columns), rows: Int(size.rows))
    }

    /// The path of the terminal, taken from the first standard stream that is connected to a terminal; `nil`
    /// if none is. The person recognises the terminal by this path.
    var name: String? {
        for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            if let name = ttyname(stream) { return String(cString: name) }
        }
        return nil
    }

    /// Returns the available input: empty if there is none, `nil` if the terminal is gone.
    func read() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 1_024)
        let count = Glibc.read(fileDescriptor, &bytes, bytes.count)
        if count < 0 { return errno == EINTR || errno == EAGAIN ? [] : nil }
        return Array(bytes.prefix(count))
    }

    /// Discards unread input.
    func discardInput() { tcflush(fileDescriptor, TCIFLUSH) }

    /// Whether the terminal shows what the person types.
    var echoes: Bool {
        var settings = termios()
        return tcgetattr(fileDescriptor, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Writes the line at the cursor, wrapped as needed.
    func say(_ line: StyledLine) {
        let columns = max(20, (size?.columns ?? 80) - 1)
        for part in line.wrapped(columns: columns) {
            write(part.drawn(columns: columns, withStyles: withStyles) + "\r\n")
        }
    }

    /// Switches to the alternate screen, so that earlier output cannot be part of a prompt. Lines do not wrap
    /// on the alternate screen.
    func enterAlternateScreen() {
        guard !isOnAlternateScreen else { return }
        isOnAlternateScreen = true
        write("\u{1B}[?1049h\u{1B}[?2004h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J\u{1B}[H")
    }

    func leaveAlternateScreen() {
        guard isOnAlternateScreen else { return }
        isOnAlternateScreen = false
        write("\u{1B}[?7h\u{1B}[?25h\u{1B}[?2004l\u{1B}[?1049l")
    }

    /// Redraws the whole screen from the top. This overwrites the output of other programs.
    ///
    /// - Parameter clearing: whether to clear the screen first. Otherwise lines are overwritten, which does
    ///   not flicker.
    func draw(_ lines: [StyledLine], clearing: Bool) {
        guard let size else { return }
        var text = clearing ? "\u{1B}[0m\u{1B}[2J\u{1B}[H" : "\u{1B}[0m\u{1B}[H"
        for (index, line) in lines.prefix(size.rows).enumerated() {
            if index > 0 { text += "\r\n" }
            text += line.drawn(columns: size.columns, withStyles: withStyles) + "\u{1B}[K"
        }
        write(text + "\u{1B}[J")
    }

    /// Waits until all output has reached the terminal.
    func waitUntilDrawn() { tcdrain(fileDescriptor) }

    /// Sets the terminal to read single keys without echo.
    func resume() {
        var settings = original
        // Ctrl-C and Ctrl-Z still send signals. Ctrl-S must not freeze the screen while a prompt is shown.
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | ECHONL | IEXTEN)
        settings.c_lflag |= tcflag_t(ISIG)
        settings.c_iflag &= ~tcflag_t(IXON)
        Self.set(&settings, VMIN, 0)
        Self.set(&settings, VTIME, 0)
        tcsetattr(fileDescriptor, TCSADRAIN, &settings)
    }

    private static func set(_ settings: inout termios, _ index: CInt, _ value: cc_t) {
        // Sound: c_cc is an array of NCCS bytes that Swift sees as a tuple, the index is VMIN or VTIME, and
        // the pointer does not leave the closure.
        withUnsafeMutableBytes(of: &settings.c_cc) { $0[Int(index)] = value }
    }

    /// Restores the terminal's original settings and screen.
    func suspend() {
        leaveAlternateScreen()
        // This discards pending input, which must not become the shell's next command.
        var settings = original
        tcsetattr(fileDescriptor, TCSAFLUSH, &settings)
    }

    private func write(_ text: String) {
        let bytes = Array(text.utf8)
        var written = 0
        while written < bytes.count {
            // Sound: the pointer does not leave the closure.
            let count = bytes[written...].withUnsafeBytes { Glibc.write(fileDescriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                written += count
            } else if errno == EAGAIN {
                var waiting = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
                poll(&waiting, 1, 1_000)
            } else if errno != EINTR {
                // The terminal is gone; the next read reports it.
                return
            }
        }
    }
}
