import Glibc

/// GNOME evolution-data-server for one run, with its own bus, home folders and address book, and without a
/// network.
///
/// It does not use the address book, the bus or the accounts of the user who runs the benchmark. Its
/// processes do not inherit the benchmark's environment, and use only folders of this run.
final class Peer {
    /// The library's version. Debian builds the library together with the services.
    let version: String
    /// An app that reads and writes over D-Bus (`overBus`), and one that reads the book's file itself
    /// (`atBest`).
    let overBus: ChildProcess
    let atBest: ChildProcess
    private let home: String
    private let runtime: String
    private let bus: ChildProcess

    static var program: String {
        get throws { try Role.program(onWorker: "contactbroker-bench-peer") }
    }

    private static let unshare = "/usr/bin/unshare"
    private static let busProgram = "/usr/bin/dbus-daemon"

    init(_ scratch: Scratch) throws {
        for program in [try Self.program, Self.unshare, Self.busProgram, "/usr/libexec/evolution-addressbook-factory"]
        where access(program, X_OK) != 0 {
            throw Failure("\(program) is missing; `make bench` installs and builds it where it can")
        }
        home = scratch.state + "/peer"
        // The path of the bus has at most 107 bytes (unix(7)), so the bus is in the runtime folder.
        runtime = scratch.runtime + "/peer"
        for folder in [home, runtime] where mkdir(folder, 0o700) != 0 {
            throw Failure(system: "could not make \(folder)")
        }
        let variables = Self.variables(home: home, runtime: runtime)
        // dbus-daemon gives its own environment to the services that it starts.
        bus = try Self.start(
            Self.busProgram, ["--session", "--nofork", "--print-address", "--address=" + Self.address(runtime)],
            variables, log: home + "/bus.log")
        _ = try bus.line(within: 10)
        (overBus, atBest) = (try Self.client(variables, home, runtime), try Self.client(variables, home, runtime))
        version = try overBus.ask("version").map(String.init).joined(separator: ".")
        _ = try overBus.ask("open dbus", within: 60)
    }

    private static func address(_ runtime: String) -> String { "unix:path=\(runtime)/bus" }

    private static func variables(home: String, runtime: String) -> [String] {
        [
            "HOME=\(home)", "XDG_DATA_HOME=\(home)/data", "XDG_CONFIG_HOME=\(home)/config",
            "XDG_CACHE_HOME=\(home)/cache", "XDG_STATE_HOME=\(home)/state", "XDG_RUNTIME_DIR=\(runtime)",
            "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8",
            // Keeps settings in memory, opens files by their paths, and uses neither NetworkManager nor the
            // system bus.
            "GSETTINGS_BACKEND=memory", "GIO_USE_VFS=local", "GIO_USE_NETWORK_MONITOR=base",
            "DBUS_SYSTEM_BUS_ADDRESS=unix:path=\(runtime)/none",
        ]
    }

    /// Starts a program without a network. The program gets SIGTERM when this process ends, however that
    /// happens.
    private static func start(
        _ program: String, _ arguments: [String], _ variables: [String], log: String
    ) throws -> ChildProcess {
        // Only root can create a network namespace without a user namespace.
        let namespaces = geteuid() == 0 ? ["--net"] : ["--user", "--map-current-user", "--net"]
        return try ChildProcess(
            unshare, namespaces + ["setpriv", "--pdeathsig", "TERM", program] + arguments, errorLog: log,
            environment: variables, inheritsEnvironment: false)
    }

    private static func client(_ variables: [String], _ home: String, _ runtime: String) throws -> ChildProcess {
        try start(
            program, [], variables + ["DBUS_SESSION_BUS_ADDRESS=" + address(runtime)], log: home + "/clients.log")
    }

    /// Starts another app, which has not opened the book.
    func client() throws -> ChildProcess {
        try Self.client(Self.variables(home: home, runtime: runtime), home, runtime)
    }

    /// Makes both apps read the contacts for which they search later.
    func learn(_ size: Int) throws {
        _ = try atBest.ask("open direct", within: 60)
        for app in [overBus, atBest] {
            guard try app.ask("learn", within: 120) == [Int64(size)] else {
                throw Failure("evolution-data-server did not import every contact")
            }
        }
    }

    // MARK: Processes

    /// Returns the resident memory of the bus and of the services, in bytes. Apps do not count.
    func memory() throws -> Int {
        try processes().filter { !$0.isApp }.map { try Memory(of: $0.pid).resident }.reduce(0, +)
    }

    /// Ends the services, so that the next call must start them. Apps that have the book open lose it.
    func stopServices() throws {
        let isService = { (process: Process) in !process.isApp && process.pid != self.bus.pid }
        guard end(where: isService) else { throw Failure("evolution-data-server does not end") }
    }

    /// Ends everything.
    func end() {
        for process in [overBus, atBest, bus] { process.end() }
        // The services end when they lose their bus.
        _ = end { _ in true }
    }

    private struct Process {
        let pid: pid_t
        let isApp: Bool
    }

    /// Returns the processes that have this run's runtime folder in their environment. These include all
    /// processes that the bus starts.
    private func processes() -> [Process] {
        guard let folder = opendir("/proc") else { return [] }
        defer { closedir(folder) }
        let variable = "XDG_RUNTIME_DIR=" + runtime
        let name = (try? Self.program) ?? ""
        var found: [Process] = []
        while let entry = readdir(folder) {
            let text = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let pid = pid_t(text), Self.strings("/proc/\(pid)/environ").contains(variable) else { continue }
            found.append(Process(pid: pid, isApp: Self.strings("/proc/\(pid)/cmdline").first == name))
        }
        return found
    }

    /// Returns the NUL-terminated strings of a file; none if the file cannot be read.
    private static func strings(_ path: String) -> [String] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&buffer, 1, buffer.count, file)
        return buffer[..<count].split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Asks processes to end, kills those that still run after five seconds, and gives up after ten seconds.
    ///
    /// - Returns: whether all have ended.
    private func end(where isMeant: (Process) -> Bool) -> Bool {
        let start = Clock.now()
        while true {
            let left = processes().filter(isMeant)
            if left.isEmpty { return true }
            let seconds = (Clock.now() - start) / 1_000_000_000
            if seconds >= 10 { return false }
            for process in left { kill(process.pid, seconds < 5 ? SIGTERM : SIGKILL) }
            usleep(20_000)
        }
    }
}
