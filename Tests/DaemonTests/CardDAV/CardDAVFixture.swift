import BrokerDAV
import BrokerJSON
import Glibc
import Testing

/// A broker with 20 contacts, the service, and a connection that has three of them.
final class CardDAVFixture {
    static let shared = ["Ada Lovelace", "Grace Hopper", "Lin Lanying"]
    static let user = "thunderbird"

    let fixture: DaemonFixture
    let person: Person
    let keeper: App
    private(set) var password = ""
    private(set) var port: UInt16 = 0
    private(set) var service: ChildProcess?

    var book: String { "/\(Self.user)/contacts/" }
    var host: String { "127.0.0.1:\(port)" }
    var messages: String { DaemonFixture.text(of: fixture.folder + "/service") }

    init(sharing choice: Choice = .only(CardDAVFixture.shared)) throws {
        fixture = try DaemonFixture()
        person = try fixture.person()
        let others = (0..<16).map { #""givenName":"Hidden\#($0)","familyName":"Person","note":"not for others""# }
        keeper = try fixture.keeper(adding: DaemonFixture.people + others, with: person)
        password = try connect(Self.user, choice)
        try startService()
    }

    deinit { service?.kill() }

    /// Makes a connection, and returns its password.
    func connect(_ name: String, _ choice: Choice) throws -> String {
        // Not from this process, which is the parent of the agent's: the agent could not answer then.
        let administrator = try fixture.companion("administrator").open(fixture.adminSocket)
        try administrator.begin("io.contactbroker.Admin.Connect", #"{"name":"\#(name)"}"#)
        try person.answer(choice)
        let reply = try administrator.reply()
        return try #require(reply["password"]?.string, "\(reply.text)")
    }

    // MARK: The service

    func startService() throws {
        let ended = try launchService()
        let isServing = try wait { messages.contains("serving http://") || ended.hasEnded(within: .milliseconds(2)) }
        guard isServing, !ended.hasEnded(within: .zero) else { throw Trouble("the service ended: \(messages)") }
        service = ended
        port = try #require(UInt16(DaemonFixture.text(of: fixture.state + "/carddav-port").dropLast()))
    }

    func launchService() throws -> ChildProcess {
        let log = open(fixture.folder + "/service", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o600)
        defer { close(log) }
        return try ChildProcess(
            DaemonFixture.programs + "/contactbroker-dav",
            ["--session", "--runtime-dir", fixture.runtime, "--state-dir", fixture.state],
            descriptors: [(0, log), (1, log), (2, log)])
    }

    func endService() throws -> ChildProcess.End {
        let ending = try #require(service)
        service = nil
        ending.signal(SIGTERM)
        return try ending.waitForEnd()
    }

    func wait(_ isReached: () throws -> Bool) throws -> Bool {
        let deadline = ContinuousClock.now + .seconds(20)
        while try !isReached() {
            guard ContinuousClock.now < deadline else { return false }
            poll(nil, 0, 5)
        }
        return true
    }

    // MARK: Requests

    static func authorization(_ user: String, _ password: String) -> String {
        var base64 = ""
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var bytes = Array("\(user):\(password)".utf8)[...]
        while !bytes.isEmpty {
            let three = bytes.prefix(3)
            bytes = bytes.dropFirst(3)
            let bits = three.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - three.count))
            for place in 0..<4 { base64.append(place > three.count ? "=" : digits[bits >> (18 - 6 * place) & 63]) }
        }
        return "Basic " + base64
    }

    /// The bytes of a request.
    ///
    /// - Parameter fields: take the place of the usual ones with the same name; an empty value removes one.
    func request(
        _ method: String, _ target: String, _ body: String = "", _ fields: [String: String] = [:]
    ) -> String {
        let usual = [
            "Host": host, "Authorization": Self.authorization(Self.user, password), "Content-Type": "application/xml",
            "Content-Length": "\(body.utf8.count)",
        ]
        let all = usual.merging(fields) { $1 }.filter { !$0.value.isEmpty }
        return "\(method) \(target) HTTP/1.1\r\n"
            + all.map { "\($0.key): \($0.value)\r\n" }.joined() + "\r\n" + body
    }

    /// Sends a request on a connection of its own.
    func send(
        _ method: String, _ target: String, _ body: String = "", _ fields: [String: String] = [:]
    ) throws -> HTTPLine.Response {
        let line = try HTTPLine(port: port)
        line.send(request(method, target, body, fields))
        return try #require(try line.response(toHead: method == "HEAD"), "no response: \(messages)")
    }

    func find(_ target: String, depth: Int, _ properties: String) throws -> Multistatus {
        let response = try send(
            "PROPFIND", target, #"<D:propfind \#(Self.spaces)><D:prop>\#(properties)</D:prop></D:propfind>"#,
            ["Depth": "\(depth)"])
        #expect(response.status == 207, "\(response.status) \(response.text)")
        return try Multistatus(response)
    }

    func report(_ body: String) throws -> Multistatus {
        let response = try send("REPORT", book, body, ["Depth": "1"])
        #expect(response.status == 207, "\(response.status) \(response.text)")
        return try Multistatus(response)
    }

    /// - Parameter token: `nil` for the first sync.
    func sync(_ token: String?, _ properties: String = "<D:getetag/>") throws -> Multistatus {
        try report(Self.syncBody(token, properties))
    }

    static func syncBody(_ token: String?, _ properties: String = "<D:getetag/>") -> String {
        "<D:sync-collection \(spaces)><D:sync-token>\(token ?? "")</D:sync-token><D:sync-level>1</D:sync-level>"
            + "<D:prop>\(properties)</D:prop></D:sync-collection>"
    }

    static let spaces =
        #"xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav" xmlns:CS="http://calendarserver.org/ns/""#

    /// The tags of the listed cards by href.
    func tags() throws -> [String: String] {
        try find(book, depth: 1, "<D:getetag/>").found.compactMapValues { $0["getetag"] }
    }

    /// The href of the card with this name.
    func href(_ name: String) throws -> String {
        let all = try report(
            "<C:addressbook-query \(Self.spaces)><D:prop><C:address-data/></D:prop></C:addressbook-query>")
        let found = all.found.first { $0.value["address-data"]?.contains("FN:\(name)\r\n") == true }
        return try #require(found?.key, "no card of \(name)")
    }

    /// Takes one contact back, as a person does.
    func revoke(contact name: String) throws {
        let done = try Command(
            DaemonFixture.programs + "/contactctl", ["revoke", Self.user, "--contact", name], in: fixture)
        #expect(done.end == .exited(0), "\(done.errors)")
    }

    func revokeAll() throws {
        let done = try Command(DaemonFixture.programs + "/contactctl", ["revoke", Self.user], in: fixture)
        #expect(done.end == .exited(0), "\(done.errors)")
    }
}

/// A response with the status of several resources.
struct Multistatus {
    /// The properties that were found, by href and local name: the text, or the names of the child elements.
    private(set) var found: [String: [String: String]] = [:]
    /// The statuses of whole resources.
    private(set) var statuses: [String: String] = [:]
    /// The first status of each resource.
    private(set) var first: [String: String] = [:]
    let token: String?

    init(_ response: HTTPLine.Response) throws {
        let limits = XMLLimits(bytes: 64 * 1_048_576, text: 64 * 1_048_576)
        let root = try #require(try XMLReader.document(response.body, limits: limits)).root
        token = root.firstChild(named: .syncToken)?.text
        for element in root.children(named: .dav("response")) {
            let href = element.firstChild(named: .dav("href"))?.text ?? ""
            statuses[href] = element.firstChild(named: .dav("status"))?.text
            for propstat in element.children(named: .dav("propstat")) {
                let status = propstat.firstChild(named: .dav("status"))?.text
                if first[href] == nil { first[href] = status }
                guard status == "HTTP/1.1 200 OK", let prop = propstat.firstChild(named: .dav("prop")) else { continue }
                for property in prop.children { found[href, default: [:]][property.name.local] = Self.text(property) }
            }
        }
    }

    private static func text(_ element: XMLElement) -> String {
        let children = element.children.map { child in
            let inner = text(child)
            return inner.isEmpty ? child.name.local : inner
        }
        return children.isEmpty ? element.text : children.joined(separator: " ")
    }
}
