import BrokerCardText
import BrokerDAV
import BrokerJSON
import BrokerModel

/// Answers one request of a connection that the broker knows.
struct Answering {
    enum Answer {
        case whole(Response)
        /// A response with one card, and its properties, which the client knows once it has the response; `nil` if they cannot
        /// be told.
        case card(Response, String, [BaseProperty<[UInt8]>]?)
        /// A multistatus about many cards.
        case listing(CardListing)
    }

    let head: RequestHead
    private let body: RequestBody
    private let host: String
    let name: String
    let book: BrokerBook
    let names: CardNames
    /// `nil` if the connection sees an empty book.
    let access: BrokerBook.Access?

    private var keys: ContactKeySet? { access?.keys }
    private var mayWrite: Bool { access?.mayWrite ?? false }

    /// - Parameter access: what the connection may do now.
    init(
        _ head: RequestHead, _ body: RequestBody, host: String, name: String, _ book: BrokerBook, _ sent: SentCards,
        _ access: BrokerBook.Access?
    ) {
        (self.head, self.body, self.host, self.name) = (head, body, host, name)
        (self.book, self.access) = (book, access)
        names = CardNames(sent: sent, connection: book.connection)
    }

    private static let methods = "OPTIONS, GET, HEAD, PUT, DELETE, PROPFIND, PROPPATCH, REPORT"

    func answer() throws(BrokerFailure) -> Answer {
        // Another connection's path gets the same answer as one that nobody has.
        guard let href = try? Href(parsing: head.target, authority: nil), let resource = Resource(href, of: name) else {
            return .whole(.plain(404))
        }
        let document: XMLDocument?
        if case .xml(let parsed) = body { document = parsed } else { document = nil }
        guard document == nil || head.values("content-type").allSatisfy({ (try? MediaType($0))?.isXML == true }) else {
            return .whole(.plain(415))
        }
        do {
            switch head.method {
            case "OPTIONS": return .whole(Response(200, [("DAV", "1, 3, addressbook"), ("Allow", Self.methods)]))
            case "PROPFIND": return try find(resource, try PropertyFind(document).selection)
            case "REPORT": return try report(resource, try Report(document))
            case "PROPPATCH": return .whole(try refuse(try PropertyPatch(document), of: resource))
            case "GET", "HEAD":
                if case .card(let segment) = resource { return try card(segment) }
            case "PUT":
                if case .card(let segment) = resource, case .card(let bytes) = body {
                    return .whole(try CardWriting(self).put(bytes, at: segment))
                }
            case "DELETE":
                if case .card(let segment) = resource { return .whole(try CardWriting(self).delete(segment)) }
            default: break
            }
            return .whole(Response(405, [("Allow", Self.methods)]))
        } catch let error as RequestError {
            return .whole(.refused(error))
        } catch let error as BrokerFailure {
            throw error
        } catch is CardTextError {
            return .whole(.unmet(.validAddressData))
        } catch {
            return .whole(.plain(400))
        }
    }

    // MARK: Properties

    private var writer: MultistatusWriter {
        var writer = MultistatusWriter(omittingMissing: ReturnPreference(head.values("prefer")) == .minimal)
        writer.begin()
        return writer
    }

    private func find(_ resource: Resource, _ selection: PropertySelection) throws -> Answer {
        let depths = head.values("depth")
        guard depths.count <= 1 else { return .whole(.plain(400)) }
        let depth = try Depth(depths.first, absent: .infinity)
        var writer = writer
        if case .card(let segment) = resource {
            guard let card = try fetch(segment, keys: nil), let href = resource.href(of: name) else {
                return .whole(.plain(404))
            }
            writer.response(href.text, selection, unasked: resource.unasked) {
                card.property($0, of: name, mayWrite: mayWrite, nil)
            }
            return finished(writer)
        }
        guard depth != .infinity else { return .whole(.unmet(.finiteDepth)) }
        for each in [resource] + (depth == .one ? [resource.child].compactMap(\.self) : []) {
            guard let href = each.href(of: name) else { continue }
            let place = each == .book && selection.includesPlace ? try now.text(of: book.connection) : nil
            writer.response(href.text, selection, unasked: each.unasked) { property in
                switch property {
                case .getCTag, .syncToken: place.map { .text($0) }
                default: each.property(property, of: name, mayWrite: mayWrite)
                }
            }
        }
        guard resource == .book, depth == .one else { return finished(writer) }
        return .listing(
            CardListing(
                name, host: host, names, access, selection, writer: writer, source: .everything))
    }

    private var now: SyncToken {
        get throws { keys == nil ? .nothingShared : try book.now(names) }
    }

    private func finished(_ writer: MultistatusWriter) -> Answer {
        var writer = writer
        writer.end()
        return .whole(.xml(207, .whole(writer.takeBytes())))
    }

    private func refuse(_ patch: PropertyPatch, of resource: Resource) throws -> Response {
        if case .card(let segment) = resource {
            guard try fetch(segment, keys: nil) != nil else { return .plain(404) }
        }
        guard let href = resource.href(of: name) else { return .plain(404) }
        var writer = writer
        writer.response(href.text, refusing: patch)
        writer.end()
        return .xml(207, .whole(writer.takeBytes()))
    }

    // MARK: Reports

    private func report(_ resource: Resource, _ report: Report) throws -> Answer {
        guard resource == .book else { return .whole(.unmet(.supportedReport)) }
        switch report {
        case .multiget(let multiget):
            return .listing(listing(multiget.properties, .hrefs(multiget.hrefs.makeIterator())))
        case .query(let query):
            var listing = listing(query.properties, .everything)
            listing.limit = query.limit
            if !query.filter.properties.isEmpty {
                listing.filter = query.filter
                let asksForPhoto = query.filter.properties.contains { $0.name == "PHOTO" }
                listing.filteredKeys = keys?.subtracting(asksForPhoto ? [] : .images)
            }
            return .listing(listing)
        case .sync(let sync): return try changes(sync)
        case .unknown: return .whole(.unmet(.supportedReport))
        }
    }

    private func listing(_ properties: ReportedProperties, _ source: CardListing.Source) -> CardListing {
        let cards = properties.addressData.map { CardListing.Cards(version: $0.version ?? .v3, keys: keys ?? []) }
        return CardListing(
            name, host: host, names, access, properties.selection, cards: cards, writer: writer, source: source)
    }

    /// A limit of the client is ignored, as by most servers: a place in the broker's history names no half of a burst.
    private func changes(_ sync: SyncCollection) throws -> Answer {
        var source = CardListing.Source.everything
        var token =
            keys == nil
            ? CardListing.Token.known(SyncToken.nothingShared.text(of: book.connection))
            : .ofList(connection: book.connection, refusal: try names.lastRefusal())
        if let text = sync.token {
            switch SyncToken(text, of: book.connection) {
            case nil: return .whole(.unmet(.validSyncToken))
            // The client has no card, so everything is new to it.
            case .nothingShared?: break
            case .place(let place, let refusal)?:
                // Which cards an access that ended had shown is not known any more. Without the token, the client gets an
                // empty list.
                guard keys != nil, let changes = try book.changes(since: place) else {
                    return .whole(.unmet(.validSyncToken))
                }
                // The client's copy of a card of which a change was refused is listed, too, so that it is read again.
                let refused = try names.sent.refused(after: refusal, of: book.connection)
                let known = Set(changes.gone + changes.changed)
                let changed = changes.changed + refused.cards.filter { !known.contains($0) }
                source = .contacts(gone: changes.gone[...], changed: changed[...])
                token = .known(SyncToken.place(changes.end, refusal: refused.last).text(of: book.connection))
            }
        }
        var listing = listing(sync.properties, source)
        listing.token = token
        return .listing(listing)
    }

    // MARK: Cards

    private func card(_ segment: String) throws -> Answer {
        let version = CardVersion.preferred(byAccept: head.values("accept"))
        guard let card = try fetch(segment, keys: keys), let tag = card.tag(version) else {
            return .whole(.plain(404))
        }
        let fields = [("ETag", tag.text), ("Vary", "Accept")]
        switch try conditions.evaluate(tag) {
        case .met:
            let text = card.text(version)
            let response = Response(200, fields + [("Content-Type", ListedCard.mediaType)], .whole(text))
            // Of a HEAD, the client gets no card.
            guard head.method == "GET" else { return .whole(response) }
            return .card(response, card.identifier, book.hash.properties(ofCard: text))
        case .notModified: return .whole(Response(304, fields))
        case .failed: return .whole(.plain(412))
        }
    }

    var conditions: RequestConditions {
        get throws {
            try RequestConditions(ifMatch: head.values("if-match"), ifNoneMatch: head.values("if-none-match"))
        }
    }

    /// Returns the card at a path; `nil` if there is none that the connection may see.
    ///
    /// - Parameter keys: `nil` for its tag alone.
    func fetch(_ segment: String, keys: ContactKeySet?) throws(BrokerFailure) -> ListedCard? {
        guard access != nil, let identifier = try names.identifier(of: segment) else { return nil }
        return try fetch(identifier: identifier, keys: keys)
    }

    func fetch(identifier: String, keys: ContactKeySet?) throws(BrokerFailure) -> ListedCard? {
        try book.beginList(of: [identifier], keys: keys)
        let batch = try book.nextBatch()
        if batch.continues { book.close() }
        for json in batch.contacts {
            if let card = try ListedCard(json, names), card.identifier == identifier { return card }
        }
        return nil
    }
}

extension PropertySelection {
    /// Whether the response has the place in the history.
    fileprivate var includesPlace: Bool {
        switch self {
        case .all, .names: true
        case .named(let names): names.contains(.getCTag) || names.contains(.syncToken)
        }
    }
}
