import BrokerAccessControl
import CBrokerIdentify
import CTestCaller
import Dispatch
import Glibc
import Synchronization
import Testing

@testable import BrokerPeerIdentity

/// The built `contactbroker-identify`, started as by systemd, on a socket of the test.
final class RunningHelper {
    let pid: pid_t
    let path: String
    private let folder: Folder
    private let listener: CInt

    /// The path of the program that was built with the tests.
    static let program: String = {
        var path = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &path, path.count)
        let executable = String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let bundle = CommandLine.arguments.first { $0.hasPrefix("/") && $0.hasSuffix(".xctest") } ?? executable
        return bundle.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/contactbroker-identify"
    }()

    /// - Parameter arguments: the helper's arguments, such as `--for-uid`.
    init(_ arguments: [String] = []) throws {
        folder = try Folder()
        path = folder.path + "/identify.sock"
        listener = identify_listen(path)
        try #require(listener >= 0)
        // The socket listens before the helper starts, so that early requests wait in its queue.
        let words = ["/bin/sh", "-c", #"LISTEN_FDS=1 LISTEN_PID=$$ exec "$@""#, "sh", Self.program] + arguments
        pid = try Self.start(words, passing: listener)
        // Wait for the reply to an invalid request, so that tests do not measure the start.
        _ = try say([1], [])
    }

    deinit {
        kill(pid, SIGKILL)
        _ = Self.status(of: pid)
        close(listener)
    }

    static func start(_ words: [String], passing descriptor: CInt? = nil) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let descriptor { posix_spawn_file_actions_adddup2(&actions, descriptor, 3) }
        var texts = words.map { strdup($0) }
        texts.append(nil)
        defer { for text in texts { free(text) } }
        var pid: pid_t = 0
        try #require(posix_spawn(&pid, words[0], &actions, nil, texts, environ) == 0)
        return pid
    }

    /// Waits until the process ends. Returns its exit status, or the negative number of the signal that ended it.
    @discardableResult
    static func status(of pid: pid_t) -> CInt {
        var status: CInt = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f)
    }

    func client() throws -> IdentifyClient { try IdentifyClient(socket: path) }

    /// The current workers, idle and busy.
    var workers: [pid_t] { Self.workers(of: pid) }
    /// The number of workers at one moment. The kernel does not list children at one moment, so that a list can have a
    /// worker that has ended and the one after it. Those of two lists in a row were all there between the lists.
    var workersAtOnce: Int { Set(workers).intersection(workers).count }
    /// The workers that are handling a request.
    var busyWorkers: [pid_t] { Self.busyWorkers(of: pid) }

    private static func workers(of pid: pid_t) -> [pid_t] {
        guard case .found(let text) = contents(ofFile: "/proc/\(pid)/task/\(pid)/children") else { return [] }
        return String(decoding: text, as: UTF8.self).split(separator: " ").compactMap { pid_t($0) }
    }

    /// A busy worker has closed standard input. An ended one has no descriptors at all.
    private static func busyWorkers(of pid: pid_t) -> [pid_t] {
        workers(of: pid).filter { access("/proc/\($0)/fd/0", F_OK) != 0 && access("/proc/\($0)/fd/3", F_OK) == 0 }
    }

    /// A field of the helper's `/proc/PID/status`.
    func status(_ field: String) -> String? {
        guard case .found(let text) = contents(ofFile: "/proc/\(pid)/status") else { return nil }
        return String(decoding: text, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix(field + ":\t") }.map { String($0.dropFirst(field.utf8.count + 2)) }
    }

    /// As ``sayOnce(_:_:)``, but retries if the helper hangs up: on a machine that stalls for half a second, the kernel
    /// kills healthy workers.
    func say(_ bytes: [UInt8], _ descriptors: [CInt]) throws -> UInt32? {
        let end = ContinuousClock.now + .seconds(20)
        while true {
            let outcome = try sayOnce(bytes, descriptors)
            guard outcome == nil, .now < end else { return outcome }
        }
    }

    /// Sends bytes and descriptors, and returns the reply's outcome; `nil` if the helper only hangs up.
    func sayOnce(_ bytes: [UInt8], _ descriptors: [CInt]) throws -> UInt32? {
        var descriptors = descriptors
        var outcome: UInt32 = 0
        let result = bytes.withUnsafeBufferPointer {
            test_identify_say(path, $0.baseAddress, $0.count, &descriptors, descriptors.count, &outcome)
        }
        try #require(result >= 0)
        return result == 0 ? nil : outcome
    }

    /// As ``sayOnce(_:_:)``, while a busy worker gets a signal. SIGSTOP stops it as a file system could.
    func sayOnce(
        _ bytes: [UInt8], _ descriptors: [CInt], signallingWorkers signal: CInt
    ) throws -> (outcome: UInt32?, isSignalled: Bool) {
        let watched = pid
        let isOver = Atomic(false)
        let isSignalled = Atomic(false)
        let signaller = DispatchGroup()
        // A new queue gets its own thread, however busy the others are.
        DispatchQueue(label: "signaller").async(group: signaller) {
            while !isOver.load(ordering: .relaxed), !isSignalled.load(ordering: .relaxed) {
                let worker = Self.busyWorkers(of: watched).first { kill($0, signal) == 0 }
                isSignalled.store(worker != nil, ordering: .relaxed)
            }
        }
        defer {
            isOver.store(true, ordering: .relaxed)
            signaller.wait()
        }
        return (try sayOnce(bytes, descriptors), isSignalled.load(ordering: .relaxed))
    }

    static func request(_ change: (inout identify_request) -> Void = { _ in }) -> [UInt8] {
        var request = identify_request(magic: IDENTIFY_MAGIC, wants: 0, reserved: 0)
        change(&request)
        return withUnsafeBytes(of: request) { Array($0) }
    }
}

/// Whether the condition becomes true. Polls, because a list of children that changes while it is read can lack one
/// (proc(5)).
func comes(_ condition: () -> Bool) -> Bool {
    let deadline = ContinuousClock.now + .seconds(20)
    while .now < deadline { if condition() { return true } }
    return false
}

extension IdentifyClient {
    /// As ``check(_:_:)``, but retries: on a machine that stalls for half a second, the kernel kills healthy workers.
    func checkInTheEnd(_ peer: PeerHandle, _ evidence: Evidence) -> ExecutableCheck {
        let end = ContinuousClock.now + .seconds(20)
        while true {
            let found = check(peer, evidence)
            guard found == .unknown, .now < end else { return found }
        }
    }
}

extension EvidenceSource {
    /// As ``collect(_:)``, but retries after a timeout, and after no other error: on a machine that stalls for half a
    /// second, the kernel kills healthy workers.
    func collectInTheEnd(
        _ peer: PeerHandle, until end: ContinuousClock.Instant = .now + .seconds(20), orElse: () -> Void = {}
    ) throws(PeerError) -> Evidence {
        while true {
            do {
                return try collect(peer)
            } catch {
                guard case .unreadable(_, ETIMEDOUT) = error, .now < end else { throw error }
                orElse()
            }
        }
    }
}
