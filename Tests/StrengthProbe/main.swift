import BrokerAccessControl
import BrokerPeerIdentity
import CTestCaller
import Glibc

// Starts callers of different identities, and prints how a broker identifies each. Must be process 1 of its own process
// namespace, so that it may inspect them: `unshare --pid --fork --mount-proc StrengthProbe HELPER`.

let uid: UInt32 = 54_321
let manifests = AppManifests([
    AppManifest(app: "org.example.Cat", name: "Cat", executables: ["/usr/bin/cat"]),
    AppManifest(app: "org.example.Copy", name: "Copy", executables: [Place.copy]),
    AppManifest(app: "org.example.Link", name: "Link", executables: ["/bin/cat", Place.folder + "/link"]),
    AppManifest(app: "org.example.Python", name: "Python", executables: ["/usr/bin/perl"]),
])

func stop(_ message: String) -> Never {
    print("could not: \(message): \(String(cString: strerror(errno)))")
    exit(1)
}

/// Files that only this mount namespace has.
enum Place {
    static let folder = "/tmp/probe"
    static let copy = folder + "/cat"
    static let marked = folder + "/root"

    static func make() {
        // Mount memory over the files of other tests. Only this mount namespace sees it.
        guard mount("probe", "/tmp", "tmpfs", 0, "mode=1777") == 0,
            mount("probe", "/run/systemd", "tmpfs", 0, "mode=755") == 0
        else { stop("mount") }
        for path in [folder, marked, "/run/systemd/units", "/run/systemd/transient"] { mkdir(path, 0o755) }
        write(contents(of: "/usr/bin/cat"), to: copy, mode: 0o755)
        symlink("/usr/bin/cat", folder + "/link")
        // The root is its own mount, as in a sandbox. For a root below another mount the kernel reports no file system.
        guard mount("probe", marked, "tmpfs", 0, "mode=755") == 0 else { stop("mount") }
        write("[Application]\nname=org.example.Mail\n[Instance]\ninstance-id=7\n", to: marked + "/.flatpak-info")
        for (unit, user) in [("probe.service", "User=\(uid)"), ("everybody.service", "")] {
            write("[Service]\n\(user)\n", to: "/run/systemd/transient/\(unit)")
            symlink("1", "/run/systemd/units/invocation:\(unit)")
        }
    }

    private static func contents(of path: String) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { stop(path) }
        defer { close(file) }
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(file, &piece, 65_536), count > 0 { all += piece[..<count] }
        return all
    }

    private static func write(_ text: String, to path: String) { write(Array(text.utf8), to: path, mode: 0o644) }

    private static func write(_ bytes: [UInt8], to path: String, mode: mode_t) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard file >= 0, Glibc.write(file, bytes, bytes.count) == bytes.count else { stop(path) }
        close(file)
    }
}

/// Control groups like a service manager's.
enum Groups {
    static let root: String? = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].first {
        access($0 + "/cgroup.controllers", R_OK) == 0 && access($0 + "/cgroup.procs", W_OK) == 0
    }
    nonisolated(unsafe) private static var made: [String] = []

    /// The file that moves a process into that group; `nil` without a writable cgroup v2 hierarchy.
    static func joining(_ path: String) -> String? {
        guard var group = root else { return nil }
        for part in path.split(separator: "/") {
            group += "/" + part
            if mkdir(group, 0o755) == 0 { made.append(group) }
        }
        return group + "/cgroup.procs"
    }

    static func remove() {
        for path in made.reversed() { rmdir(path) }
    }
}

struct Scenario {
    let name: String
    var arguments: [String]? = ["/usr/bin/cat"]
    var uid: UInt32? = 54_321
    var root: String?
    var group: String?
    var ownMountNamespace = false
    var ownUserNamespace = false
    /// Whether it prints a line once its identity is set up.
    var speaks = false
}

let manager = "/user.slice/user-\(uid).slice/user@\(uid).service/app.slice"
let flatpakScope = manager + "/app-flatpak-org.example.Mail-7.scope"

let scenarios = [
    Scenario(name: "installed"),
    Scenario(name: "copied", arguments: [Place.copy]),
    Scenario(name: "linked", arguments: [Place.folder + "/link"]),
    Scenario(name: "interpreter", arguments: ["/usr/bin/perl", "-e", "<STDIN>"]),
    Scenario(name: "userNamespace", uid: nil, ownUserNamespace: true),
    Scenario(name: "mountNamespace", uid: nil, ownMountNamespace: true),
    Scenario(
        name: "mountedOver",
        arguments: [
            "/usr/bin/unshare", "-Urm", "/bin/sh", "-c",
            "mount --bind \(Place.copy) /usr/bin/cat && echo ready && exec /usr/bin/cat",
        ], uid: nil, speaks: true),
    Scenario(name: "forgedFlatpak", arguments: nil, root: Place.marked, ownMountNamespace: true),
    Scenario(name: "forgedScope", group: flatpakScope),
    Scenario(name: "markInScopeOnly", arguments: nil, root: Place.marked, group: flatpakScope),
    Scenario(name: "flatpak", arguments: nil, root: Place.marked, group: flatpakScope, ownMountNamespace: true),
    Scenario(
        name: "flatpakOfAnother", arguments: nil, root: Place.marked,
        group: "/user.slice/user-54322.slice/user@54322.service/app.slice/app-flatpak-org.example.Mail-7.scope",
        ownMountNamespace: true),
    Scenario(
        name: "otherFlatpak", arguments: nil, root: Place.marked,
        group: manager + "/app-flatpak-org.example.Other-7.scope", ownMountNamespace: true),
    Scenario(name: "service", arguments: ["/usr/bin/perl", "-e", "<STDIN>"], group: "/system.slice/probe.service"),
    Scenario(name: "serviceOfAnother", uid: 54_322, group: "/system.slice/probe.service"),
    Scenario(name: "everybodysService", arguments: [Place.copy], group: "/system.slice/everybody.service"),
    Scenario(name: "inactiveService", arguments: [Place.copy], group: "/system.slice/stopped.service"),
    Scenario(name: "servicesName", arguments: [Place.copy], group: manager + "/probe.service"),
]

func exchange(_ line: String, after greeting: String, on connection: CInt) {
    var said = ""
    var byte: UInt8 = 0
    while said != greeting + line, read(connection, &byte, 1) == 1 {
        said.unicodeScalars.append(Unicode.Scalar(byte))
        if said == greeting { _ = write(connection, line, line.utf8.count) }
    }
}

func run(_ scenario: Scenario, _ sources: [(name: String, source: any EvidenceSource)]) {
    let group = scenario.group.map { Groups.joining($0) }
    if case .some(nil) = group { return print("\(scenario.name) skipped") }
    let listening = "/tmp/probe/door"
    let listener = test_caller_listen(listening)
    guard listener >= 0 else { stop("listen") }
    defer {
        close(listener)
        unlink(listening)
    }
    let words: [UnsafeMutablePointer<CChar>?] = (scenario.arguments ?? []).map { strdup($0) } + [nil]
    let root = scenario.root.map { strdup($0) }
    let joins = group.flatMap { $0 }.map { strdup($0) }
    var terminal: CInt = -1
    let path = strdup(listening)
    let pid = words.withUnsafeBufferPointer { words in
        var plan = test_caller_plan(
            socket_path: path, arguments: scenario.arguments == nil ? nil : words.baseAddress,
            uid: scenario.uid.map(Int64.init) ?? -1, root: root ?? nil, joins: joins ?? nil,
            own_mount_namespace: scenario.ownMountNamespace ? 1 : 0,
            own_user_namespace: scenario.ownUserNamespace ? 1 : 0, in_memory: 0, on_terminal: 0, number: 0)
        return test_caller_start(&plan, &terminal)
    }
    guard pid > 0 else { return print("\(scenario.name) not started: \(pid)") }
    let connection = accept(listener, nil, nil)
    // An echoed line shows that cat runs.
    if scenario.speaks { exchange("x\n", after: "ready\n", on: connection) }
    for (name, source) in sources {
        do throws(PeerError) {
            let evidence = try source.collect(PeerHandle(socket: connection))
            switch judge(evidence, manifests: manifests) {
            case .caller(let caller):
                print("\(scenario.name) \(name) \(caller.strength.rawValue) \(caller.app.prefix { $0 != " " })")
            case .refused(let refusal): print("\(scenario.name) \(name) refused \(refusal)")
            }
        } catch {
            print("\(scenario.name) \(name) failed \(error)")
        }
    }
    kill(pid, SIGKILL)
    _ = test_caller_wait(pid, 0)
    close(connection)
}

guard getpid() == 1 else { stop("this is not process 1") }
Place.make()
let helperSocket = "/tmp/probe/identify.sock"
let helper = startHelper(CommandLine.arguments[1], helperSocket)
let client = try IdentifyClient(socket: helperSocket)
var tries = 0
while !client.isAnswered() {
    tries += 1
    guard tries < 1_000_000 else { stop("the helper does not answer") }
}
let sources: [(name: String, source: any EvidenceSource)] = [
    ("itself", try EvidenceCollector(vantage: .system)), ("helper", client),
]
for scenario in scenarios { run(scenario, sources) }
kill(helper, SIGKILL)
_ = test_caller_wait(helper, 0)
Groups.remove()

func startHelper(_ program: String, _ socket: String) -> pid_t {
    let words: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup("--socket"), strdup(socket), nil]
    var pid: pid_t = 0
    guard posix_spawn(&pid, program, nil, nil, words, environ) == 0 else { stop(program) }
    return pid
}
