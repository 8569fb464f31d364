import Glibc

/// Standard output: a terminal, or a pipe or file.
public enum Screen {
    /// Whether standard output is a terminal.
    public static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// The terminal's width in columns; `nil` for a pipe or file, whose lines have any length. `COLUMNS` overrides it.
    public static var width: Int? { environmentVariable("COLUMNS").flatMap(Int.init) ?? size.map { Int($0.ws_col) } }

    /// Whether output may have colors: only a terminal that knows them, and not if `NO_COLOR` is set (no-color.org).
    public static var hasColors: Bool {
        isTerminal && environmentVariable("NO_COLOR") == nil && environmentVariable("TERM") != "dumb"
    }

    /// Makes a heading bold, if the output may have colors.
    public static func heading(_ text: String) -> String { hasColors ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

    /// Colors a level of access, if the output may have colors: yellow if an app sees everything, red if it is denied.
    public static func level(_ text: String) -> String {
        guard hasColors else { return text }
        return text.hasPrefix("full")
            ? "\u{1B}[33m\(text)\u{1B}[0m"
            : text.hasPrefix("denied") ? "\u{1B}[31m\(text)\u{1B}[0m" : text
    }

    /// Prints lines. If they are more than the terminal has, a pager shows them: `PAGER`, or `less` if it is not set.
    /// A pager that is empty or `cat` is not started.
    public static func show(_ lines: [String]) {
        let text = lines.map { $0 + "\n" }.joined()
        guard let rows = size.map({ Int($0.ws_row) }), lines.count >= rows, let pager, page(text, with: pager) else {
            return print(text, terminator: "")
        }
    }

    private static var pager: String? {
        let pager = getenv("PAGER").map { String(cString: $0) } ?? "less"
        return pager.isEmpty || pager == "cat" ? nil : pager
    }

    /// - Returns: `false` if the pager cannot be started.
    private static func page(_ text: String, with pager: String) -> Bool {
        // F: leave if all fits; R: pass colors on; X: leave the text on the screen. The person's own value has priority.
        setenv("LESS", "FRX", 0)
        fflush(nil)
        guard let pipe = popen(pager, "w") else { return false }
        // The person may leave the pager before it has read everything.
        let former = signal(SIGPIPE, SIG_IGN)
        fputs(text, pipe)
        let status = pclose(pipe)
        _ = signal(SIGPIPE, former)
        // 127: the shell found no such program.
        return status >> 8 & 0xFF != 127
    }

    private static var size: winsize? { size(of: STDOUT_FILENO) }

    /// The size of a terminal; `nil` if the descriptor is none, or if its size is unknown.
    static func size(of descriptor: CInt) -> winsize? {
        var size = winsize()
        return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? size : nil
    }
}
