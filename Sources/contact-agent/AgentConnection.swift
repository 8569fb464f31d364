import JSON
import Varlink
import VarlinkClient

/// One registration with the broker: prompts come on one connection, and what is asked about them goes out on another.
final class AgentConnection {
    /// How long the broker may take for an answer that needs no person.
    static let timeout = Duration.seconds(10)

    /// What one reply of `Serve` says.
    struct Event {
        var prompt: Prompt?
        var withdrawn: String?
        /// How many more agents serve this person.
        var others: Int?
        /// A prompt that nobody could read; its cookie, so that it can be dismissed.
        var unreadable: String?
    }

    private let connect: () throws -> VarlinkClient
    private let serving: VarlinkClient
    private var calling: VarlinkClient?
    private var token: String?

    private static let interface = "io.contactbroker.Agent."

    /// Connects and registers. `terminal` is what the broker tells the person's other agents.
    init(terminal: String?, connect: @escaping () throws -> VarlinkClient) throws {
        self.connect = connect
        serving = try connect()
        try serving.begin(Self.interface + "Serve", more: true) { $0.member("terminal", terminal) }
    }

    /// For poll(2); beside it ``hasBufferedReply`` must be looked at.
    var fileDescriptor: CInt { serving.fileDescriptor }
    var hasBufferedReply: Bool { serving.hasBufferedReply }
    /// The broker has taken us as an agent.
    var isRegistered: Bool { token != nil }

    func close() {
        serving.close()
        calling?.close()
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
            event.prompt = Prompt(prompt)
            if event.prompt == nil { event.unreadable = prompt["cookie"]?.string }
        }
        event.withdrawn = reply["withdrawn"]?.string
        event.others = reply["others"]?.integer.map { Int($0) }
        return event
    }

    /// A page of contacts for the prompt that is being shown.
    ///
    /// - Parameter shared: only contacts that the app can see already.
    func search(
        _ cookie: String, query: String, offset: Int, limit: Int, shared: Bool = false
    ) throws(VarlinkClientError) -> SearchResult {
        let reply = try call("Search") {
            $0.member("cookie", cookie)
            $0.member("query", query)
            $0.member("offset", offset)
            $0.member("limit", limit)
            if shared { $0.member("granted", true) }
        }
        return SearchResult(
            rows: (reply["rows"]?.elements).map { $0.compactMap(Row.init) } ?? [],
            total: Int(reply["total"]?.integer ?? 0), offset: offset)
    }

    /// One contact's card; `nil` where it cannot be read.
    func show(_ cookie: String, _ identifier: String) throws(VarlinkClientError) -> Card? {
        let reply = try call("Show") {
            $0.member("cookie", cookie)
            $0.member("identifier", identifier)
        }
        return reply["contact"].flatMap { Card($0, selectable: reply["selectable"]?.strings ?? []) }
    }

    func answer(_ cookie: String, _ answer: Answer) throws(VarlinkClientError) {
        _ = try call("Answer") {
            $0.member("cookie", cookie)
            answer.write(into: &$0)
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
        var prompt = reply["prompt"].flatMap(Prompt.init)
        prompt?.isOwn = true
        return prompt
    }

    private func call(
        _ method: String, _ write: (inout JSONWriter) -> Void
    ) throws(VarlinkClientError) -> JSONValue {
        guard let token else { throw .closed }
        if calling == nil {
            do {
                calling = try connect()
            } catch let error as VarlinkClientError {
                throw error
            } catch {
                throw .closed
            }
        }
        guard let calling else { throw .closed }
        do throws(VarlinkClientError) {
            return try calling.call(Self.interface + method) {
                $0.member("agent", token)
                write(&$0)
            }
        } catch {
            // An error reply leaves the connection usable; anything else ends it, and the next call tries anew.
            if case .error = error { throw error }
            self.calling = nil
            throw error
        }
    }
}
