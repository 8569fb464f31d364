import BrokerJSON

/// An app: its own process with a connection to the broker.
final class App {
    static let interface = "io.contactbroker.Contacts."

    let companion: Companion
    let line: Line
    let socket: String

    init(companion: Companion, at socket: String) throws {
        self.companion = companion
        self.socket = socket
        line = try companion.open(socket)
    }

    /// The path in the broker's identifier of this app. The rest of that identifier is the program's hash.
    var path: String { companion.path }

    func begin(_ method: String, _ parameters: String = "{}", more: Bool = false) throws {
        try line.begin(Self.interface + method, parameters, more: more)
    }

    func reply(within time: Duration = .seconds(30)) throws -> Answer { try line.reply(within: time) }

    /// Whether the broker has replied to the last call.
    func hasReply() -> Bool {
        (try? companion.wait(for: "a reply", within: .milliseconds(2)) { line.hasNews }) != nil
    }

    func call(_ method: String, _ parameters: String = "{}") throws -> Answer {
        try begin(method, parameters)
        return try reply()
    }

    /// Fetches names. `parameters` holds further JSON members.
    func fetch(_ parameters: String = #""sortOrder":"familyName""#) throws -> Answer {
        try call("FetchContacts", Self.fetching(parameters))
    }

    static func fetching(_ parameters: String) -> String {
        #"{"keys":["givenName","familyName"]\#(parameters.isEmpty ? "" : ",")\#(parameters)}"#
    }

    /// - Parameter steps: the changes as JSON.
    func save(_ steps: [String]) throws -> Answer {
        try call("SaveContacts", Self.saving(steps))
    }

    static func saving(_ steps: [String]) -> String { #"{"changes":[\#(steps.joined(separator: ","))]}"# }

    /// A step that adds a contact with these JSON members.
    static func adding(_ contact: String) -> String { #"{"operation":"add","contact":{\#(contact)}}"# }

    static func adding(given: String, family: String = "") -> String {
        adding(#""givenName":\#(quoted(given)),"familyName":\#(quoted(family))"#)
    }
}

extension Answer {
    /// The names of the contacts in the reply, in its order.
    var names: [String] {
        parameters["contacts"]?.elements?.map { contact in
            ["givenName", "familyName"].compactMap { contact[$0]?.string }.filter { !$0.isEmpty }
                .joined(separator: " ")
        } ?? []
    }

    var identifiers: [String] {
        parameters["contacts"]?.elements?.compactMap { $0["identifier"]?.string } ?? []
    }
}
