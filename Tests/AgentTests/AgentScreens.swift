import Approval
import PseudoTerminal
import Testing

@testable import contact_agent

/// Sessions through a real pseudo-terminal, with every kind of prompt. Each screen is compared with the approved one in
/// `Tests/Approved/agent`, which a person can read. `CONTACTBROKER_APPROVE=1` writes the files instead.
@Suite("The agent's approved screens")
struct AgentScreens {
    static let sizes = [(60, 12), (80, 24), (120, 40), (200, 60)].map { ScreenSize(columns: $0, rows: $1) }

    /// What the person sees, and then presses; in line mode, types.
    struct Step: Sendable {
        let see: String
        let keys: String
        let line: String

        init(_ see: String, _ keys: String, _ line: String? = nil) {
            self.see = see
            self.keys = keys
            self.line = line ?? keys
        }
    }

    struct Session: Sendable, CustomTestStringConvertible {
        let name: String
        var prompt: PromptText? = PromptText()
        var language = "en"
        var grants = "[]"
        let steps: [Step]
        var testDescription: String { name }
    }

    private static let people: [BrokerStandIn.Contact] =
        [
            .init(
                identifier: "r1", givenName: "Ada", familyName: "Lovelace", detail: "ada@example.org", isGranted: true),
            .init(
                identifier: "r2", givenName: "Grace", familyName: "Hopper", detail: "+1 555 0100", returns: false,
                card: PickTests.people[1].card),
            .init(
                identifier: "r3", givenName: "Lin", familyName: "Lanying", detail: nil, reason: "has no e-mail address"),
            .init(identifier: "r4", givenName: "麗君", familyName: "鄧", detail: "teresa@example.tw"),
            .init(identifier: "r5", givenName: "محمد", familyName: "الأحمد", detail: "+966 5 555 0100"),
            .init(identifier: "r6", givenName: "Zoe\u{301} 👩🏽‍🚀", familyName: "[y] Yes", detail: "zoe@example.org"),
        ]
        + (7...60).map { number in
            .init(
                identifier: "r\(number)", givenName: "Person", familyName: "Number \(number)",
                detail: "p\(number)@example.org")
        }

    private static let down = "\u{1B}[B"

    static let sessions: [Session] = [
        Session(
            name: "access",
            prompt: PromptText(keys: ["givenName", "familyName", "emailAddresses", "note"]),
            steps: [
                Step("[c] Choose", "?"), Step("Move in a list", "\r", ""), Step("[c] Choose", "c"),
                Step("] Grace Hopper", "gra"), Step("1–1 of 1", " ", "1"),
                Step("1 marked: Grace", "鄧"), Step("1–1 of 1", "\r", ""),
                Step("[y] Share these 2", "k"), Step("] names", "\r", "back"), Step("[t] Change", "t"),
                Step("until you revoke it", "y"),
            ]),
        Session(
            name: "access-all",
            steps: [
                Step("[a] Share all", "a"), Step("[y] Share all", "\r", ""), Step("[a] Share all", "a"),
                Step("[y] Share all", "y"),
            ]),
        Session(
            name: "access-leaving",
            steps: [
                Step("[c] Choose", "c"), Step("] Grace Hopper", down + " ", "2"), Step("1 marked", "\u{1B}", "esc"),
                Step("Leave without", "\r", ""), Step("1 marked", "\u{1B}", "esc"),
                Step("Leave without", "\u{1B}", "esc"),
            ]),
        Session(
            name: "access-policy",
            prompt: PromptText(
                strength: "sandboxed", lifetimes: ["untilRevoked"], maximumLevel: "limited",
                maximumKeys: ["givenName", "phoneNumbers"]),
            steps: [
                Step("[c] Choose", "c"), Step("] Grace", down + " ", "2"), Step("1 marked", "\r", ""),
                Step("[y] Share this", "\u{1B}", "esc"), Step("Leave without", "\u{1B}", "esc"),
            ]),
        Session(
            name: "button-one", prompt: PromptText(kind: "button", status: "limited", query: "gra"),
            steps: [Step("[s] Share Grace", "s")]),
        Session(
            name: "button-several", prompt: PromptText(kind: "button", query: "l"),
            steps: [
                Step("has no e-mail", down + " ", "2"), Step("cannot be chosen: ", "\u{15}lo", "lo"),
                Step("Search: lo", "\u{1B}", "esc"), Step("Leave without", "\u{1B}", "esc"),
            ]),
        Session(
            name: "button-none", prompt: PromptText(kind: "button", query: "nobody"),
            steps: [
                Step("No new match", "\u{15}gra", "gra"), Step("] Grace", "\r", ""),
                Step("[y] Share this contact", "y"),
            ]),
        Session(
            name: "manage",
            prompt: PromptText(
                kind: "manage", status: "limited", totalContacts: 60, grantedContacts: 1,
                grantedKeys: ["givenName", "emailAddresses"], lastUsedAt: "2026-03-01T10:00:00Z", uses: 7),
            steps: [
                Step("[c] Change", "c"), Step("[x] Ada", " ", "1"), Step("[−] Ada", "\t", "tab"),
                Step("] Grace", down + " ", "2"), Step("2 marked", "\r", ""), Step("[y] Change", "y"),
            ]),
        Session(
            name: "manage-keys",
            prompt: PromptText(
                kind: "manage", status: "limited", totalContacts: 60, grantedContacts: 1,
                grantedKeys: ["givenName", "emailAddresses"]),
            steps: [
                Step("[k] Change", "k"), Step("] names", " ", "1"), Step("[ ] names", "\r", ""),
                Step("[y] Change", "b"),
                Step("[ ] names", "\u{1B}[D", "back"), Step("[x] Revoke", "x"), Step("[y] Revoke", "y"),
            ]),
        Session(
            name: "pick", prompt: PromptText(kind: "pick", keys: ["givenName", "phoneNumbers"], multiple: true),
            steps: [
                Step("[c] Pick", "c"), Step("] Ada", " ", "1"), Step("1 marked", down + " ", "2"),
                Step("] work", " ", "1"), Step("[x] work", "\r", ""), Step("[y] Give these 2", "y"),
            ]),
        Session(
            name: "propose", prompt: PromptText(kind: "propose", proposed: ProposeTests.card),
            steps: [
                Step("[c] Look", "c"), Step("[o] Merge", "o"), Step("] Grace", "gra"), Step("1–1 of 1", "\r", ""),
                Step("[y] Merge", "y"),
            ]),
        Session(
            name: "keys", prompt: PromptText(kind: "keys", status: "limited", keys: ["note", "groups"]),
            steps: [Step("[y] Allow", "2"), Step("groups: no", "y")]),
        Session(
            name: "home", prompt: nil,
            grants: """
                [{"app":"/usr/bin/mail","strength":"unverified","displayName":"mail","status":"limited","contacts":2,\
                "lastUsedAt":"2026-03-01T10:00:00Z","uses":7,"session":"1"},\
                {"app":"x","strength":"sandboxed","displayName":"org.example.Chat","status":"full","contacts":0,"uses":0},\
                {"app":"y","strength":"claimed","displayName":"ａｐｐ 連絡先","status":"denied","contacts":0,"uses":0}]
                """,
            steps: [Step("claimed", "?"), Step("Move in a list", "\r", ""), Step("claimed", "q")]),
        Session(
            name: "access-de", language: "de_DE.UTF-8",
            steps: [Step("[c]", "c"), Step("] Grace", "\u{1B}", "esc")]),
        Session(
            name: "access-ar", language: "ar_EG.UTF-8",
            steps: [Step("[c]", "c"), Step("p7@example.org", "\u{1B}", "esc")]),
        Session(
            name: "access-ja", language: "ja_JP.UTF-8",
            steps: [Step("[c]", "c"), Step("] Grace", "\u{1B}", "esc")]),
    ]

    private func fixture(_ session: Session, _ size: ScreenSize, isPlain: Bool) throws -> AgentFixture {
        let broker = BrokerStandIn()
        broker.grants = session.grants
        let once = session.prompt == nil ? [] : ["--once"]
        let fixture = try AgentFixture(
            once + (isPlain ? ["--plain"] : []), columns: size.columns, rows: size.rows, contacts: Self.people,
            environment: ["LANG": session.language, "LANGUAGE": ""], broker: broker)
        try fixture.registered()
        // Otherwise the prompt could come before the main screen is written.
        try fixture.see("[q]")
        if let prompt = session.prompt { fixture.ask(prompt) }
        return fixture
    }

    @Test("A session at full screen", arguments: sizes, sessions)
    func fullScreen(size: ScreenSize, session: Session) throws {
        let approval = Approval(folder: "agent", name: "\(session.name)-\(size.columns)x\(size.rows).txt")
        var approved = approval.approved.split(separator: Self.separator, omittingEmptySubsequences: false).map(
            String.init)[...].dropFirst()
        var screens = ""
        let fixture = try fixture(session, size, isPlain: false)
        for step in session.steps {
            try fixture.see(step.see)
            if approval.isWriting {
                try fixture.waitForQuiet()
            } else if let expected = approved.popFirst() {
                // A screen arrives in parts, and a key that approves is shown after half a second.
                try fixture.wait(for: "the approved screen") { fixture.terminal.screen.text + "\n" == expected }
            }
            screens += Self.separator + fixture.terminal.screen.text + "\n"
            fixture.terminal.send(step.keys)
        }
        _ = try fixture.exitWhileServing()
        #expect(!fixture.terminal.screen.isAlternate)
        #expect(fixture.terminal.screen.isCursorVisible)
        try approval.check(screens)
    }

    private static let separator = String(repeating: "─", count: 60) + "\n"

    @Test("A session in line mode", arguments: sizes, sessions)
    func lineMode(size: ScreenSize, session: Session) throws {
        let approval = Approval(folder: "agent", name: "plain-\(session.name)-\(size.columns).txt")
        let fixture = try fixture(session, size, isPlain: true)
        var mark = 0
        for step in session.steps {
            try fixture.wait(for: "“\(step.see)”") {
                String(decoding: fixture.terminal.transcript[mark...], as: UTF8.self).contains(step.see)
            }
            // A line that approves counts only once the person could read the screen.
            if ["s", "y"].contains(step.line) { try fixture.waitForQuiet() }
            mark = fixture.terminal.transcript.count
            fixture.terminal.send(step.line + "\r")
        }
        _ = try fixture.exitWhileServing()
        let text = String(decoding: fixture.terminal.transcript, as: UTF8.self).replacing("\r", with: "")
        #expect(!text.contains("\u{1B}"))
        try approval.check(text)
    }
}
