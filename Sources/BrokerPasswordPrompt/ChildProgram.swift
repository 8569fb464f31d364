import CBrokerLinux
import Glibc

/// A child program. The kernel ends it when this process ends (`PR_SET_PDEATHSIG`).
///
/// Pass an absolute path and the complete environment. The child runs with this process's privileges, so the
/// installed agent drops its setgid group before it starts a child.
public final class ChildProgram {
    private var process: pid_t?

    /// - Parameters:
    ///   - arguments: the arguments without the program's own name.
    ///   - told: a descriptor that becomes the child's descriptor 3; -1 for none.
    /// - Returns: `nil` if the program cannot be started.
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

    /// Whether the child still runs.
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
        // The child must not outlive this object: SIGTERM first, then SIGKILL after about 500 ms.
        for _ in 0..<50 where waitpid(process, &status, WNOHANG) == 0 { poll(nil, 0, 10) }
        if isRunning {
            kill(process, SIGKILL)
            waitpid(process, &status, 0)
        }
        self.process = nil
    }
}

/// Passes strings as a null-terminated C array, which is valid only inside `body`.
public func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return (copies + [nil]).withUnsafeBufferPointer { list in
        guard let start = list.baseAddress else { preconditionFailure("a list with a null at its end is not empty") }
        return body(start)
    }
}
