import BrokerJSON

/// The person whose contacts these are, with an agent.
final class Person {
    private static let interface = "io.contactbroker.Agent."

    let companion: Companion
    let serving: Line
    private let calling: Line
    private(set) var token = ""
    private(set) var others = 0
    /// Prompts that the agent received and the test has not read yet.
    private var prompts: [JSONValue] = []
    private var queries: [String] = []
    private(set) var withdrawn: [String] = []

    struct Row: Hashable {
        let identifier: String
        let name: String
    }

    /// Connects as an agent. Throws the broker's reply if it refuses.
    init(companion: Companion, at socket: String) throws {
        self.companion = companion
        serving = try companion.open(socket)
        calling = try companion.open(socket)
        try serving.begin(Self.interface + "Serve", "{}", more: true)
        let first = try serving.reply()
        guard first.error == nil, let token = first["agent"]?.string else { throw Trouble(first.text) }
        self.token = token
        take(first)
    }

    private func take(_ reply: Answer) {
        if let prompt = reply["prompt"] { prompts.append(prompt) }
        if reply["updated"] != nil, let query = reply["query"]?.string { queries.append(query) }
        if let cookie = reply["withdrawn"]?.string { withdrawn.append(cookie) }
        if let others = reply["others"]?.integer { self.others = Int(others) }
    }

    /// Waits for the next prompt.
    func prompt(within time: Duration = .seconds(20)) throws -> JSONValue {
        while prompts.isEmpty { take(try serving.reply(within: time)) }
        return prompts.removeFirst()
    }

    /// Waits until an app changes the query of its prompt.
    func changedQuery() throws -> String {
        while queries.isEmpty { take(try serving.reply()) }
        return queries.removeFirst()
    }

    /// Waits until the broker withdraws this prompt.
    func waitForWithdrawal(of prompt: JSONValue) throws {
        while !withdrawn.contains(prompt["cookie"]?.string ?? "") { take(try serving.reply()) }
    }

    /// Whether the agent received no prompt before the broker's reply to a later call.
    func wasNotAsked() throws -> Bool {
        _ = try call("ListGrants", #"{"agent":"\#(token)"}"#)
        while serving.hasNews { take(try serving.reply()) }
        return prompts.isEmpty
    }

    func call(_ method: String, _ parameters: String) throws -> Answer {
        try calling.call(Self.interface + method, parameters)
    }

    func search(_ prompt: JSONValue, _ query: String = "") throws -> [Row] {
        let found = try call("Search", #"{\#(names(prompt)),"query":\#(quoted(query)),"limit":200}"#)
        if let error = found.error { throw Trouble(error) }
        return found["rows"]?.elements?.map { row in
            let contact = row["contact"]
            let names = ["givenName", "familyName"].compactMap { contact?[$0]?.string }.filter { !$0.isEmpty }
            return Row(identifier: row["identifier"]?.string ?? "", name: names.joined(separator: " "))
        } ?? []
    }

    /// - Parameter fields: the answer's JSON members, such as `"level":"full"`. Without any, the prompt is dismissed.
    @discardableResult
    func answer(_ prompt: JSONValue, _ fields: String = "") throws -> Answer {
        try call("Answer", "{" + names(prompt) + (fields.isEmpty ? "" : "," + fields) + "}")
    }

    /// Answers the next prompt.
    func answer(_ choice: Choice) throws {
        let prompt = try prompt()
        let answer: Answer
        switch choice {
        case .everything: answer = try self.answer(prompt, #""level":"full","lifetime":"untilRevoked","changes":"all""#)
        case .everythingAndNotes:
            answer = try self.answer(
                prompt,
                #""level":"full","lifetime":"untilRevoked","keys":["givenName","familyName","note"],"changes":"all""#)
        case .only(let names):
            let rows = try search(prompt).filter { names.contains($0.name) }.map(\.identifier)
            guard rows.count == names.count else { throw Trouble("the agent's list lacks some of \(names)") }
            answer = try self.answer(prompt, #""level":"limited","identifiers":\#(quoted(rows)),"changes":"all""#)
        case .refused: answer = try self.answer(prompt, #""level":"denied","lifetime":"untilRevoked""#)
        case .dismissed: answer = try self.answer(prompt)
        }
        if let error = answer.error { throw Trouble("the broker refused the answer: \(error)") }
    }

    private func names(_ prompt: JSONValue) -> String {
        #""agent":"\#(token)","cookie":"\#(prompt["cookie"]?.string ?? "")""#
    }
}

/// What the person does with a prompt.
enum Choice: Hashable, Sendable {
    case everything, everythingAndNotes
    /// Only the contacts with these names.
    case only([String])
    case refused, dismissed
}

/// A JSON string.
func quoted(_ text: String) -> String {
    var writer = JSONWriter()
    writer.value(text)
    return String(decoding: writer.bytes, as: UTF8.self)
}

/// A JSON array of strings.
func quoted(_ texts: [String]) -> String { "[" + texts.map(quoted).joined(separator: ",") + "]" }
