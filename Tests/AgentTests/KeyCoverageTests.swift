import Testing

@testable import contact_agent

/// Replays the sessions of ``AgentScreens`` without a terminal, and compares the keys that their screens offer with
/// those that they press.
@Suite("The keys of the approved sessions")
struct KeyCoverageTests {
    /// A key on the screens of one kind of prompt. A control's key also has its stage, because it can mean something
    /// else at another stage.
    private struct Offer: Hashable, CustomStringConvertible {
        var kind: String
        var stage: String?
        var key: Key
        var description: String { [kind, stage ?? "anywhere", "\(key)"].joined(separator: " ") }
    }

    /// The keys of the hints.
    private static let hinted: [String: Key] = [
        "Return": .enter, "Esc": .escape, "Space": .character(" "), "Tab": .tab, "←": .left, "→": .right,
        "Ctrl-U": .erase,
        "?": .character("?"), "o": .character("o"),
    ]

    private static func kind(_ driver: Driver) -> String {
        driver.screen.cover?.rawValue ?? driver.screen.prompt.kind?.rawValue ?? "unknown"
    }

    /// The stage without the contact on the screen.
    private static func stage(_ driver: Driver) -> String {
        driver.screen.stage.split(separator: " ").first.map(String.init) ?? ""
    }

    private static func offers(_ driver: Driver) throws -> Set<Offer> {
        let hints = try driver.screen.hints.map { hint in
            Offer(kind: kind(driver), key: try #require(hinted[hint.key], "no key for the hint \(hint.key)"))
        }
        let controls = driver.lines.compactMap { line -> Offer? in
            guard case .character = line.action, let key = line.action else { return nil }
            return Offer(kind: kind(driver), stage: stage(driver), key: key)
        }
        return Set(hints + controls)
    }

    /// The keys of a step; for a click, the key of the line that is clicked.
    private static func keys(_ step: AgentScreens.Step, _ driver: Driver) throws -> [Key] {
        guard let text = step.click else { return step.keys.map(Driver.key) }
        return [try #require(driver.lines.first { $0.text.contains(text) }?.action)]
    }

    /// Presses the keys of an English session with a prompt, and calls `visit` before each.
    private static func replay(_ session: AgentScreens.Session, _ visit: (Driver, Key) throws -> Void) throws {
        guard session.language == "en", let prompt = session.prompt else { return }
        // A large screen has each control in a line of its own.
        var driver = try Driver(prompt, on: ScreenSize(columns: 120, rows: 40))
        driver.people = session.people
        driver.begin()
        var last = Effect.nothing
        for step in session.steps where !step.isInLinesOnly && (prompt.quiet != true || step.keys != "o") {
            let hints = Hint.line(driver.screen.hints, columns: driver.size.columns).text
            #expect(driver.shows(step.see) || hints.contains(step.see), "\(session.name): \(step.see)")
            for key in try keys(step, driver) {
                try visit(driver, key)
                last = driver.press(key)
            }
        }
        guard case .answer = last else {
            Issue.record("\(session.name) ends without an answer")
            return
        }
    }

    @Test("The sessions press each key that a prompt of each kind offers")
    func everyKey() throws {
        var offered: Set<Offer> = []
        var pressed: Set<Offer> = []
        for session in AgentScreens.sessions {
            try Self.replay(session) { driver, key in
                offered.formUnion(try Self.offers(driver))
                pressed.insert(Offer(kind: Self.kind(driver), key: key))
                pressed.insert(Offer(kind: Self.kind(driver), stage: Self.stage(driver), key: key))
            }
        }
        #expect(offered.count > 60)
        let missing = offered.subtracting(pressed).map(\.description).sorted()
        #expect(missing.isEmpty, "no session presses: \(missing.joined(separator: ", "))")
    }

    @Test("The sessions at the large sizes show each stage of a prompt of each kind")
    func everyStage() throws {
        var all: Set<String> = []
        var large: Set<String> = []
        for session in AgentScreens.sessions {
            try Self.replay(session) { driver, _ in
                let kind = Self.kind(driver)
                let stage = driver.screen.cover == nil ? "\(kind) \(Self.stage(driver))" : kind
                all.insert(stage)
                if AgentScreens.large.contains(session.name) { large.insert(stage) }
            }
        }
        #expect(all.count > 20)
        #expect(all.subtracting(large).isEmpty)
        #expect(AgentScreens.large.isSubset(of: AgentScreens.sessions.map(\.name)))
    }

    @Test("The sessions press each key that moves in a list or edits a search")
    func listKeys() {
        let pressed = Set(AgentScreens.sessions.flatMap(\.steps).flatMap(\.keys))
        #expect(Set("↑↓⇟⇞⤒⤓⌫⌧⇥←").subtracting(pressed).isEmpty)
    }
}
