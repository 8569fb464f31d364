import BrokerFormatting
import BrokerJSON
import BrokerVarlink
import BrokerVarlinkClient

/// One registration with the broker: prompts come on one connection, and what is asked about them goes out on another.
final class AgentConnection {
    /// How long the broker may take for an answer that needs no person.
    static let timeout = Duration.seconds(10)
    /// How long it may take where the person is asked for their password: they have 120 seconds.
    static let passwordTimeout = Duration.seconds(130)
    /// While that is waited for, signals are looked at so often.
    static let patience = Duration.milliseconds(250)

    /// What one reply of `Serve` says.
    struct Event {
        var prompt: Prompt?
        var withdrawn: String?
        /// How many more agents serve this person.
        var others: Int?
        /// Where the one that came last runs.
        var joined: String?
        /// A prompt that nobody could read; its cookie, so that it can be dismissed.
        var unreadable: String?
    }

    /// In which what comes is shown.
    private let names: LocalizedNames
    private let serving: VarlinkClient
    private let calling: VarlinkClient
    private var token: String?

    private static let interface = "io.contactbroker.Agent."

    /// Connects, and says nothing yet.
    init(opening door: AgentDoor, _ names: LocalizedNames) throws {
        self.names = names
        serving = try door.open()
        calling = try door.open()
    }

    /// Registers. `terminal` is what the broker tells about this agent.
    func serve(terminal: String?) throws(VarlinkClientError) {
        try serving.begin(Self.interface + "Serve", more: true) { $0.member("terminal", terminal) }
    }

    /// For poll(2); beside it ``hasBufferedReply`` must be looked at.
    var fileDescriptor: CInt { serving.fileDescriptor }
    var hasBufferedReply: Bool { serving.hasBufferedReply }
    /// The broker has taken us as an agent.
    var isRegistered: Bool { token != nil }

    func close() {
        serving.close()
        calling.close()
    }

    /// The next thing the broker said, or `nil` when it has said nothing more yet.
    func nextEvent() throws(VarlinkClientError) -> Event? {
        guard let (reply, continues) = try serving.nextReply(timeout: .zero) else { return nil }
        guard continues else {
            close()
            throw .closed
        }
        if let token = reply["agent"]?.string { self.token = token }
        var event = Event()
        if let prompt = reply["prompt"], !prompt.isNull {
            event.prompt = Prompt(prompt, names)
            if event.prompt == nil { event.unreadable = prompt["cookie"]?.string }
        }
        event.withdrawn = reply["withdrawn"]?.string
        event.others = reply["others"]?.integer.map { Int($0) }
        event.joined = reply["joined"]?.string
        return event
    }

    /// A page of contacts for the prompt that is being shown.
    ///
    /// - Parameter sharedOnly: only contacts that the app can see already.
    func search(
        _ cookie: String, query: String, offset: Int, limit: Int, sharedOnly: Bool
    ) throws(VarlinkClientError) -> SearchResult {
        let reply = try call("Search") {
            $0.member("cookie", cookie)
            $0.member("query", query)
            $0.member("offset", offset)
            $0.member("limit", limit)
            if sharedOnly { $0.member("granted", true) }
        }
        return SearchResult(
            rows: (reply["rows"]?.elements).map { $0.compactMap { Row($0, names) } } ?? [],
            total: Int(reply["total"]?.integer ?? 0), offset: offset)
    }

    /// One contact's card; `nil` where it cannot be read.
    func show(_ cookie: String, _ identifier: String) throws(VarlinkClientError) -> Card? {
        let reply = try call("Show") {
            $0.member("cookie", cookie)
            $0.member("identifier", identifier)
        }
        return reply["contact"].flatMap { Card($0, names, selectable: reply["selectable"]?.strings ?? []) }
    }

    func answer(_ cookie: String, _ answer: Answer) throws(VarlinkClientError) {
        _ = try call("Answer") {
            $0.member("cookie", cookie)
            answer.write(into: &$0)
        }
    }

    /// An answer for which the person may be asked for their password.
    ///
    /// - Parameter isOver: asked now and then; when it says so, nobody waits any longer.
    func answer(_ cookie: String, _ answer: Answer, until isOver: () -> Bool) throws(VarlinkClientError) {
        guard let token else { throw .closed }
        try calling.begin(Self.interface + "Answer") {
            $0.member("agent", token)
            $0.member("cookie", cookie)
            answer.write(into: &$0)
        }
        let deadline = ContinuousClock.now + Self.passwordTimeout
        while try calling.nextReply(timeout: Self.patience) == nil {
            guard ContinuousClock.now < deadline, !isOver() else {
                calling.close()
                throw .timedOut
            }
        }
    }

    func listGrants() throws(VarlinkClientError) -> [AppGrant] {
        let reply = try call("ListGrants") { _ in }
        return (reply["grants"]?.elements).map { $0.compactMap(AppGrant.init) } ?? []
    }

    /// Opens what was decided for one app; `nil` where the broker's prompt cannot be read.
    func manage(_ grant: AppGrant) throws(VarlinkClientError) -> Prompt? {
        let reply = try call("Manage") {
            $0.member("app", grant.app)
            $0.member("strength", grant.strength.rawValue)
            $0.member("session", grant.session)
        }
        var prompt = reply["prompt"].flatMap { Prompt($0, names) }
        prompt?.isOwn = true
        return prompt
    }

    private func call(
        _ method: String, _ write: (inout JSONWriter) -> Void
    ) throws(VarlinkClientError) -> JSONValue {
        guard let token else { throw .closed }
        return try calling.call(Self.interface + method) {
            $0.member("agent", token)
            write(&$0)
        }
    }
}
