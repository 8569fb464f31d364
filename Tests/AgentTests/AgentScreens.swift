import Approval
import PseudoTerminal
import Testing

@testable import contact_agent

/// Sessions through a real pseudo-terminal, with every kind of prompt. Each screen is compared with the approved one in
/// `Tests/Approved/agent`, which a person can read. `CONTACTBROKER_APPROVE=1` writes the files instead.
@Suite("The agent's approved screens")
struct AgentScreens {
    static let sizes = [(60, 12), (80, 24), (120, 40), (200, 60)].map { ScreenSize(columns: $0, rows: $1) }

    /// A session at one of its sizes.
    struct Case: Sendable, CustomTestStringConvertible {
        let session: Session
        let size: ScreenSize
        var testDescription: String { "\(session.name) \(size.columns)×\(size.rows)" }
    }

    static let cases = (sessions + furtherSessions).flatMap { session in
        sizes.map { Case(session: session, size: $0) }
    }

    private func fixture(_ session: Session, _ size: ScreenSize, isPlain: Bool) throws -> AgentFixture {
        let broker = BrokerStandIn()
        broker.grants = session.grants
        broker.managed = session.managed
        let once = session.prompt == nil ? [] : ["--once"]
        let fixture = try AgentFixture(
            columns: size.columns, rows: size.rows, contacts: session.people,
            // The screen of folders begins with the folder in which the agent was started.
            script: "cd / && exec \"$AGENT\" " + (once + (isPlain ? ["--plain"] : [])).joined(separator: " "),
            environment: ["LANG": session.language, "LANGUAGE": ""], broker: broker)
        try fixture.registered()
        // Otherwise the prompt could come before the main screen is written.
        try fixture.see("[q]")
        if let prompt = session.prompt { fixture.ask(prompt) }
        return fixture
    }

    @Test("A session at full screen", arguments: cases)
    func fullScreen(of tested: Case) throws {
        let (session, size) = (tested.session, tested.size)
        let approval = Approval(folder: "agent", name: "\(session.name)-\(size.columns)x\(size.rows).txt")
        var approved = approval.approved.split(separator: Self.separator, omittingEmptySubsequences: false).map(
            String.init)[...].dropFirst()
        var screens = ""
        let fixture = try fixture(session, size, isPlain: false)
        for step in session.steps where !step.isInLinesOnly {
            try fixture.see(step.see)
            if approval.isWriting {
                try fixture.waitForQuiet()
            } else if let expected = approved.popFirst() {
                // A screen arrives in parts, and a key that approves is shown after half a second.
                try fixture.wait(for: "the approved screen") { fixture.terminal.screen.text + "\n" == expected }
            }
            screens += Self.separator + fixture.terminal.screen.text + "\n"
            try fixture.terminal.send(step.click.map { try click($0, on: fixture) } ?? Driver.bytes(step.keys))
        }
        _ = try fixture.exitWhileServing()
        #expect(!fixture.terminal.screen.isAlternate)
        #expect(fixture.terminal.screen.isCursorVisible)
        try approval.check(screens)
    }

    /// What a terminal sends when the person clicks a text.
    private func click(_ text: String, on fixture: AgentFixture) throws -> String {
        let row = try #require(fixture.terminal.screen.lines.firstIndex { $0.contains(text) })
        return "\u{1B}[<0;5;\(row + 1)M"
    }

    private static let separator = String(repeating: "─", count: 60) + "\n"

    @Test("A session in line mode", arguments: cases)
    func lineMode(of tested: Case) throws {
        let (session, size) = (tested.session, tested.size)
        let approval = Approval(folder: "agent", name: "plain-\(session.name)-\(size.columns).txt")
        let approved = approval.approved
        let fixture = try fixture(session, size, isPlain: true)
        var mark = 0
        for step in session.steps {
            guard let line = step.line else { continue }
            try fixture.wait(for: "“\(step.see)” and the end of the approved screen") {
                guard fixture.terminal.text(after: mark).contains(step.see) else { return false }
                // A screen arrives in parts. What is typed before its end would appear in its middle.
                let text = fixture.terminal.text()
                return approval.isWriting || text.hasSuffix("\r\n") && approved.hasPrefix(text + line + "\r\n")
            }
            // A line that approves counts only once the person could read the screen.
            if approval.isWriting || ["s", "y", "a"].contains(line) || step.isApproval { try fixture.waitForQuiet() }
            mark = fixture.terminal.transcript.count
            fixture.terminal.send(line + "\r")
        }
        _ = try fixture.exitWhileServing()
        let text = fixture.terminal.text()
        #expect(!text.contains("\u{1B}"))
        try approval.check(text)
    }
}
