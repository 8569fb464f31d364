import CBrokerCurses
import CBrokerLinux
import Glibc

/// The person's terminal, drawn by ncurses. It is always `/dev/tty`, so that no app can answer or listen through
/// the standard streams.
///
/// While the terminal is open, this class changes its settings. ``close()``, ``suspend()`` and `deinit`
/// restore them.
final class Terminal: Display {
    /// The descriptor for poll(2). Reading it never blocks.
    let fileDescriptor: CInt
    private let output: CInt
    private let original: termios
    /// `ccurses_screen`; valid until ``close()``.
    private let curses: OpaquePointer
    private var sequence = KeySequence()
    let isPlain = false
    /// Whether the full screen is laid out from right to left.
    private let isRightToLeft: Bool
    private(set) var isOnAlternateScreen = false
    private var isOpen = true

    enum Failure: Error, Hashable {
        /// There is no controlling terminal, or it cannot be opened.
        case cannotOpen(reason: String)
        /// The system lacks the locale `C.UTF-8`.
        case noLocale
        case noMemory
        /// The terminal cannot move its cursor, so a prompt cannot be separated from other output.
        case tooSimple
    }

    /// Opens the controlling terminal, and sets it to read single keys without echo.
    ///
    /// - Parameters:
    ///   - withoutStyles: whether to draw without colours. Bold, reverse and underlined text stays.
    ///   - isRightToLeft: whether the full screen is laid out from right to left.
    init(type: String?, withoutStyles: Bool, isRightToLeft: Bool) throws(Failure) {
        self.isRightToLeft = isRightToLeft
        guard let type, !type.isEmpty else { throw .tooSimple }
        fileDescriptor = try Self.open(O_RDONLY | O_NONBLOCK)
        do {
            output = try Self.open(O_WRONLY)
        } catch {
            _ = Glibc.close(fileDescriptor)
            throw error
        }
        var settings = termios()
        var failure = CCURSES_NO_MEMORY
        guard tcgetattr(output, &settings) == 0 else {
            let reason = String(cString: strerror(errno))
            Self.close(fileDescriptor, output)
            throw .cannotOpen(reason: reason)
        }
        original = settings
        // ncurses returns to these settings when the full screen is left.
        Self.takeSingleKeys(output, settings)
        guard let curses = ccurses_open(type, fileDescriptor, output, !withoutStyles, &failure) else {
            tcsetattr(output, TCSAFLUSH, &settings)
            Self.close(fileDescriptor, output)
            switch failure {
            case CCURSES_TOO_SIMPLE: throw .tooSimple
            case CCURSES_NO_LOCALE: throw .noLocale
            default: throw .noMemory
            }
        }
        self.curses = curses
        ccurses_take_keys(curses, true)
    }

    deinit { close() }

    /// Restores the terminal and closes it.
    func close() {
        guard isOpen else { return }
        suspend()
        isOpen = false
        ccurses_close(curses)
        Self.close(fileDescriptor, output)
    }

    private static func open(_ flags: CInt) throws(Failure) -> CInt {
        let descriptor = Glibc.open("/dev/tty", flags | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw .cannotOpen(reason: String(cString: strerror(errno))) }
        return descriptor
    }

    private static func close(_ descriptors: CInt...) {
        for descriptor in descriptors { _ = Glibc.close(descriptor) }
    }

    /// The size; `nil` if the terminal does not report it.
    var size: ScreenSize? { Self.size(of: fileDescriptor) }

    static func size(of descriptor: CInt) -> ScreenSize? {
        var size = clinux_terminal_size()
        guard clinux_terminal_size(descriptor, &size) == 0, size.rows > 0, size.columns > 0 else { return nil }
        return ScreenSize(columns: Int(size.columns), rows: Int(size.rows))
    }

    /// Returns the available keys: none if there is no input, `nil` if the terminal is gone.
    ///
    /// Waits at most 50 ms for each byte of an incomplete sequence.
    func read() -> [Key]? {
        var state = pollfd(fd: fileDescriptor, events: 0, revents: 0)
        guard poll(&state, 1, 0) <= 0 else { return nil }
        return sequence.keys(from: curses)
    }

    /// Discards unread input.
    func discardInput() {
        ccurses_discard_input(curses)
        sequence.discard()
    }

    /// Writes the line at the cursor, wrapped as needed. Only for times when the alternate screen is left.
    func say(_ line: StyledLine) {
        let columns = max(20, (size?.columns ?? 80) - 1)
        for part in line.wrapped(columns: columns) {
            for piece in part.clipped(columns: columns) {
                ccurses_say(curses, piece.text, piece.text.utf8.count, piece.style.curses)
            }
            ccurses_say_line_end(curses)
        }
    }

    /// Switches to the alternate screen, so that earlier output cannot be part of a prompt.
    func enterAlternateScreen() {
        guard !isOnAlternateScreen else { return }
        isOnAlternateScreen = true
        takeSize()
        ccurses_enter(curses)
    }

    func leaveAlternateScreen() {
        guard isOnAlternateScreen else { return }
        isOnAlternateScreen = false
        ccurses_leave(curses)
    }

    /// Draws the whole screen from the top. This overwrites the output of other programs.
    ///
    /// - Parameter clearing: whether to clear the screen first. Otherwise lines are overwritten, which does
    ///   not flicker.
    func draw(_ lines: [StyledLine], clearing: Bool) {
        guard isOnAlternateScreen, let size = takeSize() else { return }
        ccurses_erase(curses)
        for (row, line) in lines.prefix(size.rows).enumerated() {
            line.put(row: row, columns: size.columns, isMirrored: isRightToLeft, on: curses)
        }
        ccurses_show(curses, clearing)
    }

    @discardableResult
    private func takeSize() -> ScreenSize? {
        guard let size else { return nil }
        ccurses_resize(curses, CInt(size.rows), CInt(size.columns))
        return size
    }

    /// Waits until all output has reached the terminal.
    func waitUntilDrawn() { tcdrain(output) }

    /// Sets the terminal to read single keys without echo.
    func resume() {
        if isOnAlternateScreen {
            ccurses_restore_settings(curses)
        } else {
            Self.takeSingleKeys(output, original)
        }
        ccurses_take_keys(curses, true)
    }

    /// Sets a terminal to deliver single keys without echo; `original` are its settings.
    static func takeSingleKeys(_ descriptor: CInt, _ original: termios) {
        var settings = original
        // Ctrl-C and Ctrl-Z still send signals. Ctrl-S must not freeze the screen while a prompt is shown.
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | ECHONL | IEXTEN)
        settings.c_lflag |= tcflag_t(ISIG)
        settings.c_iflag &= ~tcflag_t(IXON)
        set(&settings, VMIN, 0)
        set(&settings, VTIME, 0)
        tcsetattr(descriptor, TCSADRAIN, &settings)
    }

    private static func set(_ settings: inout termios, _ index: CInt, _ value: cc_t) {
        // Sound: c_cc is an array of NCCS bytes that Swift sees as a tuple, the index is VMIN or VTIME, and
        // the pointer does not leave the closure.
        withUnsafeMutableBytes(of: &settings.c_cc) { $0[Int(index)] = value }
    }

    /// Restores the terminal's original settings and screen.
    func suspend() {
        leaveAlternateScreen()
        ccurses_take_keys(curses, false)
        discardInput()
        // This discards pending input, which must not become the shell's next command.
        var settings = original
        tcsetattr(output, TCSAFLUSH, &settings)
    }
}
