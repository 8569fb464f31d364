/// The body of REPORT (RFC 3253 §3.6).
public enum Report: Sendable {
    case multiget(AddressBookMultiget)
    case query(AddressBookQuery)
    case sync(SyncCollection)
    /// Any other report. Answer with ``Precondition/supportedReport``.
    case unknown(XMLName)

    public init(_ document: XMLDocument?) throws(RequestError) {
        guard let root = document?.root else { throw .invalid("report") }
        switch root.name {
        case .addressBookMultiget: self = .multiget(try AddressBookMultiget(root))
        case .addressBookQuery: self = .query(try AddressBookQuery(root))
        case .syncCollection: self = .sync(try SyncCollection(root))
        default: self = .unknown(root.name)
        }
    }
}

/// What a report returns for each card.
public struct ReportedProperties: Hashable, Sendable {
    /// Includes ``XMLName/addressData`` if the client wants the cards themselves.
    public let selection: PropertySelection
    /// `nil` if the client does not want the cards themselves.
    public let addressData: AddressDataRequest?

    init(in report: XMLElement) throws(RequestError) {
        selection = try PropertySelection(in: report) ?? .named([])
        addressData = try report.firstChild(named: .prop)?.firstChild(named: .addressData)
            .map(AddressDataRequest.init)
    }
}

/// A request for cards by their hrefs (RFC 6352 §8.7).
public struct AddressBookMultiget: Sendable {
    public let properties: ReportedProperties
    public let hrefs: HrefList

    init(_ root: XMLElement) throws(RequestError) {
        properties = try ReportedProperties(in: root)
        hrefs = HrefList(parent: root)
    }

    /// The hrefs as the client spells them, in its order and with repetitions. Their number is not limited: some
    /// clients ask for a whole book at once. The list reads them from the document one at a time.
    public struct HrefList: Sequence, Sendable {
        let parent: XMLElement

        public func makeIterator() -> Iterator { Iterator(children: parent.children) }

        public struct Iterator: IteratorProtocol, Sendable {
            var children: XMLElement.Children

            public mutating func next() -> String? {
                while let child = children.next() {
                    if child.name == .href { return child.trimmedText }
                }
                return nil
            }
        }
    }
}

/// A search in an address book (RFC 6352 §8.6).
public struct AddressBookQuery: Hashable, Sendable {
    public let properties: ReportedProperties
    /// Matches every card if the client sends none.
    public let filter: CardFilter
    /// The most cards that the client wants.
    public let limit: Int?

    init(_ root: XMLElement) throws(RequestError) {
        properties = try ReportedProperties(in: root)
        filter = try CardFilter(root.firstChild(named: .card("filter")))
        limit = try ResultLimit.read(in: root, .card("limit"), .card("nresults"))
    }
}

/// A request for the changes since a token (RFC 6578 §3.2).
public struct SyncCollection: Hashable, Sendable {
    public let properties: ReportedProperties
    /// `nil` at the first sync.
    public let token: String?
    public let level: Level
    /// The most changes that the client wants in one response.
    public let limit: Int?

    public enum Level: String, Hashable, Sendable {
        /// The members of the collection.
        case one = "1"
        /// Their members too. An address book has no collections, so this equals `one`.
        case infinite
    }

    init(_ root: XMLElement) throws(RequestError) {
        properties = try ReportedProperties(in: root)
        let token = root.firstChild(named: .syncToken)?.trimmedText ?? ""
        self.token = token.isEmpty ? nil : token
        // Clients that follow a draft of the RFC send no level, but a depth.
        guard let level = Level(rawValue: root.firstChild(named: .dav("sync-level"))?.trimmedText ?? "1") else {
            throw .invalid("sync-level")
        }
        self.level = level
        limit = try ResultLimit.read(in: root, .dav("limit"), .dav("nresults"))
    }
}

/// The limit in a query (RFC 6352 §10.6) and in a sync (RFC 5323 §5.17).
enum ResultLimit {
    static func read(in report: XMLElement, _ limit: XMLName, _ results: XMLName) throws(RequestError) -> Int? {
        guard let limit = report.firstChild(named: limit) else { return nil }
        guard let count = limit.firstChild(named: results).flatMap({ Int($0.trimmedText) }), count > 0 else {
            throw .invalid("nresults")
        }
        return count
    }
}
