import CBrokerCurses
import CBrokerLinux
import Glibc
import PseudoTerminal

@testable import contact_agent

/// A screen of ncurses in this process, on a pseudo-terminal that another program keeps open. At any time there may be
/// one.
final class CursesFixture {
    let terminal: PseudoTerminal
    let curses: OpaquePointer
    private let slave: CInt
    private var sequence = KeySequence()
    private var marks = 0

    struct Failure: Error {
        let code: UInt32
    }

    init(_ type: String, columns: Int = 80, rows: Int = 24, colours: Bool = true) throws {
        terminal = try PseudoTerminal(
            "/bin/sleep", arguments: ["600"], environment: [:], columns: columns, rows: rows)
        slave = clinux_open_slave(terminal.fileDescriptor)
        // A descriptor of its own, so that only reading does not block.
        let input = clinux_open_slave(terminal.fileDescriptor)
        defer { close(input) }
        _ = fcntl(input, F_SETFL, O_NONBLOCK)
        var settings = termios()
        tcgetattr(slave, &settings)
        Terminal.takeSingleKeys(slave, settings)
        var failure = CCURSES_NO_MEMORY
        guard let opened = ccurses_open(type, input, slave, colours, &failure) else {
            close(slave)
            throw Failure(code: failure.rawValue)
        }
        curses = opened
        ccurses_take_keys(curses, true)
        ccurses_enter(curses)
        try takeOutput()
    }

    deinit {
        ccurses_close(curses)
        close(slave)
    }

    var screen: Screen { terminal.screen }

    /// Waits until everything that was written is on the screen.
    func takeOutput() throws {
        marks += 1
        // A title, which changes no cell.
        let mark = Array("\u{1B}]0;\(marks)\u{7}".utf8)
        terminal.scribble(String(decoding: mark, as: UTF8.self))
        try terminal.wait(for: "the output") { _ in terminal.transcript.suffix(mark.count) == mark[...] }
    }

    /// The keys that the program reads after the terminal has sent this text.
    func keys(_ text: String) -> [Key] {
        terminal.send(text)
        // The kernel delivers what was written a little later.
        let deadline = ContinuousClock.now + .seconds(10)
        var available: CInt = 0
        while ioctl(slave, UInt(FIONREAD), &available) == 0, available < text.utf8.count, ContinuousClock.now < deadline
        {
            poll(nil, 0, 1)
        }
        return sequence.keys(from: curses)
    }

    func draw(_ lines: [StyledLine], clearing: Bool = false, isMirrored: Bool = false) throws {
        ccurses_erase(curses)
        for (row, line) in lines.enumerated() {
            line.put(row: row, columns: screen.columns, isMirrored: isMirrored, on: curses)
        }
        ccurses_show(curses, clearing)
        try takeOutput()
    }

    /// Writes to the terminal as another program would.
    func scribble(_ text: String) throws {
        terminal.scribble(text)
        try takeOutput()
    }

    func resize(columns: Int, rows: Int) {
        terminal.resize(columns: columns, rows: rows)
        ccurses_resize(curses, CInt(rows), CInt(columns))
    }

    func leave() throws {
        ccurses_leave(curses)
        try takeOutput()
    }
}
