import Glibc

/// A child process, with pipes for its standard input and output.
final class ChildProcess {
    let pid: pid_t
    private let input: CInt
    private let output: CInt
    private var received: [UInt8] = []
    private var hasEnded = false

    /// - Parameters:
    ///   - readsErrors: whether to read its standard error instead of its standard output.
    ///   - socket: becomes its standard input. ``tell(_:)`` then does not reach it.
    ///   - errorLog: the file to which its standard error is appended; `nil` uses this process's standard
    ///     error.
    ///   - environment: its variables, `NAME=value` each.
    ///   - inheritsEnvironment: whether it also inherits this process's variables. Of two variables with
    ///     one name, the first takes effect.
    init(
        _ path: String, _ arguments: [String], readsErrors: Bool = false, socket: CInt? = nil, errorLog: String? = nil,
        environment: [String] = [], inheritsEnvironment: Bool = true
    ) throws {
        var toChild: [CInt] = [-1, -1]
        var fromChild: [CInt] = [-1, -1]
        guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else { throw Failure(system: "could not make a pipe") }
        for descriptor in [toChild[1], fromChild[0]] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, socket ?? toChild[0], STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], readsErrors ? STDERR_FILENO : STDOUT_FILENO)
        for descriptor in [toChild[0], fromChild[1]] { posix_spawn_file_actions_addclose(&actions, descriptor) }
        if let errorLog {
            posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errorLog, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        }
        var texts = ([path] + arguments).map { strdup($0) }
        texts.append(nil)
        defer { for text in texts { free(text) } }
        var variables = (environment + (inheritsEnvironment ? Self.environment : [])).map { strdup($0) }
        variables.append(nil)
        defer { for text in variables { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, path, &actions, nil, texts, variables)
        for descriptor in [toChild[0], fromChild[1]] { Glibc.close(descriptor) }
        guard code == 0 else { throw Failure(system: "could not start \(path)", code) }
        self.pid = pid
        input = toChild[1]
        output = fromChild[0]
    }

    deinit { end() }

    private static var environment: [String] {
        var variables: [String] = []
        var place = environ
        while let variable = place.pointee {
            variables.append(String(cString: variable))
            place += 1
        }
        return variables
    }

    func tell(_ line: String) throws {
        let bytes = Array((line + "\n").utf8)
        guard write(input, bytes, bytes.count) == bytes.count else {
            throw Failure(system: "could not write to a child process")
        }
    }

    /// Reads its next line of output.
    ///
    /// - Parameter seconds: how long to wait for the line.
    func line(within seconds: CInt = 30) throws -> String {
        let deadline = Clock.now() + Int64(seconds) * 1_000_000_000
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: received[..<end], as: UTF8.self)
                received.removeSubrange(...end)
                return line
            }
            var waiting = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            let left = (deadline - Clock.now()) / 1_000_000
            guard left > 0, poll(&waiting, 1, CInt(left)) > 0 else {
                throw Failure("a child process did not answer within \(seconds) s")
            }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = read(output, &buffer, buffer.count)
            guard count > 0 else {
                throw Failure("a child process ended: \(String(decoding: received, as: UTF8.self))")
            }
            received.append(contentsOf: buffer[..<count])
        }
    }

    /// Whether it has written something that ``line(within:)`` has not returned.
    func hasLine() -> Bool {
        if received.contains(UInt8(ascii: "\n")) { return true }
        var waiting = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, 0) > 0
    }

    /// Writes a line to it, and reads the numbers of its answer.
    func ask(_ line: String, within seconds: CInt = 30) throws -> [Int64] {
        try tell(line)
        return try numbers(within: seconds)
    }

    /// Reads its next line as numbers.
    ///
    /// - Throws: the line itself as an error, if it does not consist of numbers. A child that failed writes
    ///   the reason.
    func numbers(within seconds: CInt = 30) throws -> [Int64] {
        let line = try self.line(within: seconds)
        let words = line.split(separator: " ")
        let numbers = words.compactMap { Int64($0) }
        guard numbers.count == words.count else { throw Failure(line) }
        return numbers
    }

    /// The time in seconds after which a child that was asked to end is killed.
    private static let patience: Int64 = 10

    /// Ends the process, and waits until it has ended.
    func end() {
        guard !hasEnded else { return }
        kill(pid, SIGTERM)
        let deadline = Clock.now() + Self.patience * 1_000_000_000
        var status: CInt = 0
        while waitpid(pid, &status, WNOHANG) == 0 {
            if Clock.now() > deadline { kill(pid, SIGKILL) }
            usleep(1_000)
        }
        close()
    }

    /// Waits until the process ends.
    func waitForEnd() {
        guard !hasEnded else { return }
        var status: CInt = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        close()
    }

    private func close() {
        hasEnded = true
        Glibc.close(input)
        Glibc.close(output)
    }
}
