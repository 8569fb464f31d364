import CBrokerLinux
import Glibc

/// A program that a test runs. `deinit` kills and reaps it if it still runs.
final class ChildProcess {
    enum End: Hashable {
        case exited(CInt)
        case signalled(CInt)
    }

    let pid: pid_t
    private(set) var end: End?
    /// A pidfd; it becomes readable when the program ends, see pidfd_open(2).
    private let handle: CInt

    /// - Parameters:
    ///   - environment: the program's whole environment.
    ///   - descriptors: the test's descriptors that the program gets, each with its number there. Of all others, it
    ///     inherits only 0 to 2.
    init(
        _ path: String, _ arguments: [String] = [], environment: [String: String] = ["PATH": "/usr/bin:/bin"],
        descriptors: [(at: CInt, of: CInt)]
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        // 0x80 is POSIX_SPAWN_SETSID. Without a controlling terminal, a test has the same result whether or not a
        // person runs it.
        posix_spawnattr_setflags(&attributes, 0x80)
        for (at, of) in descriptors { posix_spawn_file_actions_adddup2(&actions, of, at) }
        // The program that started the tests may have left descriptors open to every child. Closing a number that is
        // not open is not an error.
        for number in CInt(3)..<256 where !descriptors.contains(where: { $0.at == number }) {
            posix_spawn_file_actions_addclose(&actions, number)
        }
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var child: pid_t = 0
        let code = posix_spawn(&child, path, &actions, &attributes, &words, &variables)
        guard code == 0 else { throw Trouble("could not start \(path): \(String(cString: strerror(code)))") }
        pid = child
        handle = clinux_pidfd_open(child)
    }

    deinit {
        kill()
        close(handle)
    }

    func signal(_ number: CInt) {
        if end == nil { Glibc.kill(pid, number) }
    }

    /// Sends SIGSTOP and returns once every thread of the process has stopped; SIGCONT lets it continue.
    func pause() throws {
        signal(SIGSTOP)
        var status: CInt = 0
        while waitpid(pid, &status, WUNTRACED) < 0, errno == EINTR {}
        // The macro WIFSTOPPED of wait(2).
        guard status & 0xFF == 0x7F else { throw Trouble("a program ended instead of being stopped") }
    }

    /// The path of the program that the process runs now.
    var executable: String {
        var path = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/\(pid)/exe", &path, path.count)
        return String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Sends SIGKILL and reaps the process.
    func kill() {
        guard end == nil else { return }
        Glibc.kill(pid, SIGKILL)
        reap(0)
    }

    /// Whether the program ends within this time.
    func hasEnded(within time: Duration) -> Bool {
        if end != nil { return true }
        var waiting = pollfd(fd: handle, events: Int16(POLLIN), revents: 0)
        let deadline = ContinuousClock.now + time
        while poll(&waiting, 1, deadline.millisecondsLeft) < 0, errno == EINTR {}
        reap(WNOHANG)
        return end != nil
    }

    @discardableResult
    func waitForEnd(within time: Duration = .seconds(20)) throws -> End {
        guard hasEnded(within: time), let end else { throw Trouble("a program did not end") }
        return end
    }

    private func reap(_ options: CInt) {
        var status: CInt = 0
        var reaped: pid_t
        repeat { reaped = waitpid(pid, &status, options) } while reaped < 0 && errno == EINTR
        guard reaped == pid else { return }
        // The macros WIFEXITED, WEXITSTATUS and WTERMSIG of wait(2).
        end = status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .signalled(status & 0x7F)
    }
}

/// The reason why a test cannot continue.
struct Trouble: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension ContinuousClock.Instant {
    /// The milliseconds until this instant, rounded up and never negative, for poll(2).
    var millisecondsLeft: CInt {
        let (seconds, fraction) = ContinuousClock.now.duration(to: self).components
        return CInt(clamping: max(0, seconds * 1_000 + fraction / 1_000_000_000_000_000 + 1))
    }
}
