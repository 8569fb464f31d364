import Testing

@testable import contact_agent

/// The sessions whose screens ``AgentScreens`` compares.
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
    }

    struct Session: Sendable, CustomTestStringConvertible {
        let name: String
        var prompt: PromptText? = PromptText()
        var language = "en"
        var grants = "[]"
        /// The prompt that opens when the person reviews an app.
        var managed: PromptText?
        var people = AgentScreens.people
        let steps: [Step]
        var testDescription: String { name }
    }

    static let people: [BrokerStandIn.Contact] =
        [
            .init(
                identifier: "r1", givenName: "Ada", familyName: "Lovelace", detail: "ada@example.org", isGranted: true),
            .init(
                identifier: "r2", givenName: "Grace", familyName: "Hopper", detail: "+1 555 0100", returns: false,
                card: PickTests.people[1].card),
            .init(
                identifier: "r3", givenName: "Lin", familyName: "Lanying", detail: nil,
                problem: "lacksKey emailAddresses"),
            .init(identifier: "r4", givenName: "麗君", familyName: "鄧", detail: "teresa@example.tw"),
            .init(identifier: "r5", givenName: "محمد", familyName: "الأحمد", detail: "+966 5 555 0100"),
            .init(identifier: "r6", givenName: "Zoe\u{301} 👩🏽‍🚀", familyName: "[y] Yes", detail: "zoe@example.org"),
        ]
        + (7...60).map { number in
            .init(
                identifier: "r\(number)", givenName: "Person", familyName: "Number \(number)",
                detail: "p\(number)@example.org")
        }

    static let sessions: [Session] = [
        Session(
            name: "access",
            prompt: PromptText(keys: ["givenName", "familyName", "emailAddresses", "note"]),
            steps: [
                Step("[c] Choose", "?"), Step("Move in a list", "⏎", ""), Step("[c] Choose", "c"),
                Step("] Grace Hopper", "gra"), Step("1–1 of 1", " ", "1"),
                Step("1 marked: Grace", "鄧"), Step("1–1 of 1", "⏎", ""),
                Step("[y] Share these 2", "k"), Step("] names", "⏎", "back"), Step("[t] Change", "t"),
                Step("until you revoke it", "y"),
            ]),
        Session(
            name: "access-all",
            steps: [
                Step("[a] Share all", "a"), Step("[y] Share all", "⏎", ""), Step("[a] Share all", "a"),
                Step("[y] Share all", "y"),
            ]),
        Session(
            name: "access-leaving",
            steps: [
                Step("[c] Choose", "c"), Step("] Grace Hopper", "↓ ", "2"), Step("1 marked", "⎋", "esc"),
                Step("Leave without", "⏎", ""), Step("1 marked", "⎋", "esc"),
                Step("Leave without", "⎋", "esc"),
            ]),
        Session(
            name: "access-policy",
            prompt: PromptText(
                strength: "sandboxed", lifetimes: ["untilRevoked"], maximumLevel: "limited",
                maximumKeys: ["givenName", "phoneNumbers"]),
            steps: [
                Step("[c] Choose", "c"), Step("] Grace", "↓ ", "2"), Step("1 marked", "⏎", ""),
                Step("[y] Share this", "⎋", "esc"), Step("Leave without", "⎋", "esc"),
            ]),
        Session(
            name: "button-one", prompt: PromptText(kind: "button", status: "limited", query: "gra"),
            steps: [Step("[s] Share Grace", "s")]),
        Session(
            name: "button-several", prompt: PromptText(kind: "button", query: "l"),
            steps: [
                Step("missing: e-mail", "↓ ", "2"), Step("cannot be chosen: ", "⌧lo", "lo"),
                Step("Search: lo", "⎋", "esc"), Step("Leave without", "⎋", "esc"),
            ]),
        Session(
            name: "button-none", prompt: PromptText(kind: "button", query: "nobody"),
            steps: [
                Step("No new match", "⌧gra", "gra"), Step("] Grace", "⏎", ""),
                Step("[y] Share this contact", "y"),
            ]),
        Session(
            name: "manage",
            prompt: PromptText(
                kind: "manage", status: "limited", totalContacts: 60, grantedContacts: 1,
                grantedKeys: ["givenName", "emailAddresses"], lastUsedAt: "2026-03-01T10:00:00Z", uses: 7),
            steps: [
                Step("[c] Change", "c"), Step("[x] Ada", " ", "1"), Step("[−] Ada", "⇥", "tab"),
                Step("] Grace", "↓ ", "2"), Step("2 marked", "⏎", ""), Step("[y] Change", "y"),
            ]),
        Session(
            name: "manage-keys",
            prompt: PromptText(
                kind: "manage", status: "limited", totalContacts: 60, grantedContacts: 1,
                grantedKeys: ["givenName", "emailAddresses"]),
            steps: [
                Step("[k] Change", "k"), Step("] names", " ", "1"), Step("[ ] names", "⏎", ""),
                Step("[y] Change", "b"),
                Step("[ ] names", "←", "back"), Step("[x] Revoke", "x"), Step("[y] Revoke", "y"),
            ]),
        Session(
            name: "pick", prompt: PromptText(kind: "pick", keys: ["givenName", "phoneNumbers"], multiple: true),
            steps: [
                Step("[c] Pick", "c"), Step("] Ada", " ", "1"), Step("1 marked", "↓ ", "2"),
                Step("] work", " ", "1"), Step("[x] work", "⏎", ""), Step("[y] Give these 2", "y"),
            ]),
        Session(
            name: "propose", prompt: PromptText(kind: "propose", proposed: ProposeTests.card),
            steps: [
                Step("[c] Look", "c"), Step("[o] Merge", "o"), Step("] Grace", "gra"), Step("1–1 of 1", "⏎", ""),
                Step("[y] Merge", "y"),
            ]),
        Session(
            name: "keys", prompt: PromptText(kind: "keys", status: "limited", keys: ["note", "groups"]),
            steps: [Step("[y] Allow", "2"), Step("groups: no", "y")]),
        Session(
            name: "home", prompt: nil,
            grants: grants,
            steps: [Step("claimed", "?"), Step("Move in a list", "⏎", ""), Step("claimed", "q")]),
        Session(
            name: "access-de", language: "de_DE.UTF-8",
            steps: [Step("[c]", "c"), Step("] Grace", "⎋", "esc")]),
        Session(
            name: "access-ar", language: "ar_EG.UTF-8",
            steps: [Step("[c]", "c"), Step("p7@example.org", "⎋", "esc")]),
        Session(
            name: "pick-ar", prompt: PromptText(kind: "pick", keys: ["givenName", "phoneNumbers"], multiple: true),
            language: "ar_EG.UTF-8",
            steps: [
                Step("[c]", "c"), Step("p7@example.org", "lin"), Step("Lanying", "⌧ada", "ada"),
                Step("Lovelace", " ", "1"), Step("[x]", "↓ ", "2"), Step("555 0100", " ", "1"), Step("[x]", "⏎", ""),
                Step("[y]", "y"),
            ]),
        Session(
            name: "home-ar", prompt: nil, language: "ar_EG.UTF-8", grants: grants,
            steps: [Step("”mail“", "?"), Step("Ctrl-C", "⏎", ""), Step("”mail“", "q")]),
        Session(
            name: "access-ja", language: "ja_JP.UTF-8",
            steps: [Step("[c]", "c"), Step("] Grace", "⎋", "esc")]),
    ]
}
