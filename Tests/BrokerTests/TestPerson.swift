import BrokerAccessControl
import BrokerInterface
import BrokerJSON
import BrokerVarlink
import Testing

/// The person at an agent. The test reads the prompts and gives the answers.
final class TestPerson {
    /// One prompt, as the agent gets it.
    struct Prompt {
        let kind: String
        let cookie: String
        let isQuiet: Bool
        /// Whether the person opened it to look at a grant.
        var isReview = false
    }

    struct Row {
        let identifier: String
        let contact: JSONValue
        let detail: String?
        let granted: String
        /// What the contact has in common with an offered card.
        let match: String?
        let linked, members: Int?
        let grows: Bool?
    }

    let agent: TestApp
    private let serve: Call
    let token: String
    private var seen: Int

    init(fixture: BrokerFixture, uid: UInt32 = 1_000) throws {
        agent = TestApp(fixture: fixture, caller: fixture.caller("agent", uid: uid), interface: .agent)
        serve = try agent.begin("Serve", more: true)
        let first = try #require(try agent.replies(to: serve).first)
        token = try #require(first.parameters["agent"]?.string)
        seen = 1
    }

    /// Disconnects the agent.
    func leave() { agent.hangUp() }

    /// The prompts since the last call that were not withdrawn.
    func prompts() throws -> [Prompt] {
        let replies = try agent.replies(to: serve)
        defer { seen = replies.count }
        let withdrawn = Set(replies.compactMap { $0.parameters["withdrawn"]?.string })
        return replies.dropFirst(seen).compactMap { reply in
            guard let prompt = reply.parameters["prompt"], let kind = prompt["kind"]?.string,
                let cookie = prompt["cookie"]?.string, !withdrawn.contains(cookie)
            else { return nil }
            return Prompt(kind: kind, cookie: cookie, isQuiet: prompt["quiet"]?.bool == true)
        }
    }

    /// Every description of a prompt, in the order of the replies.
    func told() throws -> [JSONValue] { try agent.replies(to: serve).compactMap { $0.parameters["prompt"] } }

    /// All replies to `Serve`.
    func serveReplies() throws -> [Answer] { try agent.replies(to: serve) }

    /// The cookies of the prompts that were withdrawn.
    func withdrawn() throws -> [String] {
        try agent.replies(to: serve).compactMap { $0.parameters["withdrawn"]?.string }
    }

    /// The person presses a key at this prompt.
    func keepOpen(_ prompt: Prompt) throws -> Answer {
        try agent.call("KeepOpen", #"{"agent":"\#(token)","cookie":"\#(prompt.cookie)"}"#)
    }

    /// The cookies of prompts that a key kept open, each with its new end.
    func extensions() throws -> [[String]] {
        try agent.replies(to: serve).compactMap { reply in
            guard let cookie = reply.parameters["extended"]?.string, let end = reply.parameters["expires"]?.string
            else { return nil }
            return [cookie, end]
        }
    }

    /// What the app can see already.
    func granted(_ prompt: Prompt, query: String = "") throws -> [Row] {
        try rows(prompt, query: query, granted: true)
    }

    func rows(_ prompt: Prompt, query: String = "", granted: Bool = false) throws -> [Row] {
        let answer = try agent.call(
            "Search",
            #"{"agent":"\#(token)","cookie":"\#(prompt.cookie)","query":"\#(query)","limit":200,"granted":\#(granted)}"#
        )
        let all = answer.parameters["rows"]?.elements.map(Array.init) ?? []
        agent.fixture.agentRows += all.count
        return all.compactMap { row in
            guard let identifier = row["identifier"]?.string, let contact = row["contact"],
                let granted = row["granted"]?.string
            else { return nil }
            return Row(
                identifier: identifier, contact: contact, detail: row["detail"]?.string, granted: granted,
                match: row["match"]?.string, linked: row["linked"]?.integer.flatMap(Int.init(exactly:)),
                members: row["members"]?.integer.flatMap(Int.init(exactly:)), grows: row["grows"]?.bool)
        }
    }

    /// Opens an app's grant, as the person may at any time, and returns the description of the prompt.
    func review(_ app: TestApp) throws -> JSONValue? {
        let (name, strength) = (app.caller.app, app.caller.strength.rawValue)
        return try agent.call("Manage", #"{"agent":"\#(token)","app":"\#(name)","strength":"\#(strength)"}"#)
            .parameters["prompt"]
    }

    func manage(_ app: TestApp) throws -> Prompt? {
        guard let cookie = try review(app)?["cookie"]?.string else { return nil }
        return Prompt(kind: "manage", cookie: cookie, isQuiet: false, isReview: true)
    }

    /// Opens an app's grant, and gives this answer. Dismisses the prompt if the broker refuses the answer.
    ///
    /// - Returns: the error.
    func manage(_ app: TestApp, answering fields: String) throws -> String? {
        let prompt = try #require(try manage(app))
        let answer = try answer(prompt, fields)
        if answer.error != nil { try self.answer(prompt) }
        return answer.error
    }

    /// Begins an answer, which may have to wait for a password.
    func begin(answering prompt: Prompt, _ fields: String) throws -> Call {
        try agent.begin("Answer", #"{"agent":"\#(token)","cookie":"\#(prompt.cookie)",\#(fields)}"#)
    }

    /// - Parameter fields: further members of the answer, as JSON. Without any, it dismisses the prompt.
    @discardableResult
    func answer(_ prompt: Prompt, _ fields: String = "") throws -> Answer {
        let answer = try agent.call(
            "Answer",
            #"{"agent":"\#(token)","cookie":"\#(prompt.cookie)"\#(fields.isEmpty ? "" : ",")\#(fields)}"#)
        // A review that the person leaves is no answer.
        if answer.error == nil, !(prompt.isReview && fields.isEmpty) { agent.fixture.acceptedAnswers += 1 }
        return answer
    }
}
