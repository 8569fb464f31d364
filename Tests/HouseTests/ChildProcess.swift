import CBrokerLinux
import Glibc

/// A program that a test runs. It is killed and reaped at the latest when nobody holds it any more.
final class ChildProcess {
    enum End: Hashable {
        case exited(CInt)
        case signalled(CInt)
    }

    let pid: pid_t
    private(set) var end: End?
    /// Readable once the program has ended, pidfd_open(2).
    private let handle: CInt

    /// - Parameters:
    ///   - environment: all of the program's environment.
    ///   - descriptors: what the program finds at which of its descriptors; nothing else is handed on.
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
        // POSIX_SPAWN_SETSID: no controlling terminal, so that a test means the same whether a person runs it or not.
        posix_spawnattr_setflags(&attributes, 0x80)
        for (at, of) in descriptors { posix_spawn_file_actions_adddup2(&actions, of, at) }
        // Whoever started the tests may have left descriptors open to every program. Closing one that is not open is no
        // error.
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

    /// Stops it, and returns once all of it stands still; SIGCONT lets it go on.
    func pause() throws {
        signal(SIGSTOP)
        var status: CInt = 0
        while waitpid(pid, &status, WUNTRACED) < 0, errno == EINTR {}
        // As the macro WIFSTOPPED of wait(2) reads it.
        guard status & 0xFF == 0x7F else { throw Trouble("a program ended instead of being stopped") }
    }

    /// The program that the process runs now.
    var executable: String {
        var path = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/\(pid)/exe", &path, path.count)
        return String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// `kill -9`, and reaps it.
    func kill() {
        guard end == nil else { return }
        Glibc.kill(pid, SIGKILL)
        reap(0)
    }

    /// Whether it has ended within the time.
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
        // As the macros WIFEXITED, WEXITSTATUS and WTERMSIG of wait(2) read it.
        end = status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .signalled(status & 0x7F)
    }
}

/// Why a test cannot go on.
struct Trouble: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension ContinuousClock.Instant {
    /// Rounded up, and never below zero, for poll(2).
    var millisecondsLeft: CInt {
        let (seconds, fraction) = ContinuousClock.now.duration(to: self).components
        return CInt(clamping: max(0, seconds * 1_000 + fraction / 1_000_000_000_000_000 + 1))
    }
}
