import BrokerJSON
import BrokerModel

/// A broker with an empty book, the person, and an app with full access that writes the book.
final class PrivacyWorld {
    private let scratch: Scratch
    private let person: ChildProcess
    private let processors = Processors()
    private var made: Probe?
    /// The app whose prompt is open.
    private var waiting: Probe?

    init(build: String) throws {
        // In memory, because the waits for a disk would hide differences.
        scratch = try Scratch(build: build, inMemory: true)
        do {
            try scratch.startBroker()
            // A child of this process, as the apps are, because the broker does not ask an agent that is an
            // ancestor or descendant of the app.
            person = try ChildProcess(Role.program, [Role.probePerson.rawValue, scratch.agent])
            _ = try person.line()
        } catch {
            scratch.remove()
            throw error
        }
        made = try app("owner", .full, keys: Self.everyKey)
    }

    deinit {
        person.end()
        scratch.remove()
    }

    static let nameKeys = ["givenName", "familyName"]
    private static let everyKey = ContactKeySet.all.keys.map(\.rawValue) + ["groups"]

    var owner: Probe {
        get throws {
            guard let made else { throw Failure("there is no owner") }
            return made
        }
    }

    enum Level: String { case limited, full }

    /// Starts an app that the person gives access.
    ///
    /// - Parameters:
    ///   - words: names of the contacts that a limited app gets.
    ///   - changes: what the app may change.
    func app(
        _ name: String, _ level: Level, keys: [String] = nameKeys, _ words: [String] = [], changes: String = "all"
    ) throws -> Probe {
        let process = try ChildProcess(
            try scratch.copyProgram(as: name), [Role.probe.rawValue, scratch.apps])
        let app = Probe(name, process)
        try instruct("\(level.rawValue):\(changes)", keys: keys, adding: words)
        let list = keys.map { "\"\($0)\"" }.joined(separator: ",")
        let reply = try app.call(ProbeCall("RequestAccess", #"{"keys":[\#(list)]}"#))
        guard reply["status"]?.string == level.rawValue else { throw Failure("\(name) did not get access") }
        try app.pin(processors.second)
        return app
    }

    /// Tells the person how to answer the next prompt.
    func instruct(_ level: String, keys: [String] = nameKeys, adding: [String] = [], removing: [String] = []) throws {
        let lists = [keys, adding, removing].map { $0.isEmpty ? "-" : $0.joined(separator: ",") }
        try person.tell("\(level) \(lists.joined(separator: " "))")
    }

    /// Lets the person change what a limited app may see.
    func change(_ app: Probe, keys: [String] = nameKeys, removing: [String] = []) throws {
        try instruct("limited", keys: keys, removing: removing)
        try app.call(ProbeCall("ManageAccess", "{}"))
    }

    /// Makes a call that raises a prompt, which stays open. The previous one ends, because the person sees only one.
    func openPrompt(_ app: Probe, _ call: ProbeCall) throws {
        try waiting?.close()
        waiting = app
        try instruct("none")
        try app.leaveOpen(call)
        _ = try person.line()
    }

    /// Measures on two processors, so that the app and the broker do not displace each other.
    func pinBroker() throws { try Processors.pin(process: scratch.brokerProcess, to: [processors.first]) }

    /// A given name that no other contact has. All have the same length, and most have no beginning in common,
    /// because the search for a word looks at all words with the same beginning.
    func name() -> String { ProbeText.word() }
}
