import BrokerAccessControl
import Glibc
import PseudoTerminal
import Testing

@testable import BrokerSystem

/// A system bus for one test, with its socket in a temporary folder.
final class PrivateBus {
    let folder: String
    var address: String { "unix:path=\(folder)/socket" }
    private(set) var daemon: PseudoTerminal?
    let loop = WaitingLoop()

    /// Programs on terminals of this width break no line that a test waits for.
    static let columns = 250

    /// - Parameter others: what the bus allows beyond the rules of every system bus.
    init(
        allowing others: String =
            "<policy context=\"default\"><allow own=\"*\"/><allow send_destination=\"*\"/></policy>"
    ) throws {
        var template = Array("/tmp/polkit-test.XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try #require(chmod(folder, 0o755) == 0)
        try write(
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>system</type>
              <listen>\(address)</listen>
              <auth>EXTERNAL</auth>
              <policy context="default">
                <allow user="*"/>
                <deny own="*"/>
                <deny send_type="method_call"/>
                <allow send_type="signal"/>
                <allow send_requested_reply="true" send_type="method_return"/>
                <allow send_requested_reply="true" send_type="error"/>
                <allow receive_type="method_call"/>
                <allow receive_type="method_return"/>
                <allow receive_type="error"/>
                <allow receive_type="signal"/>
                <allow send_destination="org.freedesktop.DBus"/>
              </policy>
              \(others)
            </busconfig>
            """, to: "bus.conf")
    }

    deinit {
        daemon?.terminate()
        for name in ["socket", "bus.conf", "passwd", "shadow", "group", "actions/io.contactbroker.policy"] {
            unlink(folder + "/" + name)
        }
        rmdir(folder + "/actions")
        rmdir(folder)
    }

    func write(_ text: String, to name: String, mode: mode_t = 0o644) throws {
        let file = open(folder + "/" + name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        try #require(file >= 0)
        defer { close(file) }
        // Another test may change the umask meanwhile.
        try #require(fchmod(file, mode) == 0)
        let bytes = Array(text.utf8)
        try #require(Glibc.write(file, bytes, bytes.count) == bytes.count)
    }

    /// Starts the bus, and returns when it accepts connections.
    ///
    /// - Parameter words: a command that executes the bus; the bus's own command line follows.
    func start(by words: [String] = []) throws {
        let words =
            words + ["/usr/bin/dbus-daemon", "--config-file=\(folder)/bus.conf", "--nofork", "--nopidfile"]
            + ["--print-address=1"]
        let started = try PseudoTerminal(
            words[0], arguments: Array(words.dropFirst()), environment: Self.environment, columns: Self.columns)
        daemon = started
        try started.wait(for: "guid=")
    }

    static let environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "TERM": "xterm", "LC_ALL": "C.UTF-8"]

    /// Kills the bus, as in a crash.
    func kill() throws {
        let daemon = try #require(self.daemon)
        daemon.signal(SIGKILL)
        _ = try daemon.waitForExit()
    }

    func authority(wait: Duration = .seconds(20), patience: Duration = .seconds(20)) -> PolkitAuthority {
        PolkitAuthority(loop: loop, address: address, wait: wait, patience: patience)
    }

    /// Makes a password request and waits for the answer.
    func ask(
        _ action: AuthorityAction = .answer, of process: Subject = .ownProcess, app: String? = nil,
        mayInteract: Bool = true, by authority: PolkitAuthority? = nil
    ) throws -> AuthorityAnswer {
        let asked = Question(action, of: process, app: app, mayInteract: mayInteract, by: authority ?? self.authority())
        return try asked.answer(loop)
    }
}

/// A password request that was made.
final class Question {
    private(set) var said: AuthorityAnswer?
    private(set) var handle: (any AskedAuthority)?

    init(
        _ action: AuthorityAction = .answer, of process: Subject = .ownProcess, app: String? = nil,
        access: String? = nil, mayInteract: Bool = true, by authority: PolkitAuthority
    ) {
        let question = AuthorityQuestion(
            action: action, process: process.identity, uid: process.uid, app: app, access: access,
            mayInteract: mayInteract)
        handle = authority.ask(question) { [weak self] in self?.said = $0 }
    }

    func answer(_ loop: WaitingLoop) throws -> AuthorityAnswer {
        try #require(loop.run(seconds: 30) { said != nil }, "polkit was asked and did not answer")
        return try #require(said)
    }
}

/// The process that a password request is about.
struct Subject {
    let identity: ProcessIdentity
    let uid: UInt32

    init(pid: pid_t, uid: UInt32) {
        self.uid = uid
        identity = ProcessIdentity(pid: pid, startTime: Self.startTime(pid))
    }

    static let ownProcess = Subject(pid: getpid(), uid: getuid())

    /// Clock ticks since boot; 0 if there is no such process.
    static func startTime(_ pid: pid_t) -> UInt64 {
        let file = open("/proc/\(pid)/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(file, &bytes, bytes.count)
        let line = bytes.prefix(max(0, count))
        let fields = line[(line.lastIndex(of: UInt8(ascii: ")")) ?? 0)...].split(separator: UInt8(ascii: " "))
        return fields.count > 20 ? UInt64(String(decoding: fields[20], as: UTF8.self)) ?? 0 : 0
    }
}

/// The programs that this machine has, so that a test can say why it is skipped.
enum Machine {
    static func has(_ paths: String...) -> Bool { paths.allSatisfy { access($0, X_OK) == 0 } }

    static let hasBus = has("/usr/bin/dbus-daemon")
    static let canRunPolkit =
        hasBus && getuid() == 0
        && has(
            "/usr/lib/polkit-1/polkitd", "/usr/bin/pkttyagent", "/usr/bin/pkcheck", "/usr/bin/unshare",
            "/usr/bin/dbus-monitor")
        && canMount

    private static var canMount: Bool {
        let tried = try? PseudoTerminal(
            "/usr/bin/unshare", arguments: ["-m", "mount", "-t", "proc", "proc", "/proc"],
            environment: PrivateBus.environment)
        return (try? tried?.waitForExit()) == .exited(0)
    }
}
