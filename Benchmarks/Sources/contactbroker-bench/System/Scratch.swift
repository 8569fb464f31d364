import CSQLite
import Glibc

/// The folders of one run, and the broker that uses them.
final class Scratch {
    /// The folder for the broker's state. It is in the build folder and so on a real disk, because `/tmp` may
    /// be in memory, where a sync costs nothing.
    let state: String
    let runtime: String
    private let build: String
    /// The folder for copies of this program.
    private let programs: String
    private let keepsState: Bool
    private var broker: ChildProcess?

    /// - Parameters:
    ///   - build: the build folder of contactbroker.
    ///   - kept: the name of a folder in the build folder whose state the next run reuses; `nil` creates a
    ///     folder that is removed after the run.
    ///   - inMemory: whether the state is in memory, so that no call waits for a disk.
    init(build: String, kept: String? = nil, inMemory: Bool = false) throws {
        self.build = build
        keepsState = kept != nil
        if let kept {
            state = "\(build)/\(kept)"
            guard mkdir(state, 0o700) == 0 || errno == EEXIST else { throw Failure(system: "could not make \(state)") }
        } else {
            state = try Self.make("\(inMemory ? "/dev/shm" : build)/bench.XXXXXX")
        }
        // Nothing in /dev/shm may be executed on some machines.
        programs = inMemory ? try Self.make("\(build)/bench.XXXXXX") : state
        // The path of a socket has at most 107 bytes (unix(7)).
        runtime = try Self.make("/tmp/contactbroker-bench.XXXXXX")
    }

    private static func make(_ template: String) throws -> String {
        var name = Array(template.utf8CString)
        guard mkdtemp(&name) != nil else { throw Failure(system: "could not make a folder like \(template)") }
        return String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    var apps: String { runtime + "/apps/io.contactbroker.Contacts" }
    var admin: String { runtime + "/admin/io.contactbroker.Admin" }
    var agent: String { runtime + "/agent/io.contactbroker.Agent" }
    var brokerProcess: pid_t { broker?.pid ?? 0 }

    /// Returns the path of a program that is measured.
    func program(_ name: String) -> String { "\(build)/release/\(name)" }

    /// The variables by which the person's programs find the broker.
    var environment: [String] { ["CONTACTBROKER_RUNTIME_DIR=" + runtime, "XDG_STATE_HOME=" + state + "/own"] }

    /// The broker's arguments. The configuration folder does not exist, so no policy applies.
    private var arguments: [String] {
        ["--session", "--runtime-dir", runtime, "--state-dir", state, "--config-dir", state + "/config"]
    }

    /// Starts the broker without waiting until it serves.
    func launchBroker() throws {
        broker = try ChildProcess(program("contactbrokerd"), arguments, readsErrors: true)
    }

    /// Starts the broker, and waits until it serves.
    func startBroker() throws {
        try launchBroker()
        try waitForBroker(within: 10)
    }

    /// Ends the broker, and starts it again under callgrind.
    func startCountedBroker() throws -> InstructionCounter {
        stopBroker()
        let counter = try InstructionCounter(program("contactbrokerd"), arguments, folder: programs)
        broker = counter.broker
        try waitForBroker(within: 120)
        return counter
    }

    private func waitForBroker(within seconds: CInt) throws {
        while try broker?.line(within: seconds).contains("serving") == false {}
    }

    func stopBroker() {
        broker?.end()
        broker = nil
    }

    /// The size of the audit's write-ahead log, in bytes.
    var auditLogSize: Int {
        var status = stat()
        return stat(state + "/access.sqlite-wal", &status) == 0 ? Int(status.st_size) : 0
    }

    /// Copies this program under another name. For the broker, the copy is another app.
    func copyProgram(as name: String) throws -> String {
        let path = programs + "/" + name
        unlink(path)
        let source = open(Role.program, O_RDONLY | O_CLOEXEC)
        let target = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o700)
        guard source >= 0, target >= 0 else { throw Failure(system: "could not copy \(Role.program)") }
        defer {
            close(source)
            close(target)
        }
        while true {
            let count = sendfile(target, source, nil, 16 * 1_048_576)
            guard count != 0 else { return path }
            guard count > 0 else { throw Failure(system: "could not copy \(Role.program)") }
        }
    }

    /// Ends the broker and removes the folders of the run, except a state folder that is kept.
    func remove() {
        broker?.end()
        for folder in keepsState ? [runtime] : [state, programs, runtime] { Self.remove(folder) }
    }

    /// Removes everything in the state's folder.
    func empty() throws {
        Self.remove(state)
        guard mkdir(state, 0o700) == 0 else { throw Failure(system: "could not make \(state)") }
    }

    /// Starts the broker again, with or without the bin of the address book. Only in the file does that take effect at once:
    /// a running broker turns a bin off a day later.
    func restartBroker(keepingBin keeps: Bool) throws {
        stopBroker()
        var opened: OpaquePointer?
        let path = "\(state)/users/\(getuid())/contacts.sqlite"
        let sql = "UPDATE book SET binDays = \(keeps ? "NULL" : "0")"
        let isDone = sqlite3_open(path, &opened) == SQLITE_OK && sqlite3_exec(opened, sql, nil, nil, nil) == SQLITE_OK
        let reason = String(cString: sqlite3_errmsg(opened))
        sqlite3_close_v2(opened)
        guard isDone else { throw Failure("could not turn the bin on or off: \(reason)") }
        try startBroker()
    }

    /// The size of the address book's file, in bytes.
    var bookSize: Int {
        var status = stat()
        return stat("\(state)/users/\(getuid())/contacts.sqlite", &status) == 0 ? Int(status.st_size) : 0
    }

    /// Identifies the version of the benchmark that made the state. It is written last, so an incomplete
    /// state has none.
    var maker: String? {
        get {
            guard let file = fopen(state + "/maker", "r") else { return nil }
            defer { fclose(file) }
            var buffer = [UInt8](repeating: 0, count: 64)
            let count = fread(&buffer, 1, buffer.count, file)
            return String(decoding: buffer[..<count], as: UTF8.self)
        }
        set {
            guard let newValue, let file = fopen(state + "/maker", "w") else { return }
            fputs(newValue, file)
            fclose(file)
        }
    }

    /// Removes a file, or a folder with everything in it.
    private static func remove(_ path: String) {
        guard Glibc.remove(path) != 0, let folder = opendir(path) else { return }
        var names: [String] = []
        while let entry = readdir(folder) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        closedir(folder)
        for name in names where name != "." && name != ".." { remove(path + "/" + name) }
        _ = Glibc.remove(path)
    }
}
