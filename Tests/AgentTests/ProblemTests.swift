import BrokerConnection
import BrokerFormatting
import BrokerInterface
import BrokerJSON
import BrokerVarlinkClient
import PseudoTerminal
import Testing

@testable import contact_agent

@Suite("Problems in the person's language")
struct ProblemTests {
    private static let agent = "io.contactbroker.Agent."
    private static let german = LocalizedNames(languages: ["de"])

    private func reply(_ name: String, _ parameters: String) throws -> VarlinkClientError {
        .error(name: name, parameters: try JSONDocument(parsing: Array(parameters.utf8)).root)
    }

    /// The error replies for all problems that the broker can name. Their reason is the same.
    private func replies() throws -> [VarlinkClientError] {
        try AnswerProblem.allCases.map {
            try reply(Self.agent + "InvalidAnswer", #"{"problem":"\#($0.rawValue)","reason":"R"}"#)
        }
            + PasswordProblem.allCases.map {
                try reply(Self.agent + "AuthenticationFailed", #"{"problem":"\#($0.rawValue)","reason":"R"}"#)
            }
            + FolderProblem.allCases.map {
                try reply(Self.agent + "InvalidFolder", #"{"problem":"\#($0.rawValue)","reason":"R"}"#)
            }
            + [
                reply(Self.agent + "TooManyAgents", "{}"), reply("org.varlink.service.PermissionDenied", "{}"),
                reply("io.contactbroker.Contacts.StoreUnavailable", "{}"),
            ]
    }

    @Test("Each problem has a text of its own in each language", arguments: LocalizedNames.available)
    func texts(language: String) throws {
        let names = LocalizedNames(languages: [language])
        let errors: [any Error] =
            try replies() + [
                VarlinkClientError.closed, VarlinkClientError.timedOut, VarlinkClientError.protocolViolation("x"),
                BrokerConnectionError.notRunning(lookedAt: []),
                BrokerConnectionError.notRunning(lookedAt: ["/a", "/b"]),
                BrokerConnectionError.cannotConnect(path: "/a", reason: "x"),
                BrokerConnectionError.foreignServer(path: "/a", uid: 7),
                BrokerConnectionError.foreignServer(path: "/a", uid: nil), Terminal.Failure.noLocale,
                Terminal.Failure.noMemory, Terminal.Failure.tooSimple, Terminal.Failure.cannotOpen(reason: "x"),
            ]
        let rows = RowProblem.allCases.compactMap { names.words(forRow: $0.rawValue, key: "emailAddresses") }
        #expect(rows.count == RowProblem.allCases.count)
        let texts = errors.map { names.words(for: $0) } + rows
        #expect(Set(texts).count == texts.count)
        guard language != "en" else { return }
        let english = Set(
            errors.map { LocalizedNames.inEnglish.words(for: $0) }
                + RowProblem.allCases.compactMap {
                    LocalizedNames.inEnglish.words(forRow: $0.rawValue, key: "emailAddresses")
                })
        for text in texts { #expect(!english.contains(text), "\(text)") }
    }

    @Test("The broker's English text is shown only where it has details, or where the problem is unknown")
    func details() throws {
        for error in try replies() {
            guard case .error(_, let parameters) = error else { continue }
            let hasDetails = ["malformed", "authorityFailed"].contains(parameters["problem"]?.string)
            #expect(Self.german.words(for: error).contains("R)") == hasDetails)
        }
        for name in ["InvalidAnswer", "AuthenticationFailed"] {
            #expect(
                Self.german.words(for: try reply(Self.agent + name, #"{"problem":"later","reason":"why\u001b[2J"}"#))
                    == "why[2J")
        }
        #expect(Self.german.words(for: try reply("org.example.Strange", "{}")) == "org.example.Strange")
        #expect(Self.german.words(forRow: "later", key: nil) == nil)
        #expect(Self.german.words(forRow: "lacksKey", key: "shoeSize") == nil)
        #expect(Self.german.words(forRow: "tooMany", key: "phoneNumbers") == "zu viel: Telefonnummern")
    }

    @Test("A row says with how many cards it is linked, and what a group shares")
    func rows() throws {
        func detail(_ members: String, _ names: LocalizedNames) throws -> String? {
            let json = #"{"identifier":"r","contact":{"givenName":"Ada"},"enabled":true,\#(members)}"#
            return Row(try JSONDocument(parsing: Array(json.utf8)).root, names)?.detail
        }
        let english = LocalizedNames.inEnglish
        #expect(try detail(#""detail":"a@b","linked":1"#, english) == "a@b  with 1 linked card")
        #expect(try detail(#""linked":2"#, Self.german) == "mit 2 verknüpften Karten")
        #expect(try detail(#""members":2,"grows":false"#, english) == "contact group: 2 contacts")
        let grows = "contact group: 2 contacts, and those that you add to it later"
        #expect(try detail(#""members":2,"grows":true"#, english) == grows)
    }

    @Test("A refused answer and a lost broker are explained in the person's language")
    func screen() throws {
        let broker = BrokerStandIn()
        broker.refusal = (Self.agent + "InvalidAnswer", #"{"problem":"grantEnded","reason":"the grant has ended"}"#)
        let fixture = try AgentFixture(environment: ["LANG": "de_DE.UTF-8"], broker: broker)
        try fixture.registered()
        fixture.ask(PromptText())
        try fixture.see("[a] Alle", thenPress: "a")
        try fixture.see("[y] ", thenPress: "y")
        try fixture.see("Der Broker hat das abgelehnt: der Zugriff der App ist inzwischen beendet")
        broker.close()
        try fixture.see("Der Broker ist nicht erreichbar: die Verbindung wurde geschlossen")
    }

    @Test("Errors at the start are in the person's language, too")
    func start() throws {
        let fixture = try AgentFixture(environment: ["TERM": "dumb", "LANG": "fr_FR.UTF-8"])
        #expect(try fixture.exit() == .exited(2))
        #expect(fixture.terminal.screen.contains("contact-agent: impossible de dessiner sur ce terminal"))
        let broker = BrokerStandIn()
        broker.serveRefusal = (Self.agent + "TooManyAgents", "{}")
        let refused = try AgentFixture(environment: ["LANG": "es_ES.UTF-8"], broker: broker)
        #expect(try refused.exitWhileServing() == .exited(2))
        #expect(refused.terminal.screen.contains("no se pudo registrar como agente: hay demasiados"))
    }
}
