import BrokerFormatting
import Glibc

/// What the agent needs of a terminal: a screen to draw on, and keys.
protocol Display: AnyObject {
    /// The descriptor for poll(2).
    var fileDescriptor: CInt { get }
    /// The size; `nil` if the terminal does not report it.
    var size: ScreenSize? { get }
    /// Whether the screen is written line by line, so that it cannot show a key only after a moment.
    var isPlain: Bool { get }

    /// Returns the available keys; `nil` if the terminal is gone.
    func read() -> [Key]?
    func discardInput()
    /// Writes a line outside the full screen.
    func say(_ line: StyledLine)
    func enterAlternateScreen()
    /// - Parameter clearing: whether everything must be written again.
    func draw(_ lines: [StyledLine], clearing: Bool)
    func waitUntilDrawn()
    /// Restores the terminal for another program.
    func suspend()
    func resume()
    func close()
}

extension Display {
    /// The path by which the person recognises the terminal: that of the first standard stream that is connected to one;
    /// `nil` if none is.
    var name: String? {
        [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].lazy.compactMap { ttyname($0) }.first.map { String(cString: $0) }
    }

    /// Whether the terminal shows what the person types.
    var echoes: Bool {
        var settings = termios()
        return tcgetattr(fileDescriptor, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }
}

/// The person's terminal in line mode, for screen readers and terminals without a movable cursor. It writes what is
/// new, and reads whole lines.
///
/// A line is what the brackets on the screen show, such as `esc`, or the number of a row, or a name to search.
final class LineTerminal: Display {
    /// The longest line that is read, in bytes. The terminal driver's limit is 4,096.
    private static let longestLine = 1_024
    /// The screen's height, which determines how many rows a list shows at once.
    private static let rows = 20

    let fileDescriptor: CInt
    let isPlain = true
    private var pending: [UInt8] = []
    /// The lines that were written last.
    private var shown: Set<String> = []
    private let hint: String

    init(_ names: LocalizedNames) throws(Terminal.Failure) {
        fileDescriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard fileDescriptor >= 0 else { throw .cannotOpen(reason: String(cString: strerror(errno))) }
        hint = names.text(.plainHint)
    }

    var size: ScreenSize? {
        let columns = Terminal.size(of: fileDescriptor)?.columns ?? 80
        return ScreenSize(columns: max(ScreenSize.minimum.columns, columns), rows: Self.rows)
    }

    // MARK: - Reading

    func read() -> [Key]? {
        var bytes = [UInt8](repeating: 0, count: Self.longestLine)
        let count = Glibc.read(fileDescriptor, &bytes, bytes.count)
        // In line mode the end of input means that the person has finished.
        if count == 0 { return nil }
        guard count > 0 else { return errno == EINTR || errno == EAGAIN ? [] : nil }
        pending += bytes.prefix(count)
        guard pending.last == UInt8(ascii: "\n") else { return [] }
        // One line is one answer. Further lines were typed before the person could see what the first one did.
        let line = pending.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[0]
        pending = []
        return Self.keys(for: String(decoding: line.prefix(Self.longestLine), as: UTF8.self))
    }

    /// The keys that a typed line stands for.
    static func keys(for line: String) -> [Key] {
        let word = line.split(separator: " ").joined(separator: " ")
        switch word.lowercased() {
        case "", "return": return [.enter]
        case "esc": return [.escape]
        case "back": return [.left]
        case "list": return [.right]
        case "tab": return [.tab]
        case "ctrl-u": return [.erase]
        case "space": return [.character(" ")]
        case "pgdn", ">": return [.pageDown]
        case "pgup", "<": return [.pageUp]
        default: break
        }
        if let number = Int(word), number > 0, word.allSatisfy({ $0.isASCII }) { return [.row(index: number - 1)] }
        if word.count == 1, let character = word.first { return [.character(character)] }
        return [.line(word.hasPrefix("/") ? String(word.dropFirst()) : word)]
    }

    func discardInput() {
        tcflush(fileDescriptor, TCIFLUSH)
        pending = []
    }

    // MARK: - Writing

    func say(_ line: StyledLine) { write(Self.text(of: line)) }

    func draw(_ lines: [StyledLine], clearing: Bool) {
        // The first line has the time left, which changes while nothing else does.
        let texts = lines.dropFirst().map(Self.text).filter { !$0.isEmpty }
        let new = clearing ? texts : texts.filter { !shown.contains($0) }
        // In one piece, so that what the person types is not echoed between the lines.
        if !new.isEmpty { write((clearing ? [""] + new + [hint] : new).joined(separator: "\n")) }
        shown = Set(texts)
    }

    /// The keys of the full screen, and the words that are typed instead.
    private static let typed: [(key: String, word: String)] = [
        ("[←]", "[back]"), ("[→]", "[list]"), ("[Tab]", "[tab]"), ("[Space]", "[space]"), ("[Esc]", "[esc]"),
        ("[Ctrl-U]", "[ctrl-u]"), ("[PgDn]", "[>]"), ("[PgUp]", "[<]"),
    ]

    /// The text of a line. A row of a list begins with its number instead of the cursor.
    private static func text(of line: StyledLine) -> String {
        let text = Self.typed.reduce(Columns.harmless(line.text)) { $0.replacing($1.key, with: $1.word) }
        let trimmed = String(text.reversed().drop { $0 == " " }.reversed())
        guard case .row(let index) = line.action else { return trimmed }
        return "\(index + 1). " + trimmed.drop { $0 == "›" || $0 == " " }
    }

    private func write(_ line: String) {
        var bytes = Array((line + "\n").utf8)[...]
        while !bytes.isEmpty {
            let part = Array(bytes)
            let count = Glibc.write(fileDescriptor, part, part.count)
            if count > 0 {
                bytes = bytes.dropFirst(count)
            } else if errno == EAGAIN {
                var waiting = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
                poll(&waiting, 1, 1_000)
            } else if errno != EINTR {
                // The terminal is gone; the next read reports it.
                return
            }
        }
    }

    func enterAlternateScreen() {}
    func waitUntilDrawn() { tcdrain(fileDescriptor) }
    func suspend() {}
    func resume() {}
    func close() { _ = Glibc.close(fileDescriptor) }
}
