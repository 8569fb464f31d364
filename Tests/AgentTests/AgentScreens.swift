import Approval
import BrokerFormatting
import Glibc
import PseudoTerminal
import Synchronization
import Testing

@testable import contact_agent

/// Sessions through a real pseudo-terminal, with every kind of prompt. Each screen is compared with the approved one in
/// `Tests/Approved/agent`, which a person can read. `CONTACTBROKER_APPROVE=1` writes the files instead.
@Suite("The agent's approved screens")
struct AgentScreens {
    static let sizes = [(60, 12), (80, 24), (120, 40), (200, 60)].map { ScreenSize(columns: $0, rows: $1) }
    /// The sessions that are also shown at the last two sizes. Together they have each kind of screen once.
    static let large: Set = [
        "access", "access-all", "access-policy", "button-one", "button-none", "manage", "manage-all", "manage-keys",
        "manage-lifetime", "manage-changes", "manage-undo", "pick", "propose", "propose-edit", "keys", "change",
        "unknown", "home",
        "home-folders",
    ]

    private static let largeViews = sizes.suffix(2).map(View.fullScreen)

    typealias View = ApprovedScreens.View
    typealias Place = ApprovedScreens.Place

    /// A session in one of its views.
    struct Case: Sendable, CustomTestStringConvertible {
        let session: Session
        let view: View
        var testDescription: String { "\(session.name): \(view)" }

        func place(_ step: Int) -> Place { Place(session: session.name, step: step, view: view) }

        /// The places that have an approved screen.
        var places: [Place] {
            let steps = session.steps.indices.filter { session.steps[$0].isShown(in: view) }.map { $0 + 1 }
            let end = view == .lineMode ? [session.steps.count + 1] : []
            return ((session.prompt == nil ? [] : [0]) + steps + end).map(place)
        }
    }

    static let cases: [Case] = sessions.flatMap { session in
        View.all.filter { !largeViews.contains($0) || large.contains(session.name) }.map {
            Case(session: session, view: $0)
        }
    }

    private static let approved = Result {
        try ApprovedScreens(reading: fileNames.map { Approval(folder: "agent", name: $0).approved })
    }

    /// The names of the files, in the order of the sessions.
    private static let fileNames = sessions.map(\.file).reduce(into: [String]()) { names, name in
        if !names.contains(name) { names.append(name) }
    }

    /// While the files are written: what the sessions that have ended showed, and their number.
    private static let written = Mutex((screens: ApprovedScreens(), cases: 0))

    @Test("A session shows the approved screens", arguments: cases)
    func session(of tested: Case) throws {
        let (session, view) = (tested.session, tested.view)
        let fixture = try fixture(tested)
        var screens: [Place: [String]] = [:]
        // Where the output of the last step begins, and the line that was typed.
        var start = 0
        var typed: String?

        func shown() -> [String]? {
            guard view == .lineMode else { return fixture.terminal.screen.lines }
            let output = fixture.terminal.text(after: start)
            let lines = output.split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
            guard lines.last == "" else { return nil }
            guard let typed else { return lines.dropLast() }
            // The terminal echoes the line.
            return lines[0] == typed ? lines[1...].dropLast().map(Self.withoutEnd) : nil
        }
        func see(_ text: String) throws {
            try fixture.wait(for: "“\(text)”") {
                view == .lineMode
                    ? fixture.terminal.text(after: start).contains(text) : fixture.terminal.screen.contains(text)
            }
        }
        /// Waits for the approved screen, because a screen arrives in parts, and a key that approves is shown after half a
        /// second.
        func approve(_ step: Int) throws {
            let place = tested.place(step)
            if Approval.isWriting {
                try fixture.waitForQuiet()
                screens[place] = shown()
            } else {
                let expected = try #require(try Self.approved.get().screens[place], "\(place) has no approved screen")
                try fixture.wait(for: "the approved screen “\(place)” of Tests/Approved/agent/\(session.file)") {
                    shown() == expected
                }
            }
        }

        if let prompt = session.prompt {
            try see("[q]")
            try approve(0)
            start = fixture.terminal.transcript.count
            fixture.ask(prompt)
        }
        for (index, step) in session.steps.enumerated() where step.isShown(in: view) {
            try see(step.see)
            try approve(index + 1)
            guard view == .lineMode, let line = step.line else {
                try fixture.terminal.send(step.click.map { try click($0, on: fixture) } ?? Driver.bytes(step.keys))
                continue
            }
            // A line that approves counts only once the person could read the screen.
            if ["s", "y", "a"].contains(line) || step.isApproval { try fixture.waitForQuiet() }
            start = fixture.terminal.transcript.count
            typed = line
            fixture.terminal.send(line + "\r")
        }
        _ = try fixture.exitWhileServing()
        if view == .lineMode {
            try approve(session.steps.count + 1)
            #expect(!fixture.terminal.text().contains("\u{1B}"))
        } else {
            #expect(!fixture.terminal.screen.isAlternate)
            #expect(fixture.terminal.screen.isCursorVisible)
        }
        if Approval.isWriting { try Self.write(screens) }
    }

    private func fixture(_ tested: Case) throws -> AgentFixture {
        let session = tested.session
        let broker = BrokerStandIn()
        broker.grants = session.grants
        broker.managed = session.managed
        var arguments = session.prompt == nil ? [] : ["--once"]
        var size = ScreenSize(columns: 80, rows: 24)
        switch tested.view {
        case .fullScreen(let chosen): size = chosen
        case .lineMode: arguments.append("--plain")
        }
        let fixture = try AgentFixture(
            columns: size.columns, rows: size.rows, contacts: session.people,
            // The screen of folders begins with the folder in which the agent was started.
            script: "cd / && exec \"$AGENT\" " + arguments.joined(separator: " "),
            environment: ["LANG": session.language, "LANGUAGE": ""], broker: broker)
        try fixture.registered()
        return fixture
    }

    /// What a terminal sends when the person clicks a text.
    private func click(_ text: String, on fixture: AgentFixture) throws -> String {
        let row = try #require(fixture.terminal.screen.lines.firstIndex { $0.contains(text) })
        return "\u{1B}[<0;5;\(row + 1)M"
    }

    /// The line without the day on which a lifetime that was just chosen ends.
    private static func withoutEnd(_ line: String) -> String {
        let now = Int64(time(nil))
        // Midnight may have passed since the line was written.
        return [now, now - 3_600].reduce(line) { line, time in
            [1, 7, 30].reduce(line) { line, days in
                line.replacing(LocalizedNames.inEnglish.day(time + Int64(days) * 86_400), with: "DAY +\(days)")
            }
        }
    }

    /// Writes the files once all sessions have ended.
    private static func write(_ screens: [Place: [String]]) throws {
        try written.withLock { written in
            written.screens.screens.merge(screens) { $1 }
            written.cases += 1
            guard written.cases == cases.count else { return }
            for (name, text) in written.screens.files(sessions) {
                try Approval(folder: "agent", name: name).check(text)
            }
        }
    }

    @Test("The files contain the screens of the sessions and nothing else", .enabled(if: !Approval.isWriting))
    func files() throws {
        let approved = try Self.approved.get()
        let places = Set(Self.cases.flatMap(\.places))
        let wrong = places.symmetricDifference(approved.screens.keys).map(\.description).sorted()
        #expect(wrong.isEmpty, "missing, or of no session: \(wrong.joined(separator: "; "))")
        #expect(Approval.names(in: "agent") == Self.fileNames.sorted())
        for (name, text) in approved.files(Self.sessions) {
            let isSame = Approval(folder: "agent", name: name).approved == text
            #expect(isSame, "the tests would write \(name) in another form")
        }
    }
}

extension AgentScreens {
    /// What the person sees, and then presses; in line mode, types.
    struct Step: Sendable {
        let see: String
        /// The keys, as ``Driver/key(_:)`` reads them.
        var keys: String
        /// A text on the screen that the person clicks instead.
        var click: String?
        /// The line that is typed in line mode; `nil` if the step is left out there.
        var line: String?
        private(set) var isInLinesOnly = false
        /// Whether the line approves, although it is none of the usual keys.
        private(set) var isApproval = false

        init(_ see: String, _ keys: String, _ line: String? = nil) {
            self.see = see
            self.keys = keys
            self.line = line ?? keys
        }

        init(_ see: String, click: String, _ line: String) {
            self.init(see, "", line)
            self.click = click
        }

        static func approving(_ see: String, _ keys: String) -> Step {
            var step = Step(see, keys)
            step.isApproval = true
            return step
        }

        /// A step that only line mode has.
        static func inLines(_ see: String, _ line: String) -> Step {
            var step = Step(see, "", line)
            step.isInLinesOnly = true
            return step
        }

        /// A step with keys that line mode does not have.
        static func atFullScreen(_ see: String, _ keys: String) -> Step {
            var step = Step(see, keys)
            step.line = nil
            return step
        }

        func isShown(in view: View) -> Bool { view == .lineMode ? line != nil : !isInLinesOnly }
    }

    struct Session: Sendable, CustomTestStringConvertible {
        /// The kind of its prompt, and what is particular to it after a hyphen.
        let name: String
        var prompt: PromptText? = PromptText()
        var language = "en"
        var grants = "[]"
        /// The prompt that opens when the person reviews an app.
        var managed: PromptText?
        var people = AgentScreens.people
        let steps: [Step]
        var testDescription: String { name }

        /// The name of the file with the screens of all sessions of this kind.
        var file: String { name.prefix { $0 != "-" } + ".txt" }

        /// What the person did last before a step.
        func action(before step: Int, in view: View) -> String? {
            guard let last = steps.prefix(max(0, step - 1)).last(where: { $0.isShown(in: view) }) else { return nil }
            if view == .lineMode, let line = last.line { return line.isEmpty ? "⏎" : line }
            return last.click.map { "a click on \($0)" } ?? last.keys.replacing(" ", with: "␣")
        }
    }
}
