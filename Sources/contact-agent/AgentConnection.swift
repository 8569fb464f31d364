import BrokerFormatting
import BrokerJSON
import BrokerModel
import BrokerVarlink
import BrokerVarlinkClient

/// One registration with the broker. Prompts arrive on one connection; calls about them use another.
final class AgentConnection {
    /// The timeout for replies that do not wait for the person.
    static let timeout = Duration.seconds(10)
    /// The timeout for replies that may wait for a password. The person has 120 seconds to enter it.
    static let passwordTimeout = Duration.seconds(130)
    /// The interval at which this program checks for signals while it waits for the reply to an approval.
    static let patience = Duration.milliseconds(250)

    /// Texts in the person's language. Its ``LocalizedNames/nameOrder`` is that of the prompt on the screen.
    var names: LocalizedNames
    private let serving: VarlinkClient
    private let calling: VarlinkClient
    private var token: String?

    private static let interface = "io.contactbroker.Agent."

    /// Connects without sending anything.
    init(opening connector: AgentConnector, _ names: LocalizedNames) throws {
        self.names = names
        serving = try connector.open()
        calling = try connector.open()
    }

    /// Registers this agent. The broker sends `terminal` to the person's other agents.
    func serve(terminal: String?) throws(VarlinkClientError) {
        try serving.begin(Self.interface + "Serve", more: true) {
            $0.member("terminal", terminal)
            $0.member("watch", true)
        }
    }

    /// The descriptor for poll(2). Check ``hasBufferedReply`` first.
    var fileDescriptor: CInt { serving.fileDescriptor }
    var hasBufferedReply: Bool { serving.hasBufferedReply }
    /// Whether the broker has accepted this agent.
    var isRegistered: Bool { token != nil }

    func close() {
        serving.close()
        calling.close()
    }

    /// Returns the next reply of `Serve`, or `nil` if none has arrived. Does not block.
    func nextEvent() throws(VarlinkClientError) -> JSONValue? {
        guard let (reply, continues) = try serving.nextReply(timeout: .zero) else { return nil }
        guard continues else {
            close()
            throw .closed
        }
        if let token = reply["agent"]?.string { self.token = token }
        return reply
    }

    /// Fetches a page of contacts for the prompt that is being shown.
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
            rows: reply["rows"]?.elements?.compactMap { Row($0, names) } ?? [],
            total: Int(reply["total"]?.integer ?? 0), offset: offset)
    }

    /// Fetches one contact's card; `nil` if it cannot be parsed.
    func show(_ cookie: String, _ identifier: String) throws(VarlinkClientError) -> Card? {
        let reply = try call("Show") {
            $0.member("cookie", cookie)
            $0.member("identifier", identifier)
        }
        return Card(reply: reply, names)
    }

    /// Tells the broker that the person pressed a key at this prompt.
    func keepOpen(_ cookie: String) throws(VarlinkClientError) {
        _ = try call("KeepOpen") { $0.member("cookie", cookie) }
    }

    /// - Returns: the seconds that the app must wait before its next prompt, if it must.
    func answer(_ cookie: String, _ answer: Answer) throws(VarlinkClientError) -> Int? {
        let reply = try call("Answer") {
            $0.member("cookie", cookie)
            answer.write(into: &$0)
        }
        return reply["wait"]?.int
    }

    /// Sends an answer for which the broker may ask for the person's password. Waits for the reply until
    /// `isOver` returns `true` or ``passwordTimeout`` has passed.
    func answer(_ cookie: String, _ answer: Answer, until isOver: () -> Bool) throws(VarlinkClientError) {
        _ = try callWithPassword("Answer", cookie, until: isOver) { answer.write(into: &$0) }
    }

    private func callWithPassword(
        _ method: String, _ cookie: String, until isOver: () -> Bool, _ write: (inout JSONWriter) -> Void
    ) throws(VarlinkClientError) -> JSONValue {
        guard let token else { throw .closed }
        try calling.begin(Self.interface + method) {
            $0.member("agent", token)
            $0.member("cookie", cookie)
            write(&$0)
        }
        let deadline = ContinuousClock.now + Self.passwordTimeout
        while true {
            if let reply = try calling.nextReply(timeout: Self.patience) { return reply.parameters }
            guard ContinuousClock.now < deadline, !isOver() else {
                calling.close()
                throw .timedOut
            }
        }
    }

    /// Returns the saves of the app that the person reviews, the newest first.
    func listChanges(_ cookie: String) throws(VarlinkClientError) -> [PastSave] {
        let reply = try call("ListChanges") { $0.member("cookie", cookie) }
        return reply["saves"]?.elements?.compactMap { PastSave($0, names) } ?? []
    }

    /// Returns what ``putBack(_:_:until:)`` would do.
    func foresee(_ cookie: String, _ request: PutBackRequest) throws(VarlinkClientError) -> PutBackResult {
        let reply = try call("PutBack") {
            $0.member("cookie", cookie)
            request.write(into: &$0)
            $0.member("dryRun", true)
        }
        return PutBackResult(reply, names)
    }

    /// Puts back what the app changed. The broker may ask for the person's password, as for an answer.
    func putBack(
        _ cookie: String, _ request: PutBackRequest, until isOver: () -> Bool
    ) throws(VarlinkClientError) -> PutBackResult {
        PutBackResult(try callWithPassword("PutBack", cookie, until: isOver) { request.write(into: &$0) }, names)
    }

    /// Returns the person's grants, the number of all contacts if it is known, and what follows from a mistake in the
    /// administrator's files.
    func listGrants() throws(VarlinkClientError) -> (grants: [AppGrant], total: Int?, mistake: Phrase?) {
        let reply = try call("ListGrants")
        let total = reply["totalContacts"]?.int
        let grants = reply["grants"]?.elements?.compactMap { AppGrant($0, total: total) } ?? []
        let isKept = reply["formerRules"]?.bool == true
        return (grants, total, reply["reason"]?.string != nil ? .everyAppRefused : isKept ? .formerRules : nil)
    }

    func listFolders() throws(VarlinkClientError) -> [DeclaredFolder] {
        let reply = try call("ListFolders")
        return reply["folders"]?.elements?.compactMap(DeclaredFolder.init) ?? []
    }

    /// Declares the folder at this path, or returns only what the broker would declare.
    func declareFolder(_ path: String, checkOnly: Bool = false) throws(VarlinkClientError) -> DeclaredFolder {
        let reply = try call("DeclareFolder") {
            $0.member("path", path)
            $0.member("checkOnly", checkOnly)
        }
        guard let folder = reply["folder"].flatMap(DeclaredFolder.init) else {
            throw .protocolViolation("no folder in the reply")
        }
        return folder
    }

    func endFolder(_ folder: DeclaredFolder) throws(VarlinkClientError) {
        _ = try call("EndFolder") { $0.member("path", folder.path) }
    }

    /// Returns a prompt in which the person manages one app's grant; `nil` if the prompt cannot be parsed.
    func manage(_ grant: AppGrant) throws(VarlinkClientError) -> Prompt? {
        let reply = try call("Manage") {
            $0.member("app", grant.app)
            $0.member("strength", grant.strength.rawValue)
            $0.member("session", grant.session)
        }
        var prompt = reply["prompt"].flatMap { Prompt($0) }
        prompt?.isOwn = true
        return prompt
    }

    private func call(
        _ method: String, _ write: (inout JSONWriter) -> Void = { _ in }
    ) throws(VarlinkClientError) -> JSONValue {
        guard let token else { throw .closed }
        return try calling.call(Self.interface + method) {
            $0.member("agent", token)
            write(&$0)
        }
    }
}

extension DeclaredFolder {
    /// - Returns: `nil` if the object does not match the interface.
    fileprivate init?(_ object: JSONValue) {
        guard let path = object["path"]?.string, let ends = object["ends"]?.seconds else { return nil }
        self.init(path: path, ends: ends)
    }
}

extension PutBackRequest {
    fileprivate func write(into writer: inout JSONWriter) {
        writer.member("save", Int(save))
        writer.member("contact", contact)
        if later { writer.member("later", true) }
        if force { writer.member("force", true) }
    }
}
