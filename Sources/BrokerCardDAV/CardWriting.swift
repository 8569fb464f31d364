import BrokerBounds
import BrokerCardText
import BrokerDAV
import BrokerJSON
import BrokerModel
import BrokerVCard

/// Makes the changes that a client wants: cards that it writes as a whole, and deletions.
///
/// Most clients do not say from which state of a card they started. What they were last sent is known by hashes, so a card
/// that is written is merged by property with what others changed since.
struct CardWriting {
    private let request: Answering
    private var book: BrokerBook { request.book }
    private var names: CardNames { request.names }

    init(_ request: Answering) { self.request = request }

    /// Whether the preconditions hold for a card, whichever version of it the client read.
    private func isMet(_ current: ListedCard?) throws -> Bool {
        let conditions = try request.conditions
        guard let current else { return conditions.evaluate(nil) == .met }
        let outcomes = [CardVersion.v3, .v4].map { conditions.evaluate(current.tag($0)) }
        return outcomes.contains(.met) && !outcomes.contains(.notModified)
    }

    // MARK: PUT

    func put(_ bytes: [UInt8], at segment: String) throws -> Response {
        guard let access = request.access, access.mayWrite else {
            guard let current = try request.fetch(segment, keys: []) else { return .plain(403) }
            return try refuse(current.identifier, .refused)
        }
        guard
            request.head.values("content-type").allSatisfy({
                (try? MediaType($0)).map { $0.isCard && $0.isUTF8 } ?? false
            })
        else { return .unmet(.supportedAddressData) }
        let card: CardText
        do throws(CardTextError) {
            card = try CardText(bytes)
        } catch {
            return .unmet(error == .unsupportedVersion ? .supportedAddressData : .validAddressData)
        }
        for _ in 0..<CardDAVLimits.attempts {
            let current = try request.fetch(segment, keys: access.keys)
            // Without the header, the client says nothing about what it started from.
            guard try isMet(current) else { return .plain(412) }
            let response = try current.map { try change($0, by: card, access) } ?? add(card, at: segment, access)
            if let response { return response }
        }
        return .unavailable
    }

    /// - Returns: `nil` if somebody else changed the card meanwhile.
    private func change(_ current: ListedCard, by card: CardText, _ access: BrokerBook.Access) throws -> Response? {
        guard card.uid == nil || card.uid == current.uid else {
            return .unmet(.uniqueUID(href: Resource.card(current.segment).href(of: request.name)?.text))
        }
        let text = try CardText(current.text(card.version == .v4_0 ? .v4 : .v3))
        // A client that names the present state has seen it.
        let sawCurrent = if case .tags = try request.conditions.ifMatch { true } else { false }
        let base = sawCurrent ? book.hash.properties(of: text) : current.known.sent
        let change = try CardChange(
            of: current.contact, text, by: card, since: base, granted: access.keys,
            token: { book.hash.token(of: $0) ?? $0.canonical })
        guard !change.keys.isEmpty else { return try written(card, current.identifier, change, access) }
        let saved = try book.save {
            $0.member("operation", "update")
            $0.name("contact")
            WireContact(identifier: current.identifier, contact: change.contact, keys: change.keys).write(to: &$0)
            $0.member("unchangedSince", current.revision)
        }
        switch saved {
        case .made: return try written(card, current.identifier, change, access)
        case .changed: return nil
        case .refused, .noSpace, .invalid: return try refuse(current.identifier, saved)
        }
    }

    private func add(_ card: CardText, at segment: String, _ access: BrokerBook.Access) throws -> Response? {
        guard !CardNames.isOwn(segment) else { return .plain(404) }
        let uid = card.uid.flatMap(Self.kept)
        if let uid, let other = try other(with: uid) {
            return .unmet(.uniqueUID(href: Resource.card(other.segment).href(of: request.name)?.text))
        }
        let change = try CardChange(adding: card, granted: access.keys)
        guard !change.keys.isEmpty else { return .unmet(.validAddressData) }
        let saved = try book.save {
            $0.member("operation", "add")
            $0.name("contact")
            WireContact(contact: change.contact, keys: change.keys).write(to: &$0)
        }
        guard case .made(let identifier) = saved else { return Self.refusal(saved) }
        try names.sent.made(identifier, name: segment, uid: uid, of: book.connection)
        var response = try written(card, identifier, change, access)
        if response.status == 204 { response = Response(201, response.fields) }
        return response
    }

    /// The card with a UID that the connection sees. A card that it does not see changes nothing.
    private func other(with uid: String) throws -> ListedCard? {
        let made = try names.sent.identifier(uid: uid, of: book.connection)
        let derived = try names.identifier(of: uid + ".vcf")
        for identifier in [made, derived].compactMap(\.self) {
            if let card = try request.fetch(identifier: identifier, keys: nil), card.uid == uid { return card }
        }
        return nil
    }

    /// A UID that a card can keep; `nil` for one that is too long, or has characters that no card can carry.
    private static func kept(_ uid: String) -> String? {
        let isPlain = uid.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        return isPlain && (1...CardDAVLimits.uid).contains(uid.utf8.count) ? uid : nil
    }

    /// The response to a change that was made. It has a tag only if the client's text is what it would read now; otherwise the
    /// client reads the card again.
    private func written(
        _ card: CardText, _ identifier: String, _ change: CardChange, _ access: BrokerBook.Access
    ) throws -> Response {
        guard !change.leavesOut, let now = try request.fetch(identifier: identifier, keys: access.keys) else {
            return .plain(204)
        }
        // The tag that lists show is that of version 3.0.
        guard now.text(.v3) == card.bytes, let tag = now.tag(.v3) else { return .plain(204) }
        if let properties = book.hash.properties(of: card) {
            try names.sent.keep([(identifier, SentCards.bytes(properties))], of: book.connection)
        }
        return Response(204, [("ETag", tag.text)])
    }

    // MARK: DELETE

    func delete(_ segment: String) throws -> Response {
        guard let access = request.access else { return .plain(404) }
        for _ in 0..<CardDAVLimits.attempts {
            guard let current = try request.fetch(segment, keys: []) else { return .plain(404) }
            guard try isMet(current) else { return .plain(412) }
            guard access.mayWrite else { return try refuse(current.identifier, .refused) }
            let saved = try book.save {
                $0.member("operation", "delete")
                $0.name("contact")
                $0.object { $0.member("identifier", current.identifier) }
                $0.member("unchangedSince", current.revision)
            }
            switch saved {
            case .made: return .plain(204)
            case .changed: continue
            case .refused, .noSpace, .invalid: return try refuse(current.identifier, saved)
            }
        }
        return .unavailable
    }

    // MARK: Refusals

    /// Some clients keep their copy as they changed it, so the card counts as changed for them.
    private func refuse(_ identifier: String, _ saved: BrokerBook.Saved) throws -> Response {
        try names.sent.refused(identifier, of: book.connection)
        return Self.refusal(saved)
    }

    private static func refusal(_ saved: BrokerBook.Saved) -> Response {
        switch saved {
        case .noSpace: .plain(507)
        case .invalid: .unmet(.validAddressData)
        case .made, .changed, .refused: .plain(403)
        }
    }
}
