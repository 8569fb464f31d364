import CBrokerLinux
import Glibc

/// A program that this one started; it ends when this one does.
///
/// Started by an absolute path, with an environment made here, and only once the group is given up.
public final class ChildProgram {
    private var process: pid_t?

    /// - Parameters:
    ///   - arguments: without the program's own name.
    ///   - told: a descriptor that becomes its descriptor 3.
    /// - Returns: `nil` where it cannot be started.
    public init?(_ path: String, _ arguments: [String], environment: [String], told: CInt = -1) {
        guard access(path, X_OK) == 0 else { return nil }
        var child: pid_t = 0
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let started = withCStrings([name] + arguments) { arguments in
            withCStrings(environment) { clinux_start(path, arguments, $0, told, &child) }
        }
        guard started == 0 else { return nil }
        process = child
    }

    deinit { end() }

    /// Whether it still runs.
    public var isRunning: Bool {
        guard let process else { return false }
        if clinux_has_child_ended(process) == 0 { return true }
        self.process = nil
        return false
    }

    public func end() {
        guard let process, isRunning else { return }
        kill(process, SIGTERM)
        var status: CInt = 0
        // Of no use any more, and not to be left behind: one that does not end by being asked is ended.
        for _ in 0..<50 where waitpid(process, &status, WNOHANG) == 0 { poll(nil, 0, 10) }
        if isRunning {
            kill(process, SIGKILL)
            waitpid(process, &status, 0)
        }
        self.process = nil
    }
}

/// Hands over texts as C has lists of them, ended by a null pointer. They are valid within the body.
public func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return (copies + [nil]).withUnsafeBufferPointer { list in
        guard let start = list.baseAddress else { preconditionFailure("a list with an end is not empty") }
        return body(start)
    }
}
