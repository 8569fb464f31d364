import BrokerBounds
import BrokerDAV
import BrokerJSON
import BrokerModel
import BrokerVarlinkClient
import Glibc

/// The book of one connection, at the broker. Every call waits for its reply.
struct BrokerBook {
    static let interface = "io.contactbroker.CardDAV"
    private static let contacts = "io.contactbroker.Contacts."

    /// The broker's identifier of the connection.
    let connection: String
    /// For hashes of what is sent.
    let hash: CardHash
    private let client: VarlinkClient

    /// Shows the broker a user name and a password.
    ///
    /// - Parameter user: whose connection it is.
    init(socket: String, user: UInt32, _ credentials: BasicCredentials) throws(BrokerFailure) {
        client = try Self.connect(to: socket)
        let password = String(decoding: credentials.password, as: UTF8.self)
        let client = client
        let opened = try Self.calling { () throws(VarlinkClientError) in
            try client.call(Self.interface + ".Open") {
                $0.member("user", user)
                $0.member("name", credentials.user)
                $0.member("password", password)
            }
        }
        guard let connection = opened["connection"]?.string, let key = opened["key"]?.string else {
            throw .unavailable("no connection in a reply")
        }
        self.connection = connection
        hash = CardHash(key: Array(key.utf8))
    }

    /// Connects to the broker, which must run as this process's user: passwords go nowhere else.
    static func connect(to socket: String) throws(BrokerFailure) -> VarlinkClient {
        let client = try calling { () throws(VarlinkClientError) in
            try VarlinkClient(path: socket, timeout: CardDAVLimits.brokerTime)
        }
        guard let uid = client.serverCredentials()?.uid, uid == getuid() else {
            throw .unavailable("\(socket) belongs to a program of another user")
        }
        return client
    }

    /// Whether the broker has not closed the connection, as it does at its end, at a disconnect and at a new password.
    var isOpen: Bool { (try? client.nextReply(timeout: .zero)) == nil && client.serverCredentials() != nil }

    /// Ends the connection, and with it a list that was not read to its end.
    func close() { client.close() }

    /// What the connection may do.
    struct Access: Hashable {
        /// The keys of a card that it may see.
        let keys: ContactKeySet
        let mayWrite: Bool
    }

    /// Returns what the connection may do; `nil` if it may see no contact, because the person decided
    /// nothing or refused, or a policy does.
    func access() throws(BrokerFailure) -> Access? {
        let client = client
        let reply = try Self.calling { () throws(VarlinkClientError) in
            try client.call(Self.contacts + "GetAuthorization")
        }
        guard ["limited", "full"].contains(reply["status"]?.string) else { return nil }
        let names = reply["keys"]?.elements?.compactMap { $0.string.flatMap(ContactKey.init(rawValue:)) }
        return Access(
            keys: ContactKeySet(names ?? []).intersection(ListedCard.keys),
            mayWrite: reply["changes"]?.string != ChangeRight.none.rawValue)
    }

    // MARK: History

    /// Returns the place of now.
    func now(_ names: CardNames) throws(BrokerFailure) -> SyncToken {
        // A list of no contacts, which is the only reply that comes with a token and without contacts.
        try beginList(of: [], keys: nil)
        guard let token = try nextBatch().token else { throw .unavailable("no history token") }
        return .place(token, refusal: try names.lastRefusal())
    }

    /// What changed since a place.
    struct Changes {
        /// Contacts that are deleted, or no longer shared. The connection may never have seen some.
        var gone: [String] = []
        var changed: [String] = []
        /// The broker's history token.
        let end: String
    }

    /// Returns what changed; `nil` if the place is unknown or too long ago.
    func changes(since place: String) throws(BrokerFailure) -> Changes? {
        let client = client
        let method = Self.contacts + "FetchHistory"
        try Self.calling { () throws(VarlinkClientError) in
            try client.begin(method, more: true) { $0.member("token", place) }
        }
        var (gone, changed): ([String], [String]) = ([], [])
        while true {
            let (reply, continues) = try reply()
            for event in reply["events"]?.elements.map(Array.init) ?? [] {
                switch event["kind"]?.string {
                case "dropEverything":
                    client.close()
                    return nil
                case "deleteContact", "revoked":
                    if let identifier = event["identifier"]?.string { gone.append(identifier) }
                default:
                    if let identifier = event["contact"]?["identifier"]?.string { changed.append(identifier) }
                }
            }
            guard !continues else { continue }
            guard let token = reply["historyToken"]?.string else { throw .unavailable("no history token") }
            return Changes(gone: gone, changed: changed, end: token)
        }
    }

    // MARK: Contacts

    /// Begins a list of contacts with their revisions. Read all of it with ``nextBatch()`` before the next call.
    ///
    /// - Parameters:
    ///   - identifiers: the contacts, at most ``CardDAVLimits/batch``; `nil` for all.
    ///   - keys: `nil` for the revisions alone.
    func beginList(of identifiers: [String]?, keys: ContactKeySet?) throws(BrokerFailure) {
        let client = client
        try Self.calling { () throws(VarlinkClientError) in
            try client.begin(Self.contacts + "FetchContacts", more: true) { writer in
                if let identifiers {
                    writer.name("predicate")
                    writer.object { $0.member("identifiers", identifiers) }
                }
                writer.member("keys", (keys ?? []).keys.map(\.rawValue))
                writer.member("revisions", true)
            }
        }
    }

    struct Batch {
        let contacts: JSONValue.Elements
        /// Whether more batches follow.
        let continues: Bool
        /// The place when the list began, in the last batch.
        let token: String?
    }

    func nextBatch() throws(BrokerFailure) -> Batch {
        let (reply, continues) = try reply()
        guard let contacts = reply["contacts"]?.elements else { throw .unavailable("no contacts in a reply") }
        return Batch(contacts: contacts, continues: continues, token: reply["historyToken"]?.string)
    }

    // MARK: Writing

    enum Saved: Hashable {
        /// - Parameter identifier: of the contact that was added, or empty.
        case made(identifier: String)
        /// Somebody else changed the contact meanwhile.
        case changed
        /// The connection may not make the change, or the person must allow it elsewhere.
        case refused
        case noSpace
        /// The broker does not take one of the values.
        case invalid
    }

    /// Makes one change. It asks nobody: a program cannot wait for the person.
    func save(_ write: (inout JSONWriter) -> Void) throws(BrokerFailure) -> Saved {
        do throws(VarlinkClientError) {
            let reply = try client.call(Self.contacts + "SaveContacts") { writer in
                writer.name("changes")
                writer.array(CollectionOfOne(())) { writer, _ in writer.object(write) }
                writer.member("mayAsk", false)
            }
            return .made(identifier: reply["identifiers"]?.elements?.first { _ in true }?.string ?? "")
        } catch {
            guard case .error(let name, _) = error, name.hasPrefix(Self.contacts) else { throw BrokerFailure(error) }
            switch name.dropFirst(Self.contacts.count) {
            case "RecordChanged", "RecordDoesNotExist": return .changed
            case "LimitExceeded": return .noSpace
            case "InvalidContact": return .invalid
            case "StoreUnavailable": throw BrokerFailure(error)
            default: return .refused
            }
        }
    }

    // MARK: -

    private func reply() throws(BrokerFailure) -> (parameters: JSONValue, continues: Bool) {
        let client = client
        let reply = try Self.calling { () throws(VarlinkClientError) in
            try client.nextReply(timeout: CardDAVLimits.brokerTime)
        }
        guard let reply else {
            client.close()
            throw .unavailable("no reply in time")
        }
        return reply
    }

    private static func calling<Result>(
        _ body: () throws(VarlinkClientError) -> Result
    ) throws(BrokerFailure) -> Result {
        do throws(VarlinkClientError) {
            return try body()
        } catch {
            throw BrokerFailure(error)
        }
    }
}
