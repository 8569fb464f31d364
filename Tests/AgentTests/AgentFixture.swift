import BrokerJSON
import Glibc
import PseudoTerminal

/// The real agent in a pseudo-terminal, with a stand-in for the broker.
final class AgentFixture {
    let broker: BrokerStandIn
    let terminal: PseudoTerminal

    /// The agent that was built with the tests.
    static var program: String {
        var path = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &path, path.count)
        let executable = String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let argument = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? executable
        return argument.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/contact-agent"
    }

    /// - Parameter script: a script for `sh` that runs instead of the program, and finds the program in `$AGENT`.
    init(
        _ arguments: [String] = [], columns: Int = 80, rows: Int = 24,
        contacts: [BrokerStandIn.Contact] = AgentFixture.people, script: String? = nil,
        environment: [String: String] = [:], broker: BrokerStandIn = BrokerStandIn()
    ) throws {
        self.broker = broker
        broker.contacts = contacts
        var variables = [
            "TERM": "xterm", "NO_COLOR": "1", "CONTACTBROKER_RUNTIME_DIR": broker.runtimeDirectory,
            "PATH": "/usr/bin:/bin", "AGENT": Self.program,
        ]
        variables.merge(environment) { $1 }
        terminal = try PseudoTerminal(
            script == nil ? Self.program : "/bin/sh", arguments: script.map { ["-c", $0] } ?? arguments,
            environment: variables, columns: columns, rows: rows)
    }

    static let people: [BrokerStandIn.Contact] = [
        .init(identifier: "r1", givenName: "Ada", familyName: "Lovelace", detail: "ada@example.org"),
        .init(identifier: "r2", givenName: "Grace", familyName: "Hopper", detail: "+1 555 0100"),
        .init(identifier: "r3", givenName: "Lin", familyName: "Lanying", detail: nil),
    ]

    /// Serves the stand-in's sockets and reads the terminal until the condition is true.
    func wait(for what: String, timeout: Duration = .seconds(10), until isReached: () -> Bool) throws {
        let deadline = ContinuousClock.now + timeout
        while true {
            broker.serve()
            terminal.takeOutput()
            if isReached() { return }
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else {
                throw PseudoTerminal.Failure.timedOut(waitingFor: what, screen: terminal.screen.text)
            }
            var waiting = (broker.descriptors + (terminal.isClosed ? [] : [terminal.fileDescriptor])).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            if terminal.isClosed { throw PseudoTerminal.Failure.ended(waitingFor: what, screen: terminal.screen.text) }
            poll(&waiting, nfds_t(waiting.count), CInt(left.components.seconds * 1_000 + 1_000))
        }
    }

    func see(_ text: String, timeout: Duration = .seconds(10)) throws {
        try wait(for: "“\(text)”", timeout: timeout) { terminal.screen.contains(text) }
    }

    /// Waits until nothing has been written for longer than the arming time, as a person does who reads the screen.
    func waitForQuiet() throws {
        var end = ContinuousClock.now + .milliseconds(700)
        while ContinuousClock.now < end, !terminal.isClosed {
            broker.serve()
            let before = terminal.transcript.count
            terminal.takeOutput()
            if terminal.transcript.count > before { end = max(end, .now + .milliseconds(200)) }
            let left = ContinuousClock.now.duration(to: end).components.attoseconds / 1_000_000_000_000_000
            var waiting = (broker.descriptors + [terminal.fileDescriptor]).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            poll(&waiting, nfds_t(waiting.count), CInt(max(1, left)))
        }
    }

    /// Waits for the text of a choice, then presses its key.
    func see(_ text: String, thenPress keys: String) throws {
        try see(text)
        terminal.send(keys)
    }

    /// The number that follows this word on the screen.
    func number(after word: String) -> pid_t? {
        guard let line = terminal.screen.lines.first(where: { $0.contains(word) }),
            let found = line.firstRange(of: word)
        else { return nil }
        return pid_t(String(line[found.upperBound...].prefix { $0.isNumber }))
    }

    func registered() throws {
        try wait(for: "the agent's call") { broker.isServing }
    }

    func answer() throws -> BrokerStandIn.Answer? {
        try wait(for: "an answer") { !broker.answers.isEmpty }
        return broker.answers.first
    }

    func ask(_ prompt: PromptText) { broker.say(#"{"prompt":\#(prompt.json)}"#) }

    /// Serves the stand-in's sockets until the program has ended.
    func exitWhileServing() throws -> PseudoTerminal.ExitStatus {
        let deadline = ContinuousClock.now + .seconds(10)
        while !terminal.isClosed, ContinuousClock.now < deadline {
            broker.serve()
            terminal.takeOutput()
            var waiting = (broker.descriptors + [terminal.fileDescriptor]).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            poll(&waiting, nfds_t(waiting.count), 1_000)
        }
        return try exit()
    }

    func exit() throws -> PseudoTerminal.ExitStatus { try terminal.waitForExit() }

    /// Presses `q` until the program ends. One key is not enough: when the program gets the terminal back, it discards
    /// earlier keys, and the screen does not show when that happens.
    func quit() throws -> PseudoTerminal.ExitStatus {
        let deadline = ContinuousClock.now + .seconds(10)
        while !terminal.isClosed, ContinuousClock.now < deadline {
            terminal.send("q")
            broker.serve()
            var waiting = pollfd(fd: terminal.fileDescriptor, events: Int16(POLLIN), revents: 0)
            poll(&waiting, 1, 100)
            terminal.takeOutput()
        }
        return try exit()
    }
}

/// A prompt in the form that the broker sends.
struct PromptText {
    var cookie = "cookie-1"
    var kind = "access"
    var displayName = "mail"
    var strength = "unverified"
    var executable = "/usr/bin/mail"
    var terminal: String? = "pts/3"
    /// The declared folder, and the end of its declaration.
    var folder: String?
    var folderUntil: String?
    var status = "notDetermined"
    var purpose: String? = "to fill in addresses"
    var otherPurpose: Bool?
    var keys: [String]?
    var query: String?
    var multiple: Bool?
    var limit: Int?
    /// The card that an app proposes, as JSON.
    var proposed: String?
    var totalContacts = 3
    var grantedContacts = 0
    /// `nil` means those that the broker usually offers.
    var lifetimes: [String]?
    var interpreter = false
    var quiet: Bool?
    var silenced: Bool?
    var expires = "2099-01-01T00:00:00Z"
    /// The most that the policy allows.
    var maximumLevel: String?
    var maximumKeys: [String]?
    var endsAt: String?
    var grantedKeys: [String]?
    /// What the app asks to change, what it may change, and the most that the policy allows.
    var changes: String?
    var grantedChanges: String?
    var maximumChanges: String?
    /// How many contacts a save deletes, changes and adds, and how many other changes it makes.
    var save: [Int]?
    var grantedUntil: String?
    var lastUsedAt: String?
    var uses: Int?
    var contactsRead: Int?
    var formerPurpose: String?
    var displayOrder: String?

    var json: String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("cookie", cookie)
            writer.member("kind", kind)
            writer.name("caller")
            writer.object {
                $0.member("displayName", displayName)
                $0.member("identifier", executable)
                $0.member("strength", strength)
                $0.member("executable", executable)
                $0.member("pid", 4711)
                $0.member("terminal", terminal)
                $0.member("folder", folder)
                $0.member("folderUntil", folderUntil)
            }
            writer.member("currentStatus", status)
            writer.member("purpose", purpose)
            writer.member("otherPurpose", otherPurpose)
            writer.member("keys", keys)
            writer.member("query", query)
            writer.member("multiple", multiple)
            writer.member("limit", limit)
            if let proposed {
                writer.name("proposed")
                writer.raw(Array(proposed.utf8))
            }
            writer.member("displayOrder", displayOrder)
            writer.member("totalContacts", totalContacts)
            writer.member("grantedContacts", grantedContacts)
            let isReview = kind == "manage" && status != "denied"
            writer.member(
                "lifetimes", lifetimes ?? (isReview ? ["untilRevoked", "untilTime"] : ["session", "untilRevoked"]))
            writer.member("interpreter", interpreter)
            writer.member("quiet", quiet)
            writer.member("silenced", silenced)
            writer.member("waiting", 0)
            writer.member("expires", expires)
            writer.member("maximumLevel", maximumLevel)
            writer.member("maximumKeys", maximumKeys)
            writer.member("endsAt", endsAt)
            writer.member("grantedKeys", grantedKeys)
            writer.member("changes", changes)
            writer.member("grantedChanges", grantedChanges)
            writer.member("maximumChanges", maximumChanges)
            if let save {
                writer.name("save")
                writer.object { writer in
                    for (name, count) in zip(["deleted", "changed", "added", "other"], save) {
                        writer.member(name, count)
                    }
                }
            }
            writer.member("grantedUntil", grantedUntil)
            writer.member("lastUsedAt", lastUsedAt)
            writer.member("uses", uses)
            writer.member("contactsRead", contactsRead)
            writer.member("formerPurpose", formerPurpose)
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
