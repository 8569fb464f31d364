import Glibc
import Testing

/// One of the project's programs in a separate process, without a terminal.
struct RunningProgram {
    struct Outcome {
        /// The exit code; -1 if a signal ended the program.
        let code: Int32
        /// The program's peak memory, in bytes.
        let memory: Int
        /// The signal that ended the program, or 0.
        let signal: Int32
        let output: String
        let error: String
    }

    private let process: pid_t
    private let output: CInt
    private let error: CInt

    /// - Parameters:
    ///   - name: one of the project's programs, or the path of any program.
    ///   - runtime: the folder in which the program looks for the broker's sockets.
    ///   - errorIsTerminal: whether standard error is a terminal, which does not control the program.
    ///   - input: the file from which it reads standard input.
    ///   - more: further variables of its environment.
    init(
        _ name: String, _ arguments: [String], runtime: String, input: String = "/dev/null",
        errorIsTerminal: Bool = false, environment more: [String] = []
    ) throws {
        let path = name.hasPrefix("/") ? name : try Self.folder() + "/" + name
        let outputPipe = try pipe()
        let errorPipe = try errorIsTerminal ? terminal() : pipe()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input, O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, outputPipe[1], STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errorPipe[1], STDERR_FILENO)
        // A new session has no controlling terminal.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The program must receive signals, which the threads that run tests block.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        let flags = CInt(0x80 /* POSIX_SPAWN_SETSID */) | POSIX_SPAWN_SETSIGMASK
        posix_spawnattr_setflags(&attributes, Int16(flags))
        // The first value of a variable counts.
        let environment =
            more + [
                "CONTACTBROKER_RUNTIME_DIR=\(runtime)", "XDG_STATE_HOME=\(runtime)/state", "TZ=UTC",
                "PATH=/usr/bin:/bin",
            ] + Self.inherited("LD_LIBRARY_PATH")
        var argv = ([path] + arguments).map { strdup($0) } + [nil]
        var envp = environment.map { strdup($0) } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        var process: pid_t = 0
        try #require(posix_spawn(&process, path, &actions, &attributes, &argv, &envp) == 0, "\(path)")
        close(outputPipe[1])
        close(errorPipe[1])
        self.process = process
        output = outputPipe[0]
        error = errorPipe[0]
    }

    /// Reads standard error until it contains this text.
    func waitUntilItSays(_ text: String) -> String {
        var said: [UInt8] = []
        var byte: UInt8 = 0
        while !String(decoding: said, as: UTF8.self).contains(text), read(error, &byte, 1) == 1 { said.append(byte) }
        return String(decoding: said, as: UTF8.self)
    }

    func signal(_ number: CInt) { kill(process, number) }

    /// - Parameter readsOutput: if `false`, standard output is closed at once, like a pipe to a program that has ended.
    func finish(readsOutput: Bool = true) throws -> Outcome {
        var texts: [CInt: [UInt8]] = [output: [], error: []]
        var open = [output, error]
        if !readsOutput {
            close(output)
            open.removeFirst()
        }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !open.isEmpty {
            var waiting = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&waiting, nfds_t(waiting.count), 30_000) > 0 else {
                kill(process, SIGKILL)
                Issue.record("the program did not end")
                break
            }
            for ready in waiting where ready.revents != 0 {
                let count = read(ready.fd, &buffer, buffer.count)
                if count > 0 {
                    texts[ready.fd, default: []] += buffer[..<count]
                } else {
                    open.removeAll { $0 == ready.fd }
                }
            }
        }
        var status: CInt = 0
        var usage = rusage()
        wait4(process, &status, 0, &usage)
        if readsOutput { close(output) }
        close(error)
        return Outcome(
            code: status & 0x7F == 0 ? status >> 8 & 0xFF : -1,
            memory: usage.ru_maxrss * 1_024, signal: status & 0x7F,
            output: String(decoding: texts[output] ?? [], as: UTF8.self),
            error: String(decoding: texts[error] ?? [], as: UTF8.self))
    }

    /// The folder of the built programs, which also contains the program of the tests.
    static func folder() throws -> String {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = buffer.withUnsafeMutableBytes {
            $0.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.map { readlink("/proc/self/exe", $0, text.count) } ?? -1
            }
        }
        try #require(count > 0)
        let path = String(decoding: buffer[..<count], as: UTF8.self)
        return String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
    }

    private static func inherited(_ name: String) -> [String] {
        getenv(name).map { ["\(name)=\(String(cString: $0))"] } ?? []
    }
}

func run(_ name: String, _ arguments: String..., with broker: ScriptedBroker) throws -> RunningProgram.Outcome {
    try RunningProgram(name, arguments, runtime: broker.folder).finish()
}

/// Two connected descriptors, close-on-exec from the start. A program that starts at the same time could inherit
/// those of pipe(2).
func pipe() throws -> [CInt] {
    var ends: [CInt] = [-1, -1]
    let made = socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &ends)
    try #require(made == 0)
    return ends
}

/// Opens a terminal.
///
/// - Returns: the side that reads what a program writes, and the program's side.
private func terminal() throws -> [CInt] {
    let reader = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    try #require(reader >= 0)
    var (unlocked, number): (CInt, CInt) = (0, 0)
    // TIOCSPTLCK and TIOCGPTN, which Glibc's module lacks; see ioctl_tty(2).
    try #require(ioctl(reader, 0x4004_5431, &unlocked) == 0 && ioctl(reader, 0x8004_5430, &number) == 0)
    let writer = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    try #require(writer >= 0)
    return [reader, writer]
}
