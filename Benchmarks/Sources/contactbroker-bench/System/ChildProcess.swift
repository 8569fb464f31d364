import Glibc

/// A process of ours, its standard input and output in our hands.
final class ChildProcess {
    let pid: pid_t
    private let input: CInt
    private let output: CInt
    private var received: [UInt8] = []
    private var hasEnded = false

    /// - Parameters:
    ///   - readsErrors: what it says to standard error is what we read, in place of its output.
    ///   - socket: becomes its standard input; nothing can be told to it then.
    ///   - environment: what it has besides our own, `NAME=value` each.
    init(
        _ path: String, _ arguments: [String], readsErrors: Bool = false, socket: CInt? = nil,
        environment: [String] = []
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
        var texts = ([path] + arguments).map { strdup($0) }
        texts.append(nil)
        defer { for text in texts { free(text) } }
        var variables = (environment + Self.environment).map { strdup($0) }
        variables.append(nil)
        defer { for text in variables { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, path, &actions, nil, texts, variables)
        for descriptor in [toChild[0], fromChild[1]] { close(descriptor) }
        guard code == 0 else { throw Failure(system: "could not start \(path)", code) }
        self.pid = pid
        input = toChild[1]
        output = fromChild[0]
    }

    deinit { end() }

    /// Our own. Of two variables of one name the first counts.
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
        guard write(input, bytes, bytes.count) == bytes.count else { throw Failure(system: "a child has ended") }
    }

    /// The next line that it says.
    ///
    /// - Parameter seconds: how long to wait for it.
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
            guard left > 0, poll(&waiting, 1, CInt(left)) > 0 else { throw Failure("a child says nothing") }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = read(output, &buffer, buffer.count)
            guard count > 0 else { throw Failure("a child ended: \(String(decoding: received, as: UTF8.self))") }
            received.append(contentsOf: buffer[..<count])
        }
    }

    /// Whether it has said something that was not read yet.
    func hasLine() -> Bool {
        if received.contains(UInt8(ascii: "\n")) { return true }
        var waiting = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, 0) > 0
    }

    /// Tells it something and takes the numbers that it answers.
    func ask(_ line: String, within seconds: CInt = 30) throws -> [Int64] {
        try tell(line)
        return try numbers(within: seconds)
    }

    /// The next line as numbers. A child that could not do something says so in words.
    func numbers(within seconds: CInt = 30) throws -> [Int64] {
        let line = try self.line(within: seconds)
        let words = line.split(separator: " ")
        let numbers = words.compactMap { Int64($0) }
        guard numbers.count == words.count else { throw Failure(line) }
        return numbers
    }

    /// Ends it, and waits until it has.
    func end() {
        guard !hasEnded else { return }
        kill(pid, SIGTERM)
        waitForEnd()
    }

    /// Waits until it has ended by itself.
    func waitForEnd() {
        guard !hasEnded else { return }
        hasEnded = true
        var status: CInt = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        close(input)
        close(output)
    }
}
