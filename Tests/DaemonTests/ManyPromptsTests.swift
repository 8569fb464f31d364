import BrokerJSON
import Glibc
import PseudoTerminal
import Testing

@Suite("Fifty requests at the same moment")
struct ManyPromptsTests {
    /// How the person answers one prompt.
    private enum Way: CaseIterable {
        case sharesAtFullScreen, sharesInLineMode, refusesAtFullScreen, refusesInLineMode
        /// Shares at full screen and refuses in line mode, at the same moment.
        case both
    }

    private let fixture: DaemonFixture
    /// Apps that see Ada.
    private let known: [App]
    private let strangers: [App]
    private let full: PseudoTerminal
    private let plain: PseudoTerminal

    init() throws {
        fixture = try DaemonFixture()
        let fixture = fixture
        let person = try fixture.person()
        try fixture.keeper(with: person)
        for number in 0..<14 { _ = try fixture.app("known\(number)", .only(["Ada Lovelace"]), by: person) }
        // After a restart, the prompts until now do not count against the strangers.
        try fixture.stop()
        try fixture.start()
        known = try (0..<14).map { try fixture.app("known\($0)") }
        strangers = try (0..<22).map { try fixture.app("stranger\($0)") }
        // High enough for what the agent says about all prompts.
        full = try fixture.agentTerminal(columns: 120, rows: 120)
        plain = try fixture.agentTerminal(["--plain"], columns: 120, rows: 120)
        try fixture.waitForAgents(2)
    }

    @Test("Sixteen prompts open, each app has one at most, and each is answered once and as the person pressed")
    func fifty() throws {
        let requests = try open()
        let refused = try refused(of: requests)
        #expect(refused.count == 34)
        for app in refused {
            let reply = try app.reply()
            #expect(reply.error == "TooManyPrompts" && reply["retryAfterSeconds"]?.integer == 1, "\(reply.text)")
        }
        let asking = requests.filter { app in !refused.contains { $0 === app } }
        #expect(Set(asking.map(\.path)).count == 16)
        #expect(asking.count(where: \.isStranger) <= 4)
        try fixture.waitForPrompts(16)

        let answersBefore = try fixture.audit("answer").count
        var shared: Set<String> = []
        var outcomes: [String] = []
        var counts: [Bool: Int] = [:]
        var last: String?
        for number in 0..<asking.count {
            try full.wait(for: "prompt \(number)") { Self.title($0) != nil && Self.title($0) != last }
            let title = try #require(Self.title(full.screen))
            last = title
            let app = try #require(asking.first { title.hasPrefix("“\($0.name)”") })
            try plain.wait(for: title)
            let way = Way.allCases[counts[app.isStranger, default: 0] % Way.allCases.count]
            counts[app.isStranger, default: 0] += 1
            try answer(app, way)
            let isShared = try isShared(app.reply())
            switch way {
            case .sharesAtFullScreen, .sharesInLineMode: #expect(isShared, "\(title)")
            case .refusesAtFullScreen, .refusesInLineMode: #expect(!isShared, "\(title)")
            case .both: break
            }
            if isShared { shared.insert(app.name) }
            outcomes.append(Self.outcome(of: app, way, isShared: isShared))
        }
        try fixture.waitForPrompts(0)
        for outcome in outcomes { try full.wait(for: outcome) }
        #expect(asking.allSatisfy { !$0.line.hasNews })
        #expect(try fixture.audit("answer").count - answersBefore == 16)
        for app in known { #expect(try app.fetch().names.count == (shared.contains(app.name) ? 2 : 1), "\(app.name)") }
        for app in strangers {
            let status = try app.call("GetAuthorization").word
            #expect(shared.contains(app.name) ? status == "limited" : ["denied", "notDetermined"].contains(status))
            if shared.contains(app.name) { #expect(try app.fetch().names == ["Grace Hopper"]) }
        }
        // An app that was refused may ask now.
        let late = try #require(refused.first { $0.isStranger })
        try late.begin("RequestAccess")
        try full.see("“\(late.name)” asks to see your contacts.", thenPress: "\u{1B}")
        #expect(try late.reply().word == "denied")
    }

    /// Fifty requests, which the broker reads at the same moment: two of each known app, and one of each stranger.
    private func open() throws -> [App] {
        let second = try known.map { try App(companion: $0.companion, at: fixture.appsSocket) }
        let requests = known + second + strangers
        // The broker knows who all of them are before the first one asks.
        for app in requests { _ = try app.call("GetAuthorization") }
        try fixture.daemon?.pause()
        for app in known { try app.begin("RequestContacts", #"{"query":"grace"}"#) }
        for app in second { try app.begin("RequestContacts", #"{"query":"emmy"}"#) }
        for app in strangers { try app.begin("RequestAccess") }
        fixture.daemon?.signal(SIGCONT)
        return requests
    }

    /// The apps that get a reply while nobody answers.
    private func refused(of requests: [App]) throws -> [App] {
        let deadline = ContinuousClock.now + .seconds(30)
        var refused: [App] = []
        while refused.count < 34, ContinuousClock.now < deadline {
            refused += requests.filter { app in !refused.contains { $0 === app } && app.hasReply() }
        }
        return refused
    }

    /// The title of the prompt on the screen: who asks for what.
    private static func title(_ screen: Screen) -> String? {
        let line = screen.lines[1]
        guard line.hasPrefix("“"), line.contains(" looks for ") || line.contains(" asks to see ") else { return nil }
        return String(line.reversed().drop { $0 == " " }.reversed())
    }

    // MARK: - The person

    private func answer(_ app: App, _ way: Way) throws {
        switch way {
        case .sharesAtFullScreen: full.send(try approachAtFullScreen(app))
        case .sharesInLineMode: try shareInLineMode(app)
        case .refusesAtFullScreen: full.send("\u{1B}")
        case .refusesInLineMode: plain.send("esc\r")
        case .both:
            let key = try approachAtFullScreen(app)
            // A refusal that comes late would refuse the next prompt. A key that comes too early for it shares nothing.
            plain.send("esc\r")
            full.send(key)
        }
    }

    /// - Returns: the key that shares; the screen offers it.
    private func approachAtFullScreen(_ app: App) throws -> String {
        guard app.isStranger else {
            try full.wait(for: "[s] Share")
            return "s"
        }
        try full.see("[c] Choose", thenPress: "c")
        try full.see("› [ ] Grace Hopper", thenPress: "\t")
        try full.see("1 marked: Grace Hopper", thenPress: "\r")
        try full.wait(for: "[y] Share this contact")
        return "y"
    }

    private func shareInLineMode(_ app: App) throws {
        guard app.isStranger else { return try approveInLineMode("s", app) }
        try type("c", thenSee: "1. [ ] Grace Hopper")
        try type("1", thenSee: "1 marked: Grace Hopper")
        try type("", thenSee: "[y] Share this contact")
        try approveInLineMode("y", app)
    }

    private func type(_ line: String, thenSee text: String) throws {
        let start = plain.transcript.count
        plain.send(line + "\r")
        try plain.wait(for: text) { _ in plain.text(after: start).contains(text) }
    }

    /// Line mode shows the key before it counts. If it is pressed too soon, the agent says so.
    private func approveInLineMode(_ key: String, _ app: App) throws {
        let start = plain.transcript.count
        plain.send(key + "\r")
        let deadline = ContinuousClock.now + .seconds(30)
        while !app.hasReply(), ContinuousClock.now < deadline {
            plain.takeOutput()
            guard plain.text(after: start).contains("Too soon") else { continue }
            // The delay began before the agent read the key.
            poll(nil, 0, 600)
            plain.send(key + "\r")
            return
        }
    }

    // MARK: - The outcome

    private func isShared(_ reply: Answer) throws -> Bool {
        #expect(reply.error == nil, "\(reply.text)")
        return reply["status"].map { $0.string == "limited" } ?? !reply.strings("identifiers").isEmpty
    }

    /// What the agent at full screen says in the end: its own answer, or that another agent answered.
    private static func outcome(of app: App, _ way: Way, isShared: Bool) -> String {
        switch way {
        case .sharesAtFullScreen,
            .both where isShared:
            "You shared Grace Hopper with “\(app.name)”."
        case .refusesAtFullScreen where app.isStranger: "You denied “\(app.name)” access to your contacts."
        case .refusesAtFullScreen: "You shared nothing with “\(app.name)”."
        case .sharesInLineMode, .refusesInLineMode, .both:
            "The request of “\(app.name)” was closed or answered elsewhere."
        }
    }
}

extension App {
    fileprivate var name: String { path.split(separator: "/").last.map(String.init) ?? "" }
    fileprivate var isStranger: Bool { name.hasPrefix("stranger") }
}
