import CBrokerLinux
import CTestCaller
import Glibc
import Synchronization
import Testing
import ThreadSanitizer

@testable import BrokerPeerIdentity

/// Locked while a program is written or started. Otherwise a new process, between fork and exec, could keep a program
/// open that another test is writing. A file that is open for writing cannot be executed.
private let starting = Mutex(())

/// A temporary folder below /tmp that everybody may enter.
final class Folder {
    let path: String

    init() throws {
        var template = Array("/tmp/peer-XXXXXX".utf8CString)
        let made = try #require(mkdtemp(&template))
        path = String(cString: made)
        chmod(path, 0o755)
    }

    deinit {
        for name in names { unlink(path + "/" + name) }
        rmdir(path)
    }

    private var names: [String] {
        var found = glob_t()
        defer { globfree(&found) }
        // GLOB_PERIOD, which Swift's Glibc lacks: includes hidden files.
        guard glob(path + "/*", 1 << 7, nil, &found) == 0 else { return [] }
        return (0..<Int(found.gl_pathc)).compactMap { found.gl_pathv[$0].map { String(cString: $0) } }
            .map { String($0.dropFirst(path.count + 1)) }.filter { $0 != "." && $0 != ".." }
    }

    func write(_ bytes: [UInt8], to name: String, mode: mode_t = 0o644) throws -> String {
        let file = open(path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        try #require(file >= 0)
        defer { close(file) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            try #require(count > 0)
            rest = rest.dropFirst(count)
        }
        return path + "/" + name
    }

    /// A copy of a program under another name. Additional bytes at the end change its hash, and nothing reads them.
    func copy(of program: String, as name: String, ending: [UInt8] = []) throws -> String {
        let file = open(program, O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        guard case .found(let bytes) = readAll(file, limit: 256 * 1_048_576) else {
            throw TestFailure.unreadable(program)
        }
        return try starting.withLock { _ in try write(bytes + ending, to: name, mode: 0o755) }
    }
}

enum TestFailure: Error {
    case unreadable(String)
    case notStarted(errno: CInt)
}

/// A process that has connected and runs a program.
final class TestCaller {
    struct Plan {
        /// The program and its arguments. With `nil`, the process only waits until its socket is closed.
        var arguments: [String]? = ["/bin/cat"]
        var uid: UInt32?
        var root: String?
        var joins: String?
        var ownMountNamespace = false
        var ownUserNamespace = false
        var inMemory = false
        var terminal = Position.none
        /// The PID; `nil` for any free one.
        var number: Int32?

        enum Position: CInt { case none, leader, childOfLeader }
    }

    /// The started process: the caller, or the leader of its session.
    let started: Int32
    /// The broker's end.
    private(set) var socket: CInt
    private let terminal: CInt
    private let folder: Folder
    private var isReaped = false

    init(_ plan: Plan = Plan()) throws {
        folder = try Folder()
        let path = folder.path + "/socket"
        let listener = test_caller_listen(path)
        try #require(listener >= 0)
        defer { close(listener) }
        // Strings that stay valid during the call.
        let texts: [UnsafeMutablePointer<CChar>?] = (plan.arguments ?? []).map { strdup($0) } + [nil]
        defer { for text in texts { free(text) } }
        var terminal: CInt = -1
        started = texts.withUnsafeBufferPointer { texts in
            path.withCString { path in
                Self.withOptionalCString(plan.root) { root in
                    Self.withOptionalCString(plan.joins) { joins in
                        var raw = test_caller_plan(
                            socket_path: path, arguments: plan.arguments == nil ? nil : texts.baseAddress,
                            uid: plan.uid.map(Int64.init) ?? -1, root: root, joins: joins,
                            own_mount_namespace: plan.ownMountNamespace ? 1 : 0,
                            own_user_namespace: plan.ownUserNamespace ? 1 : 0,
                            in_memory: plan.inMemory ? 1 : 0, on_terminal: plan.terminal.rawValue,
                            number: plan.number ?? 0)
                        let deadline = ContinuousClock.now + .seconds(5)
                        while true {
                            let result = starting.withLock { _ in test_caller_start(&raw, &terminal) }
                            guard result == -ETXTBSY, .now < deadline else { return result }
                            // Another test has just forked, and its child has not executed its program yet. Our caller
                            // connected before it failed, so accept its connection and close it.
                            close(accept(listener, nil, nil))
                            if terminal >= 0 { close(terminal) }
                        }
                    }
                }
            }
        }
        self.terminal = terminal
        socket = -1
        guard started > 0 else { throw TestFailure.notStarted(errno: -started) }
        socket = accept(listener, nil, nil)
        try #require(socket >= 0)
    }

    deinit {
        closeSocket()
        if started > 0, !isReaped {
            Glibc.kill(started, SIGKILL)
            _ = test_caller_wait(started, 0)
        }
        if terminal >= 0 { close(terminal) }
    }

    private static func withOptionalCString<Result>(
        _ text: String?, _ body: (UnsafePointer<CChar>?) -> Result
    ) -> Result {
        text.map { $0.withCString { body($0) } } ?? body(nil)
    }

    func closeSocket() {
        if socket >= 0 { close(socket) }
        socket = -1
    }

    /// Closes the process's input, so that the process ends, and waits for that.
    func end(reaping: Bool = true) {
        shutdown(socket, CInt(SHUT_RDWR))
        _ = test_caller_wait(started, reaping ? 0 : 1)
        isReaped = reaping
    }

    func kill(_ signal: CInt) { Glibc.kill(started, signal) }

    /// Sends a line and returns its reply.
    func exchange(_ line: String) throws -> String {
        try send(line)
        var answer = [UInt8](repeating: 0, count: 256)
        let count = read(socket, &answer, 256)
        return String(decoding: answer.prefix(max(count, 0)), as: UTF8.self)
    }

    func send(_ line: String) throws {
        let bytes = Array((line + "\n").utf8)
        // Without SIGPIPE: if the process has ended, only this test must fail.
        try #require(Glibc.send(socket, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count)
    }

    /// The evidence about this process.
    func evidence(with source: some EvidenceSource) throws -> Evidence {
        try source.collectInTheEnd(PeerHandle(socket: socket))
    }
}

/// The features that this machine permits. A test that needs more is skipped with a reason.
enum Machine {
    static let isRoot = geteuid() == 0
    static let python: String? = ["/usr/bin/python3", "/usr/local/bin/python3"].first { access($0, X_OK) == 0 }
    static let hasPeerPidfd = HostFacts.read().hasPeerPidfd
    /// Not with the thread sanitizer: its system calls are not in the helper's list.
    static let canRunHelper = isRoot && !ThreadSanitizer.isPresent
    static let helperNeeds: Comment =
        "needs root, and no thread sanitizer, whose system calls the helper's filter blocks"

    static let canMakeNamespaces: Bool = {
        var plan = TestCaller.Plan()
        plan.ownMountNamespace = true
        plan.ownUserNamespace = true
        return (try? TestCaller(plan)) != nil
    }()

    /// Whether a process can get the PID of an ended one.
    static let canChooseNumbers: Bool = {
        guard let ended = try? TestCaller() else { return false }
        ended.end()
        var plan = TestCaller.Plan()
        plan.number = ended.started
        do {
            return try TestCaller(plan).started == ended.started
        } catch TestFailure.notStarted(let errno) {
            return errno == EEXIST
        } catch {
            return false
        }
    }()

    static let canMount: Bool = {
        guard isRoot, let folder = try? Folder() else { return false }
        guard mount(folder.path, folder.path, nil, UInt(MS_BIND), nil) == 0 else { return false }
        return umount2(folder.path, 0) == 0
    }()

    /// The unified hierarchy, if groups can be made there and no service manager controls it.
    static let controlGroups: String? = {
        guard isRoot, access("/run/systemd/system", F_OK) != 0 else { return nil }
        return ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].first {
            access($0 + "/cgroup.controllers", R_OK) == 0 && access($0 + "/cgroup.procs", W_OK) == 0
        }
    }()
}
