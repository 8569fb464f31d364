import BrokerJSON
import CBrokerLinux
import Glibc

/// A stand-in for the broker's agent socket: a real socket and real frames, with replies that a test sets.
///
/// It has no thread of its own: a test that waits calls ``serve()`` when one of ``descriptors`` is readable.
final class BrokerStandIn {
    struct Contact {
        var identifier: String
        var givenName: String
        var familyName: String
        var detail: String?
        /// Why the row cannot be chosen: a problem, and its key after a space.
        var problem: String?
        /// Whether the app sees it already.
        var isGranted = false
        /// For a pick: whether choosing the row picks the contact. Otherwise choosing it shows `card`.
        var returns: Bool?
        var card: String?
        /// What the contact has in common with an offered card.
        var match: String?
        /// For a save: what it does, to a record of which kind, and the name of the other record.
        var change: String?
        var record: String?
        var other: String?
        /// What the contact of `card` is before the save, and what the save does to its photo.
        var former: String?
        var photo: String?
    }

    struct Answer: Equatable {
        var cookie: String
        var level: String?
        var identifiers: [String]?
        var keys: [String]?
        var lifetime: String?
        var neverAskAgain: Bool?
        var removed: [String]?
        /// The picked items, each as contact, key and value, separated by slashes.
        var picked: [String]?
        var addProposed: Bool?
        var mergeInto: String?
        var mayAskAgain: Bool?
        var allow: String?
    }

    let runtimeDirectory: String
    var contacts: [Contact] = []
    var grants = "[]"
    /// The prompt that `Manage` returns.
    var managed: PromptText?
    /// The parameters of the last `Manage`: app, strength and session.
    private(set) var opened: [String?] = []
    /// While set, the error that every `Answer` gets: its name and parameters.
    var refusal: (name: String, parameters: String)?
    /// While set, the error that `Serve` gets.
    var serveRefusal: (name: String, parameters: String)?
    /// While set, searches are not answered before ``releaseSearch()``.
    var holdsSearch = false
    /// While set, `Serve` and `Answer` are not answered before ``release()``, as while polkit asks for a password.
    var holdsForPassword = false
    private var held: [(method: String, parameters: JSONValue?, descriptor: CInt)] = []
    private var heldSearch: (parameters: JSONValue?, descriptor: CInt)?
    private(set) var answers: [Answer] = []
    private(set) var searches: [(query: String, offset: Int, limit: Int)] = []
    /// The cookies of prompts at which a key was pressed.
    private(set) var keptOpen: [String] = []
    private(set) var servingConnections = 0
    private(set) var isNotifying = false
    /// How often something was put back.
    private(set) var putBacks = 0

    /// The paths of the declared folders.
    private(set) var folders: [String] = []
    /// When each declaration ends.
    private static let folderEnd = "2099-01-31T12:00:00Z"

    private var listening: CInt = -1
    private var connections: [CInt: [UInt8]] = [:]
    private var serving: CInt?
    private static let token = "token-1"
    /// The keys whose values can be picked from a card.
    static let selectable = ["phoneNumbers", "emailAddresses"]

    var isServing: Bool { serving != nil }
    var descriptors: [CInt] { (listening >= 0 ? [listening] : []) + connections.keys }

    init() {
        let template = strdup("/tmp/contact-agent-test-XXXXXX")
        defer { free(template) }
        runtimeDirectory = template.flatMap { mkdtemp($0) }.map { String(cString: $0) } ?? "/nonexistent"
        mkdir(runtimeDirectory + "/agent", 0o700)
        open()
    }

    deinit {
        close()
        unlink(runtimeDirectory + "/contact-agent")
        rmdir(runtimeDirectory + "/agent")
        rmdir(runtimeDirectory)
    }

    private var path: String { runtimeDirectory + "/agent/io.contactbroker.Agent" }

    /// - Parameter group: the only group that may connect, as in system mode.
    func open(group: gid_t? = nil) {
        listening = clinux_listen(path, 0o600, 8)
        guard let group else { return }
        chown(path, 0, group)
        chmod(path, 0o660)
    }

    /// Closes the socket and all connections, as a broker does when it stops.
    func close() {
        for descriptor in connections.keys { hangUp(descriptor) }
        connections = [:]
        serving = nil
        if listening >= 0 { hangUp(listening) }
        listening = -1
        unlink(path)
    }

    /// Shuts the connection down for every copy of the descriptor. A process that another test has just started may
    /// have such a copy for a moment.
    private func hangUp(_ descriptor: CInt) {
        shutdown(descriptor, CInt(SHUT_RDWR))
        Glibc.close(descriptor)
    }

    /// The number of calls that wait for a password.
    var heldCount: Int { held.count }

    /// Answers the calls that waited for a password.
    func release() {
        holdsForPassword = false
        let waiting = held
        held = []
        for call in waiting { answer(call.method, call.parameters, on: call.descriptor) }
    }

    func releaseSearch() {
        holdsSearch = false
        if let heldSearch { search(heldSearch.parameters, on: heldSearch.descriptor) }
        heldSearch = nil
    }

    /// Sends one reply to `Serve`, with these parameters as JSON.
    func say(_ parameters: String) {
        guard let serving else { return }
        send(#"{"parameters":\#(parameters),"continues":true}"#, on: serving)
    }

    /// Accepts all connections and answers all calls that have arrived.
    func serve() {
        while listening >= 0 {
            let accepted = clinux_accept(listening)
            guard accepted >= 0 else { break }
            connections[accepted] = []
        }
        for descriptor in Array(connections.keys) { receive(descriptor) }
    }

    private func receive(_ descriptor: CInt) {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &bytes, bytes.count, 0)
            if count > 0 {
                connections[descriptor]?.append(contentsOf: bytes.prefix(count))
                continue
            }
            if count == 0 || errno != EAGAIN {
                connections[descriptor] = nil
                hangUp(descriptor)
                if serving == descriptor { serving = nil }
                return
            }
            break
        }
        while let end = connections[descriptor]?.firstIndex(of: 0) {
            let frame = Array(connections[descriptor]?[..<end] ?? [])
            connections[descriptor]?.removeFirst(end + 1)
            if let call = try? JSONDocument(parsing: frame).root { answer(call, on: descriptor) }
        }
    }

    private func answer(_ call: JSONValue, on descriptor: CInt) {
        let method = call["method"]?.string ?? ""
        let parameters = call["parameters"]
        guard method.hasSuffix(".Serve") || parameters?["agent"]?.string == Self.token else {
            return fail("io.contactbroker.Agent.NotAnAgent", #"{"reason":"no token"}"#, on: descriptor)
        }
        answer(method, parameters, on: descriptor)
    }

    private func answer(_ method: String, _ parameters: JSONValue?, on descriptor: CInt) {
        if holdsForPassword, method.hasSuffix(".Serve") || method.hasSuffix(".Answer") {
            held.append((method, parameters, descriptor))
            return
        }
        switch method {
        case "io.contactbroker.Agent.Serve":
            if let serveRefusal { return fail(serveRefusal.name, serveRefusal.parameters, on: descriptor) }
            serving = descriptor
            servingConnections += 1
            isNotifying = parameters?["notifyOnly"]?.bool ?? false
            say(isNotifying ? #"{"waiting":0}"# : #"{"agent":"\#(Self.token)","waiting":0,"others":0}"#)
        case "io.contactbroker.Agent.Search": search(parameters, on: descriptor)
        case "io.contactbroker.Agent.KeepOpen":
            keptOpen.append(parameters?["cookie"]?.string ?? "")
            send(#"{"parameters":{}}"#, on: descriptor)
        case "io.contactbroker.Agent.Answer":
            if let refusal { return fail(refusal.name, refusal.parameters, on: descriptor) }
            answers.append(
                Answer(
                    cookie: parameters?["cookie"]?.string ?? "", level: parameters?["level"]?.string,
                    identifiers: parameters?["identifiers"]?.elements?.compactMap(\.string),
                    keys: parameters?["keys"]?.elements?.compactMap(\.string),
                    lifetime: parameters?["lifetime"]?.string, neverAskAgain: parameters?["neverAskAgain"]?.bool,
                    removed: parameters?["removed"]?.elements?.compactMap(\.string),
                    picked: parameters?["picked"]?.elements?.map { pick in
                        ["contact", "key", "value"].compactMap { pick[$0]?.string }.joined(separator: "/")
                    }, addProposed: parameters?["addProposed"]?.bool, mergeInto: parameters?["mergeInto"]?.string,
                    mayAskAgain: parameters?["mayAskAgain"]?.bool, allow: parameters?["allow"]?.string))
            send(#"{"parameters":{}}"#, on: descriptor)
        case "io.contactbroker.Agent.ListGrants":
            send(#"{"parameters":{"grants":\#(grants),"totalContacts":\#(contacts.count)}}"#, on: descriptor)
        case "io.contactbroker.Agent.ListFolders":
            let listed = folders.map { #"{"path":"\#($0)","ends":"\#(Self.folderEnd)"}"# }.joined(separator: ",")
            send(#"{"parameters":{"folders":[\#(listed)]}}"#, on: descriptor)
        case "io.contactbroker.Agent.DeclareFolder":
            let path = parameters?["path"]?.string ?? ""
            guard !path.hasSuffix("/none") else {
                return fail(
                    "io.contactbroker.Agent.InvalidFolder", #"{"problem":"notFound","reason":"no folder"}"#,
                    on: descriptor)
            }
            if parameters?["checkOnly"]?.bool != true { folders.append(path) }
            send(#"{"parameters":{"folder":{"path":"\#(path)","ends":"\#(Self.folderEnd)"}}}"#, on: descriptor)
        case "io.contactbroker.Agent.EndFolder":
            folders.removeAll { $0 == parameters?["path"]?.string }
            send(#"{"parameters":{}}"#, on: descriptor)
        case "io.contactbroker.Agent.Show":
            let identifier = parameters?["identifier"]?.string
            let shown = Self.shown(contacts.first { $0.identifier == identifier })
            send(#"{"parameters":\#(shown)}"#, on: descriptor)
        case "io.contactbroker.Agent.Manage":
            opened = ["app", "strength", "session"].map { parameters?[$0]?.string }
            guard let managed else {
                return fail("org.varlink.service.InvalidParameter", #"{"parameter":"app"}"#, on: descriptor)
            }
            send(#"{"parameters":{"prompt":\#(managed.json)}}"#, on: descriptor)
        case "io.contactbroker.Agent.ListChanges": send(#"{"parameters":\#(Self.changes)}"#, on: descriptor)
        case "io.contactbroker.Agent.PutBack":
            if parameters?["dryRun"]?.bool != true {
                if let refusal { return fail(refusal.name, refusal.parameters, on: descriptor) }
                putBacks += 1
            }
            let reply = Self.putBack(
                contact: parameters?["contact"]?.string, isLater: parameters?["later"]?.bool == true,
                isForced: parameters?["force"]?.bool == true)
            send(#"{"parameters":\#(reply)}"#, on: descriptor)
        default: fail("org.varlink.service.MethodNotFound", #"{"method":"x"}"#, on: descriptor)
        }
    }

    private func search(_ parameters: JSONValue?, on descriptor: CInt) {
        let query = parameters?["query"]?.string ?? ""
        let offset = Int(parameters?["offset"]?.integer ?? 0)
        let limit = Int(parameters?["limit"]?.integer ?? 50)
        searches.append((query, offset, limit))
        guard !holdsSearch else {
            heldSearch = (parameters, descriptor)
            return
        }
        let found = Self.found(
            contacts, query, offset: offset, limit: limit, sharedOnly: parameters?["granted"]?.bool ?? false)
        send(#"{"parameters":\#(found)}"#, on: descriptor)
    }

    /// The parameters of the reply to `ListChanges`.
    static let changes = """
        {"saves":[{"number":9,"kind":"save","time":"2026-03-02T10:00:00Z","app":"/usr/bin/mail","strength":"unverified",\
        "added":1,"changed":0,"deleted":2,"contacts":[{"change":"deleted","contact":{"givenName":"Ada"}},\
        {"change":"added","contact":{"givenName":"Bob"}}]},{"number":4,"kind":"save","time":"2026-03-01T10:00:00Z",\
        "app":"/usr/bin/mail","strength":"unverified","added":0,"changed":1,"deleted":0,\
        "contacts":[{"change":"changed","contact":{"givenName":"Grace"}}]}]}
        """

    /// The parameters of the reply to `PutBack`.
    static func putBack(contact: String?, isLater: Bool, isForced: Bool) -> String {
        func row(_ identifier: String, _ outcome: String, _ name: String) -> String {
            #"{"identifier":"\#(identifier)","outcome":"\#(outcome)","contact":{"givenName":"\#(name)"}}"#
        }
        let (ada, bob) = (row("p1", "returned", "Ada"), row("p2", "removed", "Bob"))
        let cid = row("p3", isForced ? "changed" : "conflict", "Cid")
        let (rows, returned, removed, others) =
            switch contact {
            case "p1": ([ada], 1, 0, 0)
            case "p2": ([bob], 0, 1, 0)
            case "p3": ([cid], 0, 0, 1)
            default: ([ada, bob, cid], isLater ? 2 : 1, 1, 1)
            }
        return #"{"returned":\#(returned),"changed":\#(isForced ? others : 0),"removed":\#(removed),"#
            + #""conflicts":\#(isForced ? 0 : others),"lost":0,"groups":0,"contacts":[\#(rows.joined(separator: ","))]"#
            + (contact == "p3" ? sides : "") + "}"
    }

    /// A contact as it is, and as it would be.
    private static let sides = """
        ,"now":{"givenName":"Cid","jobTitle":"Baker","phoneNumbers":[{"identifier":"2","value":"+1 555 0199"}]},\
        "then":{"givenName":"Cid","phoneNumbers":[{"identifier":"1","value":"+1 555 0100"}]}
        """

    /// The parameters of the reply to `Show`.
    static func shown(_ contact: Contact?) -> String {
        let selectable = selectable.map { "\"\($0)\"" }.joined(separator: ",")
        let photo = contact?.photo.map { "\"\($0)\"" } ?? "null"
        return #"{"contact":\#(contact?.card ?? "{}"),"selectable":[\#(selectable)],"#
            + #""former":\#(contact?.former ?? "null"),"photo":\#(photo)}"#
    }

    /// The parameters of the reply to a search.
    static func found(
        _ contacts: [Contact], _ query: String, offset: Int, limit: Int, sharedOnly: Bool
    ) -> String {
        let found = contacts.filter { contact in
            contact.isGranted || !sharedOnly
        }.filter {
            "\($0.givenName) \($0.familyName)".lowercased().hasPrefix(query.lowercased())
                || $0.familyName.lowercased().hasPrefix(query.lowercased())
        }
        var writer = JSONWriter()
        writer.object { writer in
            writer.name("rows")
            writer.array(found.dropFirst(offset).prefix(limit)) { writer, contact in
                writer.object { writer in
                    writer.member("identifier", contact.identifier)
                    writer.name("contact")
                    writer.object {
                        $0.member("contactType", "person")
                        $0.member("givenName", contact.givenName)
                        $0.member("familyName", contact.familyName)
                    }
                    writer.member("detail", contact.detail)
                    writer.member("granted", contact.isGranted ? "all" : "none")
                    writer.member("enabled", contact.problem == nil)
                    let problem = contact.problem?.split(separator: " ").map(String.init) ?? []
                    writer.member("problem", problem.first)
                    writer.member("key", problem.dropFirst().first)
                    writer.member("returns", contact.returns)
                    writer.member("match", contact.match)
                    writer.member("change", contact.change)
                    writer.member("record", contact.record)
                    if let other = contact.other {
                        writer.name("other")
                        writer.object { $0.member("organizationName", other) }
                    }
                }
            }
            writer.member("total", found.count)
            writer.member("more", offset + limit < found.count)
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func fail(_ name: String, _ parameters: String, on descriptor: CInt) {
        send(#"{"error":"\#(name)","parameters":\#(parameters)}"#, on: descriptor)
    }

    private func send(_ text: String, on descriptor: CInt) {
        let bytes = Array(text.utf8) + [0]
        _ = Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL))
    }
}
