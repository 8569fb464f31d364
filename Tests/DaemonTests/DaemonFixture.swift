import BrokerJSON
import BrokerVarlinkClient
import Glibc
import Testing

/// A real broker with its sockets and databases in a temporary folder, and the programs that connect to it.
final class DaemonFixture {
    let folder: String
    var runtime: String { folder + "/run" }
    var state: String { folder + "/state" }
    /// The administrator's folder; it does not exist until a test writes settings or a policy.
    var configuration: String { folder + "/config" }
    private(set) var daemon: ChildProcess?
    private var companions: [String: Companion] = [:]
    private let surroundings: Surroundings

    static let people = [
        #""givenName":"Ada","familyName":"Lovelace","emailAddresses":[{"value":"ada@example.org"}],"#
            + #""phoneNumbers":[{"value":"+44 20 7946 0001"}],"note":"first programmer""#,
        #""givenName":"Grace","familyName":"Hopper","emailAddresses":[{"value":"grace@example.org"}]"#,
        #""givenName":"Lin","familyName":"Lanying","phoneNumbers":[{"value":"+86 10 5550 0003"}]"#,
        #""givenName":"Emmy","familyName":"Noether","note":"a note of hers""#,
    ]
    /// Sorted by family name.
    static let names = ["Grace Hopper", "Lin Lanying", "Ada Lovelace", "Emmy Noether"]

    /// The folder of the programs that were built with the tests.
    static let programs: String = {
        var path = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &path, path.count)
        let executable = String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let bundle = CommandLine.arguments.first { $0.hasPrefix("/") && $0.hasSuffix(".xctest") } ?? executable
        return bundle.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
    }()

    /// - Parameter starting: whether to start the broker now.
    init(starting: Bool = true, in surroundings: Surroundings = .asTheyAre) throws {
        self.surroundings = surroundings
        var template = Array("/tmp/house.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Trouble("no temporary folder") }
        folder = template.dropLast().map { UInt8(bitPattern: $0) }.reduce(into: "") {
            $0.unicodeScalars.append(Unicode.Scalar($1))
        }
        if let uid = surroundings.uid { chown(folder, uid, uid) }
        if starting { try start() }
    }

    deinit {
        daemon?.kill()
        companions = [:]
        Self.remove(folder)
    }

    // MARK: The broker

    /// Starts the broker and waits until it accepts connections on all its sockets.
    ///
    /// - Parameter prefix: a command that executes the broker; if `nil`, that of the surroundings.
    func start(by prefix: [String]? = nil) throws {
        let started = try launch(prefix: prefix)
        daemon = started
        try waitUntilServed(by: started)
    }

    /// Connects to each socket, because a socket's file exists before the broker listens on it.
    func waitUntilServed(by started: ChildProcess) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        for door in Self.doors {
            while true {
                guard .now < deadline else { throw Trouble("the broker does not serve: \(journal)") }
                if let client = try? VarlinkClient(path: runtime + "/" + door, timeout: .seconds(10)) {
                    client.close()
                    break
                }
                if started.hasEnded(within: .milliseconds(2)) {
                    throw Trouble("the broker ended at its start: \(journal)")
                }
            }
        }
    }

    /// Starts a broker on this fixture's folders and does not wait for it.
    ///
    /// - Parameter errors: the broker's standard error; if `nil`, this fixture's journal.
    func launch(prefix: [String]? = nil, arguments: [String] = [], errors: CInt? = nil) throws -> ChildProcess {
        let log = open(folder + "/journal", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
        let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer {
            close(log)
            close(nothing)
        }
        let words =
            (prefix ?? surroundings.entering(state: state)) + [
                Self.programs + "/contactbrokerd", "--session", "--runtime-dir", runtime, "--state-dir", state,
                "--config-dir",
                configuration,
            ] + arguments
        return try ChildProcess(
            words[0], Array(words.dropFirst()), descriptors: [(0, nothing), (1, log), (2, errors ?? log)])
    }

    /// Sends SIGTERM and waits for the broker to end.
    @discardableResult
    func stop() throws -> ChildProcess.End {
        guard let daemon else { throw Trouble("no broker runs") }
        self.daemon = nil
        daemon.signal(SIGTERM)
        return try daemon.waitForEnd()
    }

    /// Sends SIGKILL and reaps the broker.
    func kill() {
        daemon?.kill()
        daemon = nil
    }

    /// The broker's standard output and standard error.
    var journal: String { Self.text(of: folder + "/journal") }

    static let doors = [
        "apps/io.contactbroker.Contacts", "agent/io.contactbroker.Agent", "admin/io.contactbroker.Admin",
        "carddav/io.contactbroker.CardDAV",
    ]
    var appsSocket: String { runtime + "/" + Self.doors[0] }
    var agentSocket: String { runtime + "/" + Self.doors[1] }
    var adminSocket: String { runtime + "/" + Self.doors[2] }
    /// In the order of `ContactsInterface`.
    var sockets: [String] { Self.doors.map { runtime + "/" + $0 } }

    // MARK: Programs that connect

    /// The path of a companion's program. Each name has its own copy, which makes it a separate app.
    func executable(_ name: String) throws -> String {
        let path = folder + "/" + name
        if access(path, F_OK) != 0 { try Self.copy(Companion.program, to: path) }
        return path
    }

    /// The command that starts a program with the broker's user and mount namespace.
    var prefix: [String] { surroundings.joining(daemon?.pid ?? getpid()) }

    /// The process of that name; it is started if it does not run yet.
    func companion(_ name: String) throws -> Companion {
        if let known = companions[name] { return known }
        let companion = try Companion(at: executable(name), by: prefix)
        companions[name] = companion
        return companion
    }

    /// Ends the process of that name. The next process of the name is the same app.
    func end(_ name: String) {
        companions[name]?.process.kill()
        companions[name] = nil
    }

    /// An app with a new connection.
    func app(_ name: String) throws -> App { try App(companion: companion(name), at: appsSocket) }

    /// The person, with a new agent.
    func person(_ name: String = "agent") throws -> Person {
        try Person(companion: companion(name), at: agentSocket)
    }

    /// An app whose request for access the person has answered with this choice.
    func app(_ name: String, _ choice: Choice, by person: Person, keys: [String]? = nil) throws -> App {
        let app = try app(name)
        try app.begin("RequestAccess", keys.map { #"{"keys":\#(quoted($0))}"# } ?? "{}")
        try person.answer(choice)
        let reply = try app.reply()
        guard reply.error == nil else { throw Trouble(reply.text) }
        return app
    }

    /// An app with full access that has saved these contacts.
    @discardableResult
    func keeper(adding people: [String] = DaemonFixture.people, with person: Person) throws -> App {
        let keeper = try app("keeper", .everything, by: person)
        for start in stride(from: 0, to: people.count, by: 1_000) {
            let reply = try keeper.save(people[start..<min(start + 1_000, people.count)].map { App.adding($0) })
            guard reply.error == nil else { throw Trouble(reply.text) }
        }
        return keeper
    }

    /// Waits until this many prompts are open, including the one that is shown.
    func waitForPrompts(_ count: Int) throws { try wait(for: count, "promptsOpen") }

    /// Waits until this many agents serve.
    func waitForAgents(_ count: Int) throws { try wait(for: count, "agents") }

    private func wait(for count: Int, _ name: String) throws {
        let administrator = try administrator()
        let deadline = ContinuousClock.now + .seconds(20)
        while try administrator.call("io.contactbroker.Admin.GetStatus")["status"]?[name]?.integer
            != Int64(count)
        {
            guard ContinuousClock.now < deadline else { throw Trouble("the broker did not reach \(count) \(name)") }
            poll(nil, 0, 2)
        }
    }

    // MARK: The administrator

    func administrator() throws -> VarlinkClient {
        try VarlinkClient(path: adminSocket, timeout: .seconds(30))
    }

    /// Revokes an app's access, as `contactctl revoke` does.
    func revoke(_ app: App) throws {
        let administrator = try administrator()
        let grants = try administrator.call("io.contactbroker.Admin.ListGrants")["grants"]?.elements
        let found = grants?.compactMap { $0["app"]?.string }.first { $0.hasPrefix(app.path + " ") }
        let name = try #require(found, "no grant for \(app.path)")
        _ = try administrator.call("io.contactbroker.Admin.SetGrant") {
            $0.member("app", name)
            $0.member("status", "denied")
        }
    }

    /// The audit's records, oldest first.
    func audit(_ event: String? = nil) throws -> [JSONValue] {
        var records: [JSONValue] = []
        try administrator().stream("io.contactbroker.Admin.QueryAudit") {
            $0.member("event", event)
        } each: { reply, _ in
            records += reply["records"]?.elements.map(Array.init) ?? []
            return true
        }
        return records
    }
}
