import CBrokerLinux
import Glibc

/// A program running in a real pseudo-terminal, and the screen that a person in front of it would see.
///
/// No method sleeps: each waits for output, for the program's end or for its deadline. Only one thread may use it.
public final class PseudoTerminal {
    /// For poll(2), to wait for other events as well. Call ``takeOutput()`` afterwards.
    public let fileDescriptor: CInt
    public let pid: pid_t
    public private(set) var screen: Screen
    /// Every byte that the program wrote, up to ``maximumTranscript``.
    public private(set) var transcript: [UInt8] = []
    /// What the program wrote after so many bytes.
    public func text(after start: Int = 0) -> String { String(decoding: transcript[start...], as: UTF8.self) }
    /// How the program ended, once that is known.
    public private(set) var exitStatus: ExitStatus?
    /// Whether the program and everything that it started have closed the terminal.
    public private(set) var isClosed = false

    public static let maximumTranscript = 4 * 1_048_576

    public enum ExitStatus: Hashable, Sendable {
        case exited(CInt)
        case signalled(CInt)
    }

    public enum Failure: Error, Sendable, CustomStringConvertible {
        case cannotStart(String)
        /// The event did not occur in time.
        case timedOut(waitingFor: String, screen: String)
        /// The program ended first.
        case ended(waitingFor: String, screen: String)

        public var description: String {
            switch self {
            case .cannotStart(let reason): "could not start: \(reason)"
            case .timedOut(let what, let screen): "\(what) did not come; the screen shows:\n\(screen)"
            case .ended(let what, let screen): "the program ended before \(what); the screen shows:\n\(screen)"
            }
        }
    }

    /// Starts a program as the leader of a session that the pseudo-terminal controls.
    ///
    /// - Parameter environment: the program's whole environment. It should set `TERM`, such as to `xterm`.
    public init(
        _ program: String, arguments: [String] = [], environment: [String: String], columns: Int = 80, rows: Int = 24
    ) throws(Failure) {
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var child: pid_t = 0
        let size = clinux_terminal_size(rows: UInt16(clamping: rows), columns: UInt16(clamping: columns))
        let master = clinux_pseudo_terminal(program, &words, &variables, size, &child)
        guard master >= 0 else { throw .cannotStart(String(cString: strerror(-master))) }
        fileDescriptor = master
        pid = child
        screen = Screen(columns: columns, rows: rows)
    }

    deinit {
        terminate()
        close(fileDescriptor)
    }

    /// Closes the terminal, as when its window is closed. Afterwards only ``waitForExit(timeout:)`` and ``terminate()`` are
    /// of use.
    public func hangUp() {
        takeOutput()
        isClosed = true
        // The descriptor stays this object's, but is no longer the terminal's.
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        dup2(nothing, fileDescriptor)
        close(nothing)
    }

    /// Sends keys. `\r` is Return, `\u{1B}` Escape, `\u{3}` Ctrl-C.
    public func send(_ keys: String) {
        var bytes = Array(keys.utf8)[...]
        while !bytes.isEmpty {
            let chunk = Array(bytes)
            let count = write(fileDescriptor, chunk, chunk.count)
            if count > 0 {
                bytes = bytes.dropFirst(count)
            } else if errno == EAGAIN {
                takeOutput()
                var waiting = pollfd(fd: fileDescriptor, events: Int16(POLLOUT | POLLIN), revents: 0)
                poll(&waiting, 1, 1_000)
            } else if errno != EINTR {
                return
            }
        }
    }

    /// Writes to the terminal as another program on it would.
    public func scribble(_ text: String) {
        let slave = clinux_open_slave(fileDescriptor)
        guard slave >= 0 else { return }
        let bytes = Array(text.utf8)
        _ = write(slave, bytes, bytes.count)
        close(slave)
    }

    /// Waits until a line of the screen contains this text.
    public func wait(for text: String, timeout: Duration = .seconds(30)) throws(Failure) {
        try wait(for: "“\(text)”", timeout: timeout) { $0.contains(text) }
    }

    /// Waits until no line of the screen contains this text.
    public func wait(forNo text: String, timeout: Duration = .seconds(30)) throws(Failure) {
        try wait(for: "the end of “\(text)”", timeout: timeout) { !$0.contains(text) }
    }

    /// Waits until the condition is true. A failure names it with `what`.
    public func wait(
        for what: String, timeout: Duration = .seconds(30), until isReached: (Screen) -> Bool
    ) throws(Failure) {
        let deadline = ContinuousClock.now + timeout
        while true {
            takeOutput()
            if isReached(screen) { return }
            if isClosed { throw .ended(waitingFor: what, screen: screen.text) }
            guard pollOutput(until: deadline) else { throw .timedOut(waitingFor: what, screen: screen.text) }
        }
    }

    /// Waits until the program has ended, and reaps it.
    @discardableResult
    public func waitForExit(timeout: Duration = .seconds(30)) throws(Failure) -> ExitStatus {
        let deadline = ContinuousClock.now + timeout
        let process = clinux_pidfd_open(pid)
        defer { if process >= 0 { close(process) } }
        while true {
            takeOutput()
            if let exitStatus = exitStatus ?? reap(options: WNOHANG) {
                // The program can have written something since.
                takeOutput()
                return exitStatus
            }
            let left = Self.milliseconds(until: deadline)
            guard left > 0 else { throw .timedOut(waitingFor: "the program's end", screen: screen.text) }
            var waiting = [
                pollfd(fd: process, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isClosed ? -1 : fileDescriptor, events: Int16(POLLIN), revents: 0),
            ]
            poll(&waiting, 2, left)
        }
    }

    /// Sends a signal to the program, as `kill` would.
    public func signal(_ number: CInt) {
        if exitStatus == nil { kill(pid, number) }
    }

    /// Resizes the window, so that the program gets SIGWINCH.
    public func resize(columns: Int, rows: Int) {
        takeOutput()
        screen.resize(columns: columns, rows: rows)
        _ = clinux_resize_terminal(
            fileDescriptor, clinux_terminal_size(rows: UInt16(clamping: rows), columns: UInt16(clamping: columns)))
    }

    /// Whether the terminal delivers whole lines and echoes them, as a shell expects.
    public var isInLineMode: Bool {
        var settings = termios()
        guard tcgetattr(fileDescriptor, &settings) == 0 else { return false }
        let wanted = tcflag_t(ICANON | ECHO)
        return settings.c_lflag & wanted == wanted
    }

    /// The bytes of the terminal's settings, to compare them with those of another terminal; `nil` if they are unknown.
    public var settings: [UInt8]? {
        var settings = termios()
        guard tcgetattr(fileDescriptor, &settings) == 0 else { return nil }
        return withUnsafeBytes(of: settings) { Array($0) }
    }

    /// Kills the program if it still runs, and reaps it.
    public func terminate() {
        guard exitStatus == nil else { return }
        kill(pid, SIGKILL)
        _ = reap(options: 0)
    }

    /// Draws the output that has arrived, without waiting.
    public func takeOutput() {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        while !isClosed {
            let count = read(fileDescriptor, &bytes, bytes.count)
            if count > 0 {
                transcript += bytes.prefix(min(count, Self.maximumTranscript - transcript.count))
                screen.draw(bytes.prefix(count))
            } else if count < 0, errno == EINTR {
                continue
            } else {
                // EIO means that no process has the other side open.
                isClosed = count == 0 || errno != EAGAIN
                return
            }
        }
    }

    private func pollOutput(until deadline: ContinuousClock.Instant) -> Bool {
        let left = Self.milliseconds(until: deadline)
        guard left > 0 else { return false }
        var waiting = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
        poll(&waiting, 1, left)
        return true
    }

    private func reap(options: CInt) -> ExitStatus? {
        var status: CInt = 0
        var reaped: pid_t
        repeat { reaped = waitpid(pid, &status, options) } while reaped < 0 && errno == EINTR
        guard reaped == pid else { return nil }
        // The macros WIFEXITED, WEXITSTATUS and WTERMSIG of wait(2).
        exitStatus = status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .signalled(status & 0x7F)
        return exitStatus
    }

    private static func milliseconds(until deadline: ContinuousClock.Instant) -> CInt {
        let (seconds, fraction) = ContinuousClock.now.duration(to: deadline).components
        return CInt(clamping: max(0, seconds * 1_000 + fraction / 1_000_000_000_000_000))
    }
}
