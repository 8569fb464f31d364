import Glibc
import PseudoTerminal
import Testing

@Suite("An agent or a broker that is killed during a prompt")
struct KilledTests {
    enum Kind: CaseIterable, Sendable { case access, button, manage, keys, pick, propose }

    /// What the person sees, and then presses. Before each press a process can be killed.
    private typealias Step = (see: String, press: String)

    private static let card =
        #"{"givenName":"Hedy","familyName":"Lamarr","emailAddresses":[{"value":"hedy@example.org"}]}"#

    private static func call(_ kind: Kind) -> (method: String, parameters: String) {
        switch kind {
        case .access: ("RequestAccess", "{}")
        case .button: ("RequestContacts", #"{"query":"ada"}"#)
        case .manage: ("ManageAccess", "{}")
        case .keys: ("RequestAccess", #"{"keys":["note"]}"#)
        case .pick: ("PickContacts", #"{"keys":["givenName","familyName"]}"#)
        case .propose: ("ProposeContact", #"{"contact":\#(card)}"#)
        }
    }

    /// The way to an approval, whose key is the last one.
    private static func steps(_ kind: Kind) -> [Step] {
        switch kind {
        case .access:
            [
                ("asks to see your contacts.", "c"), ("] Emmy Noether", "lov"), ("› [ ] Ada Lovelace", "\t"),
                ("1 marked: Ada Lovelace", "\r"), ("[y] Share this contact", "y"),
            ]
        case .button: [("[s] Share Ada Lovelace", "s"), ("[y] Share this contact", "y")]
        case .manage:
            [
                ("asks you to review", "c"), ("[x] Ada Lovelace", "\u{1B}[C"), ("› [ ] Grace Hopper", "\t"),
                ("1 marked: + Grace Hopper", "\r"), ("[y] Change", "y"),
            ]
        case .keys: [("[y] Allow", "y")]
        case .pick:
            [
                ("asks you for one contact, once.", "c"), ("› [ ] Grace Hopper", "ada"), ("› [ ] Ada Lovelace", "\r"),
                ("[y] Give", "y"),
            ]
        case .propose:
            [("offers you a contact.", "c"), ("[o] Merge", "o"), ("› [ ] Grace Hopper", "\r"), ("[y] Merge", "y")]
        }
    }

    /// The reply to a prompt that granted nothing.
    private static func nothing(_ kind: Kind) -> String {
        switch kind {
        case .access: #"{"parameters":{"status":"notDetermined"}}"#
        case .button, .manage: #"{"parameters":{"identifiers":[]}}"#
        case .keys: #"{"parameters":{"status":"limited"}}"#
        case .pick: #"{"parameters":{"contacts":[]}}"#
        case .propose: #"{"parameters":{}}"#
        }
    }

    /// What an app may see and read, and the whole address book.
    private struct State: Equatable {
        var authorization: String
        var names: [String]
        var book: String
    }

    private static func state(of name: String, in fixture: DaemonFixture) throws -> State {
        let app = try fixture.app(name)
        let authorization = try app.call("GetAuthorization")
        // Otherwise a fetch would ask the person.
        let names = authorization.word == "limited" ? try app.fetch().names : []
        let book = try fixture.app("keeper").call(
            "FetchContacts", #"{"keys":["givenName","familyName","emailAddresses"],"sortOrder":"familyName"}"#)
        return State(authorization: authorization.text, names: names, book: book.text)
    }

    /// A broker with contacts, and apps that may ask this.
    private static func fixture(_ kind: Kind, _ apps: [String]) throws -> DaemonFixture {
        let fixture = try DaemonFixture()
        let person = try fixture.person()
        try fixture.keeper(with: person)
        for name in apps where kind == .manage || kind == .keys {
            _ = try fixture.app(name, .only(["Ada Lovelace"]), by: person)
        }
        fixture.end("agent")
        try fixture.waitForAgents(0)
        return fixture
    }

    private static func begin(_ kind: Kind, _ name: String, in fixture: DaemonFixture) throws -> App {
        let app = try fixture.app(name)
        let call = call(kind)
        try app.begin(call.method, call.parameters)
        return app
    }

    /// Presses the keys of so many steps, and waits for what the person sees then.
    private static func walk(_ kind: Kind, _ count: Int, at agent: PseudoTerminal) throws {
        for step in steps(kind).prefix(count) { try agent.see(step.see, thenPress: step.press) }
        try agent.wait(for: steps(kind)[count].see)
    }

    /// Quits an agent whose broker is gone, and expects the terminal as it was before.
    private static func quit(_ agent: PseudoTerminal) throws {
        let untouched = try PseudoTerminal("/bin/true", environment: [:])
        try untouched.waitForExit()
        try agent.wait(for: "Cannot reach the broker")
        #expect(agent.settings != nil && agent.settings != untouched.settings)
        agent.send("q")
        #expect(try agent.waitForExit() == .exited(0))
        #expect(!agent.screen.isAlternate && agent.screen.isCursorVisible)
        #expect(agent.settings == untouched.settings)
    }

    @Test(
        "Before the last key nothing is granted, and the prompt of a killed agent stays open", arguments: Kind.allCases)
    func stages(kind: Kind) throws {
        let fixture = try Self.fixture(kind, ["mail"])
        let before = try Self.state(of: "mail", in: fixture)
        for count in Self.steps(kind).indices {
            let first = try fixture.agentTerminal()
            let second = try fixture.agentTerminal()
            try fixture.waitForAgents(2)
            let app = try Self.begin(kind, "mail", in: fixture)
            try Self.walk(kind, count, at: first)
            try second.wait(for: Self.steps(kind)[0].see)
            first.terminate()
            #expect(first.exitStatus == .signalled(SIGKILL))
            try fixture.waitForAgents(1)
            try fixture.waitForPrompts(1)
            #expect(try Self.state(of: "mail", in: fixture) == before, "agent killed at step \(count)")
            #expect(!app.hasReply())
            // The other agent shows the prompt from its beginning.
            try Self.walk(kind, count, at: second)
            fixture.kill()
            try Self.quit(second)
            #expect(try app.line.frame() == nil)
            try fixture.start()
            #expect(try Self.state(of: "mail", in: fixture) == before, "broker killed at step \(count)")
        }
    }

    @Test("Without another agent, a killed agent's prompt ends as if the person had dismissed it")
    func nobodyLeft() throws {
        let fixtures = try Kind.allCases.map { ($0, try Self.fixture($0, ["mail"])) }
        let agents = try fixtures.map { try $0.1.agentTerminal() }
        for (_, fixture) in fixtures { try fixture.waitForAgents(1) }
        let apps = try fixtures.map { try Self.begin($0.0, "mail", in: $0.1) }
        for (agent, (kind, _)) in zip(agents, fixtures) {
            try Self.walk(kind, Self.steps(kind).count - 1, at: agent)
            agent.terminate()
        }
        for (app, (kind, fixture)) in zip(apps, fixtures) {
            let reply = try app.reply()
            if kind == .access || kind == .keys {
                #expect(reply.word == (kind == .keys ? "limited" : "notDetermined"))
            } else {
                #expect(reply.text == Self.nothing(kind))
            }
            try fixture.waitForPrompts(0)
            #expect(try Self.state(of: "mail", in: fixture).book.contains("hedy") == false)
        }
    }

    // MARK: - The last key

    /// Expects either what was before, or exactly what the person confirmed.
    ///
    /// - Parameter reply: the reply that the app got, if any. Only what is granted may be in it.
    /// - Returns: whether what the person confirmed took effect. A pick takes effect in the reply only.
    @discardableResult
    private static func expect(_ after: State, _ before: State, _ kind: Kind, _ reply: Answer?) -> Bool {
        let isGranted: Bool
        switch kind {
        case .access, .button:
            isGranted = after.names == ["Ada Lovelace"]
            #expect(isGranted || after.names.isEmpty)
            #expect(isGranted || reply?.word != "limited" && reply?.strings("identifiers").isEmpty != false)
        case .manage:
            isGranted = after.names == ["Grace Hopper", "Ada Lovelace"]
            #expect(isGranted || after == before)
            #expect(isGranted || reply?.strings("identifiers").isEmpty != false)
        case .keys:
            isGranted = after.authorization.contains("\"note\"")
            #expect(isGranted || after == before)
            #expect(after.names == before.names)
        case .pick:
            isGranted = reply?.names == ["Ada Lovelace"]
            #expect(isGranted || reply?.names.isEmpty != false)
            #expect(after == before)
        case .propose:
            isGranted = after.book.contains("hedy@example.org")
            #expect(after.book.split(separator: "hedy@example.org").count <= 2)
            #expect(after.names == before.names && after.authorization == before.authorization)
        }
        if kind != .propose { #expect(after.book == before.book) }
        return isGranted
    }

    @Test(
        "After an agent is killed right after the last key, the app's reply matches its grant",
        arguments: Kind.allCases)
    func agentAfterAnswer(kind: Kind) throws {
        let fixture = try Self.fixture(kind, ["mail"])
        let before = try Self.state(of: "mail", in: fixture)
        let first = try fixture.agentTerminal()
        let second = try fixture.agentTerminal()
        try fixture.waitForAgents(2)
        let app = try Self.begin(kind, "mail", in: fixture)
        let last = Self.steps(kind).count - 1
        try Self.walk(kind, last, at: first)
        try second.wait(for: Self.steps(kind)[0].see)
        first.send(Self.steps(kind)[last].press)
        first.terminate()
        try fixture.waitForAgents(1)
        // If the answer did not arrive, the prompt is still open here.
        second.send("\u{1B}")
        let reply = try app.reply()
        #expect(reply.error == nil)
        try fixture.waitForPrompts(0)
        Self.expect(try Self.state(of: "mail", in: fixture), before, kind, reply)
    }

    @Test(
        "If the broker is killed right after the last key, it has granted afterwards what it told the app",
        arguments: Kind.allCases)
    func brokerAfterAnswer(kind: Kind) throws {
        // In microseconds; `nil` waits for the app's reply.
        let delays = [0, 1_000, 4_000, nil]
        let names = delays.indices.map { "mail\($0)" }
        let fixture = try Self.fixture(kind, names)
        for (delay, name) in zip(delays, names) {
            let before = try Self.state(of: name, in: fixture)
            let agent = try fixture.agentTerminal()
            try fixture.waitForAgents(1)
            let app = try Self.begin(kind, name, in: fixture)
            let last = Self.steps(kind).count - 1
            try Self.walk(kind, last, at: agent)
            agent.send(Self.steps(kind)[last].press)
            var reply: Answer?
            if let delay {
                let moment = ContinuousClock.now + .microseconds(delay)
                while ContinuousClock.now < moment {}
            } else {
                reply = try app.reply()
            }
            fixture.kill()
            try Self.quit(agent)
            if delay != nil { reply = try app.line.frame().map { try Answer($0) } }
            try fixture.start()
            let isGranted = Self.expect(try Self.state(of: name, in: fixture), before, kind, reply)
            #expect(isGranted || delay != nil)
        }
    }
}
