import BrokerAccessControl
import BrokerContactsStore
import BrokerDisclosure
import BrokerInterface
import BrokerModel
import BrokerVarlink

/// One `FetchContacts`, from its parameters to its last batch. It lives on the loop.
///
/// Each batch is decided anew, read in one bounded turn, recorded, and sent when the reader has taken the one before.
final class Fetch {
    private let call: Call
    private let session: CallerSession
    private let app: AppServices
    private let parameters: FetchContactsParameters
    /// The user's own order is looked up with the first batch, and stays the list's whatever they prefer later.
    private var order: ContactOrder?
    private var after: Position?
    private var remaining: Int
    private var hasAsked = false
    /// The place in the history from which a caller that has the whole list goes on.
    private var historyToken: String?
    /// That place was looked for beside the loop.
    private var hasLooked = false
    /// What was read beside the loop, for a batch that is still to be decided.
    private var prepared: (query: ContactQuery, found: Found)?
    /// A batch of this list was too long for the loop, and so the others are.
    private var readsBeside = false
    /// Of a batch that turned out larger than a reply, as many as may fit.
    private var mostInReply = Int.max

    /// What one batch is made of.
    private struct Found: Sendable {
        var rows: [FetchedContact] = []
        var end = FetchEnd(last: nil, hasMore: false)
    }

    init(call: Call, session: CallerSession, app: AppServices, _ parameters: FetchContactsParameters) {
        self.call = call
        self.session = session
        self.app = app
        self.parameters = parameters
        remaining = parameters.limit ?? .max
        switch parameters.sortOrder {
        case .none: order = ContactOrder.none
        case .givenName: order = .givenName
        case .familyName: order = .familyName
        case .userDefault: order = nil
        }
    }

    func begin() {
        if !session.fetches.isEmpty { session.fetches[ObjectIdentifier(self)] = nil }
        app.permit(
            call, session, asking: Question(kind: .access, purpose: parameters.purpose, keys: parameters.keys),
            hasAsked: hasAsked, refusing: { $0.error(asking: parameters.keys) },
            again: { hasAsked in
                self.hasAsked = hasAsked
                self.begin()
            }
        ) { (reading) throws(Reading.Failure) in
            if let token = parameters.after, after == nil {
                guard let place = place(token, reading.identifiers) else { throw .call(.invalidParameter("after")) }
                after = place
            }
            try reading.orFail { (reading) throws(StoreError) in try send(reading) }
        }
    }

    private func send(_ reading: Reading) throws(StoreError) {
        let (book, disclosure, identifiers) = (reading.book, reading.disclosure, reading.identifiers)
        var disclosed = disclosure.project([], of: parameters.keys, under: identifiers)
        var end: FetchEnd?
        let order = order ?? (book?.settings ?? BookSettings()).sortOrder
        self.order = order
        if let book { app.books.willRead(book, of: session.caller.uid) }
        // Before the first contact is read: what changes while the list is on its way is told after it.
        if historyToken == nil {
            do throws(StoreError) {
                historyToken = try app.places.token(reading, session, isBounded: !hasLooked)
            } catch .takesLong {
                guard let book else { return call.fail(ContactsError.storeUnavailable) }
                // Once: what has changed since is not worth another look.
                hasLooked = true
                return app.places.lookUp(reading, book, call, session) { self.begin() }
            }
        }
        if let book, let query = try query(reading, order) {
            guard let found = try found(query, book) else { return readBeside(query, book) }
            disclosed = project(found, disclosure, identifiers)
            end = found.end
            // A card as large as a frame is rare: then as many as fit, and it alone is too much.
            guard disclosed.size <= app.limits.largestReply else {
                guard disclosed.count > 1 else {
                    return app.turn.fail(ContactsError.limitExceeded("reply", maximum: app.limits.largestReply), call)
                }
                mostInReply = disclosed.count - 1
                return try send(reading)
            }
        }
        mostInReply = .max
        remaining -= disclosed.count
        let hasMore = end?.hasMore ?? false
        after = end?.last ?? after
        let continues = call.more && hasMore && remaining > 0
        let next = hasMore && !continues ? after.flatMap { token($0, identifiers) } : nil
        if continues { session.fetches[ObjectIdentifier(self)] = self }
        var writer = DisclosedWriter(reservingCapacity: disclosed.size + 256)
        writer.member("contacts", disclosed)
        writer.member("next", next)
        if !continues { writer.member("historyToken", historyToken) }
        let isWhole = parameters.predicate == nil && parameters.limit == nil && parameters.after == nil
        let told = DisclosedReply.Told.contacts(disclosed.records, keys: disclosed.keys, isWhole: isWhole)
        app.turn.disclose(
            writer.reply(under: reading.basis, telling: [told]), to: call, session, continues: continues,
            then: continues ? { self.app.whenRead(self.call) { self.next() } } : nil)
    }

    /// What a batch has; `nil` where it is to be read beside the loop.
    private func found(_ query: ContactQuery, _ book: ContactsStore) throws(StoreError) -> Found? {
        if let prepared {
            self.prepared = nil
            // Something else is permitted now than was then: it is read anew.
            if prepared.query == query { return prepared.found }
        }
        if readsBeside { return nil }
        do throws(StoreError) {
            return try Self.read(query, book, .bounded)
        } catch .takesLong {
            readsBeside = true
            return nil
        }
    }

    private static func read(
        _ query: ContactQuery, _ book: ContactsStore, _ manner: ReadingManner
    ) throws(StoreError) -> Found {
        let (rows, end) = try book.fetch(unified: query, manner)
        return Found(rows: rows, end: end)
    }

    /// Reads a batch where nobody waits for it but its caller, and then decides it anew.
    private func readBeside(_ query: ContactQuery, _ book: ContactsStore) {
        // A list of which something was sent ends when what it rests on is taken back.
        if after != nil, call.more { session.fetches[ObjectIdentifier(self)] = self }
        app.longReads.read(book, for: call, session) { (book) throws(StoreError) in
            try Self.read(query, book, .beside)
        } then: { [self] found in
            prepared = (query, found)
            begin()
        }
    }

    private func project(
        _ found: Found, _ disclosure: Disclosure, _ identifiers: IdentifierCipher
    ) -> DisclosedContacts {
        if found.rows.contains(where: { !$0.others.isEmpty }) {
            let batch = found.rows.map { (first: Self.disclosable($0), others: $0.others.map(Self.disclosable)) }
            return disclosure.project(unified: batch, of: parameters.keys, under: identifiers)
        }
        return disclosure.project(found.rows.map(Self.disclosable), of: parameters.keys, under: identifiers)
    }

    static func disclosable(_ found: FetchedContact) -> DisclosableContact {
        (found.record, found.contact, ImageMembers(found.images))
    }

    /// What is left of the book for this batch; `nil` where the predicate names nothing at all.
    private func query(_ reading: Reading, _ order: ContactOrder) throws(StoreError) -> ContactQuery? {
        guard var query = try reading.query(parameters.predicate) else { return nil }
        let limits = app.limits
        query.order = order
        query.after = after
        query.limit = min(remaining, mostInReply, call.more ? limits.contactsPerTurn : limits.contactsPerReply)
        query.byteLimit = call.more ? limits.bytesPerTurn : limits.bytesPerReply
        query.toldKeys = parameters.keys.intersection(reading.disclosure.keys)
        query.images = parameters.keys.intersection(.images).intersection(reading.disclosure.keys)
        query.unifies = parameters.unify
        return query
    }

    private func next() {
        hasAsked = true
        if app.pace.holds(call, session, { self.begin() }) { return }
        begin()
    }

    /// Ends a list that is on its way: what it rests on was taken back. Returns how many replies were withheld.
    func end() -> Int {
        session.fetches[ObjectIdentifier(self)] = nil
        guard !call.isOver else { return 0 }
        call.fail(ContactsError.accessDenied)
        return 1
    }

    // MARK: Pages

    /// A place in the order as the app carries it: sealed, and always of one length.
    private func token(_ place: Position, _ identifiers: IdentifierCipher) -> String? {
        identifiers.seal(place.bytes, as: .page)
    }

    private func place(_ token: String, _ identifiers: IdentifierCipher) -> Position? {
        guard let place = identifiers.open(token, as: .page).flatMap({ Position(bytes: $0) }),
            place.order == order ?? place.order
        else { return nil }
        order = place.order
        return place
    }
}

extension ImageMembers {
    init(_ images: ContactImages?) {
        self.init(thumbnailImageData: images?.thumbnailImageData, imageData: images?.imageData)
    }
}

extension Disclosure {
    /// Why an app may not ask for these keys.
    func error(asking requested: ContactKeySet) -> VarlinkError? {
        let unauthorized = unauthorized(of: requested)
        return unauthorized.isEmpty ? nil : ContactsError.unauthorizedKeys(unauthorized.keys.map(\.rawValue))
    }
}
