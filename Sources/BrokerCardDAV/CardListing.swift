import BrokerBounds
import BrokerDAV
import BrokerJSON
import BrokerModel

/// The body of a response about many cards, written one piece at a time. The client decides how fast: each piece asks the
/// broker for no more than the next batch.
struct CardListing {
    /// The contacts to list, less those that were asked for already.
    enum Source {
        case everything
        /// The hrefs of a multiget, as the client spells them.
        case hrefs(AddressBookMultiget.HrefList.Iterator)
        /// Identifiers of contacts.
        case contacts(gone: ArraySlice<String>, changed: ArraySlice<String>)
        case nothing
    }

    /// How the cards themselves are listed.
    struct Cards {
        let version: CardVersion
        let keys: ContactKeySet
    }

    /// The name of the connection, and how the client names this server.
    let name, host: String
    private let names: CardNames
    /// `nil` if the connection may see no contacts. Then every card is missing.
    private let access: BrokerBook.Access?
    let selection: PropertySelection
    /// `nil` if the client does not want the cards themselves.
    let cards: Cards?
    /// The keys that ``filter`` needs.
    var filteredKeys: ContactKeySet?
    var filter: CardFilter?
    /// The most cards; `nil` for all.
    var limit: Int?
    /// Written at the end, with the place where the list began if the token is ``Token/ofList``.
    var token: Token = .none
    var writer: MultistatusWriter
    var source: Source

    enum Token {
        case none
        case known(String)
        case ofList(connection: String, refusal: Int64)
    }

    /// The cards that were written, with what the client knows of them once it has the whole response.
    private(set) var sent: [(identifier: String, properties: [UInt8])] = []
    /// The contacts of the current call by their identifiers, with the href that the response names each by.
    private var asked: [String: String] = [:]
    /// The contacts of the last reply that are not written yet.
    private var batch: JSONValue.Elements?
    /// Whether the current call has more replies.
    private var isReading = false
    private var isOver = false
    /// Whether the broker is asked for contacts by identifier.
    private let isNamed: Bool

    init(
        _ name: String, host: String, _ names: CardNames, _ access: BrokerBook.Access?, _ selection: PropertySelection,
        cards: Cards? = nil, writer: MultistatusWriter, source: Source
    ) {
        (self.name, self.host, self.names, self.access) = (name, host, names, access)
        (self.selection, self.cards) = (selection, cards)
        (self.writer, self.source) = (writer, source)
        if case .everything = source { isNamed = false } else { isNamed = true }
    }

    /// Returns the next piece; `nil` after the last.
    mutating func next(from book: BrokerBook) throws(BrokerFailure) -> [UInt8]? {
        while !isOver, writer.byteCount < CardDAVLimits.piece {
            if let contact = batch?.next() {
                try write(contact, book)
            } else if isReading {
                try read(book)
            } else {
                try begin(book)
            }
        }
        let bytes = writer.takeBytes()
        return bytes.isEmpty ? nil : bytes
    }

    // MARK: Reading

    private mutating func read(_ book: BrokerBook) throws(BrokerFailure) {
        let reply = try book.nextBatch()
        (batch, isReading) = (reply.contacts, reply.continues)
        if case .ofList(let connection, let refusal) = token, let place = reply.token {
            token = .known(SyncToken.place(place, refusal: refusal).text(of: connection))
        }
    }

    /// Asks for the next contacts, or ends the list.
    private mutating func begin(_ book: BrokerBook) throws(BrokerFailure) {
        // What the broker did not return is not there, or not shared.
        for href in asked.values { writer.response(href, .notFound) }
        asked = [:]
        switch source {
        case .everything:
            source = .nothing
            guard access != nil else { return }
            try book.beginList(of: nil, keys: keys)
            isReading = true
        case .hrefs(var hrefs):
            while asked.count < CardDAVLimits.batch, writer.byteCount < CardDAVLimits.piece, let href = hrefs.next() {
                if let path = try? Href(parsing: href, authority: host),
                    case .card(let segment)? = Resource(path, of: name),
                    let identifier = try names.identifier(of: segment)
                {
                    // Once for a call, however often the client names it, so that the size of a piece stays bounded.
                    asked[identifier] = href
                } else {
                    writer.response(href, .notFound)
                }
            }
            if asked.isEmpty, writer.byteCount < CardDAVLimits.piece {
                source = .nothing
            } else {
                source = .hrefs(hrefs)
            }
            try ask(book)
        case .contacts(var gone, var changed):
            while writer.byteCount < CardDAVLimits.piece, let identifier = gone.popFirst() {
                if let href = try names.href(of: identifier, for: name) { writer.response(href, .notFound) }
            }
            for identifier in changed.prefix(CardDAVLimits.batch) {
                if let href = try names.href(of: identifier, for: name) { asked[identifier] = href }
            }
            changed = changed.dropFirst(CardDAVLimits.batch)
            source = gone.isEmpty && changed.isEmpty ? .nothing : .contacts(gone: gone, changed: changed)
            try ask(book)
        case .nothing: end()
        }
    }

    private mutating func ask(_ book: BrokerBook) throws(BrokerFailure) {
        guard !asked.isEmpty, access != nil else { return }
        try book.beginList(of: Array(asked.keys), keys: keys)
        isReading = true
    }

    private var keys: ContactKeySet? { cards.map { $0.keys.union(filteredKeys ?? []) } ?? filteredKeys }

    private mutating func end() {
        if case .known(let text) = token { writer.end(syncToken: text) } else { writer.end() }
        isOver = true
    }

    // MARK: Writing

    private mutating func write(_ json: JSONValue, _ book: BrokerBook) throws(BrokerFailure) {
        guard let card = try ListedCard(json, names) else { throw .unavailable("not a contact") }
        if let filter, !filter.matches(card: card.text(.v3)) { return }
        if let limit {
            guard limit > 0 else {
                // The list has more than the client wants (RFC 6352 §8.6.2).
                if let href = Resource.book.href(of: name)?.text {
                    writer.response(href, .insufficientStorage, because: .matchesWithinLimits)
                }
                if isReading { book.close() }
                (batch, isReading) = (nil, false)
                return
            }
            self.limit = limit - 1
        }
        // A linked contact may come under the identifier of another of its cards, which nobody asked for.
        let own = Resource.card(card.segment)
        guard let href = isNamed ? asked.removeValue(forKey: card.identifier) : own.href(of: name)?.text else { return }
        if let version = cards?.version, sent.count < CardDAVLimits.cardsRemembered,
            let properties = book.hash.properties(ofCard: card.text(version))
        {
            sent.append((card.identifier, SentCards.bytes(properties)))
        }
        writer.response(href, selection, unasked: own.unasked) {
            card.property($0, of: name, mayWrite: access?.mayWrite ?? false, cards?.version)
        }
    }
}
