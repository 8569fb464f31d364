import BrokerAccessControl
import BrokerContactsStore
import BrokerDisclosure
import BrokerInterface
import BrokerModel
import BrokerVarlink

/// One call of `FetchContacts`, from its parameters to its last batch. It lives on the event loop.
///
/// Each batch is decided, read and recorded separately. If reading a batch takes too long for the event loop,
/// a worker reads it. The broker reads a batch once the app has taken the previous one.
final class Fetch {
    private let call: Call
    private let session: CallerSession
    private let app: AppServices
    private let parameters: FetchContactsParameters
    /// The sort order. If the app wants the user's setting, `order` is `nil` until the first batch and then
    /// stays the same for the whole list.
    private var order: ContactOrder?
    private var after: Position?
    private var remaining: Int
    private var hasAsked = false
    /// The history token from the start of the list. The last batch contains it.
    private var historyToken: String?
    /// Whether a worker was asked to look up the place for the history token.
    private var hasLooked = false
    /// A batch that a worker has read. The broker must decide the call again before it sends the batch.
    private var prepared: (query: ContactQuery, found: Found)?
    /// Whether a worker reads the remaining batches, because one took too long for the event loop.
    private var readsOnWorker = false
    /// The maximum number of contacts in the next batch. It is reduced after a batch that was too large for a
    /// reply.
    private var mostInReply = Int.max

    /// The contacts of one batch, and where the next one continues.
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
        ) { (context) throws(ReadContext.Failure) in
            if let token = parameters.after, after == nil {
                guard let place = place(token, context.identifiers) else { throw .call(.invalidParameter("after")) }
                after = place
            }
            try context.orFail { (context) throws(StoreError) in try send(context) }
        }
    }

    private func send(_ context: ReadContext) throws(StoreError) {
        let (book, disclosure, identifiers) = (context.book, context.disclosure, context.identifiers)
        var disclosed = disclosure.project([], of: parameters.keys, under: identifiers)
        var end: FetchEnd?
        let order = order ?? (book?.settings ?? BookSettings()).sortOrder
        self.order = order
        if let book { app.books.willRead(book, of: session.caller.uid) }
        // The token is taken before the first contact is read. The history after the token then contains
        // every change that is made while the list is read.
        if historyToken == nil {
            do throws(StoreError) {
                historyToken = try app.places.token(context, session, isBounded: !hasLooked)
            } catch .takesLong {
                guard let book else { return call.fail(ContactsError.storeUnavailable) }
                // A worker looks up the place once. The changes since then are few enough for the event loop.
                hasLooked = true
                return app.places.lookUp(context, book, call, session) { self.begin() }
            }
        }
        if let book, let query = try query(context, order) {
            guard let found = try found(query, book) else { return readOnWorker(query, book) }
            disclosed = project(found, disclosure, identifiers)
            end = found.end
            // Batches that are too large are rare. Such a batch is read again with fewer contacts until it
            // fits. A single contact that is too large is an error.
            guard disclosed.size <= app.limits.largestReply else {
                guard disclosed.count > 1 else {
                    return app.groupCommit.fail(
                        ContactsError.limitExceeded("reply", maximum: app.limits.largestReply), call)
                }
                mostInReply = disclosed.count - 1
                return try send(context)
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
        let record = DisclosedReply.Record.contacts(disclosed.records, keys: disclosed.keys, isWhole: isWhole)
        app.groupCommit.disclose(
            writer.reply(under: context.basis, recording: [record]), to: call, session, continues: continues,
            then: continues ? { self.app.whenRead(self.call) { self.next() } } : nil)
    }

    /// Reads one batch, or returns `nil` if a worker must read it.
    private func found(_ query: ContactQuery, _ book: ContactsStore) throws(StoreError) -> Found? {
        if let prepared {
            self.prepared = nil
            // If the effective access has changed and the query is therefore different, the batch is read
            // again.
            if prepared.query == query { return prepared.found }
        }
        if readsOnWorker { return nil }
        do throws(StoreError) {
            return try Self.read(query, book, .bounded)
        } catch .takesLong {
            readsOnWorker = true
            return nil
        }
    }

    private static func read(
        _ query: ContactQuery, _ book: ContactsStore, _ manner: ReadingManner
    ) throws(StoreError) -> Found {
        let (rows, end) = try book.fetch(unified: query, manner)
        return Found(rows: rows, end: end)
    }

    /// Reads a batch on a worker, and then decides the call again. Other callers do not wait for the read.
    private func readOnWorker(_ query: ContactQuery, _ book: ContactsStore) {
        // A list that has begun is registered, because a revocation must end it.
        if after != nil, call.more { session.fetches[ObjectIdentifier(self)] = self }
        app.longReads.read(book, for: call, session) { (book) throws(StoreError) in
            try Self.read(query, book, .onWorker)
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

    /// The query for the next batch; `nil` if the container, group or own card that the predicate names is
    /// not visible.
    private func query(_ context: ReadContext, _ order: ContactOrder) throws(StoreError) -> ContactQuery? {
        guard var query = try context.query(parameters.predicate) else { return nil }
        let limits = app.limits
        query.order = order
        query.after = after
        query.limit = min(remaining, mostInReply, call.more ? limits.contactsPerIteration : limits.contactsPerReply)
        query.byteLimit = call.more ? limits.bytesPerIteration : limits.bytesPerReply
        query.disclosedKeys = parameters.keys.intersection(context.disclosure.keys)
        query.images = parameters.keys.intersection(.images).intersection(context.disclosure.keys)
        query.unifies = parameters.unify
        return query
    }

    private func next() {
        hasAsked = true
        if app.pace.holds(call, session, { self.begin() }) { return }
        begin()
    }

    /// Ends an unfinished list whose grant was revoked or narrowed. Returns the number of withheld replies:
    /// 1, or 0 if the call is already over.
    func end() -> Int {
        session.fetches[ObjectIdentifier(self)] = nil
        guard !call.isOver else { return 0 }
        call.fail(ContactsError.accessDenied)
        return 1
    }

    // MARK: Pages

    /// The cursor that the app gets. It is encrypted and has a constant length.
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
    /// The error if the app asks for keys that it may not read; otherwise `nil`.
    func error(asking requested: ContactKeySet) -> VarlinkError? {
        let unauthorized = unauthorized(of: requested)
        return unauthorized.isEmpty ? nil : ContactsError.unauthorizedKeys(unauthorized.keys.map(\.rawValue))
    }
}
