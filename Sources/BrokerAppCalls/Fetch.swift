import BrokerAccessControl
import BrokerBooks
import BrokerBounds
import BrokerCalls
import BrokerContactsStore
import BrokerDisclosure
import BrokerGrants
import BrokerInterface
import BrokerLedger
import BrokerModel
import BrokerParameters
import BrokerVarlink

/// One call of `FetchContacts`, from its parameters to its last batch.
///
/// Each batch is decided, read and recorded separately. If reading a batch takes too long for the event loop,
/// a worker reads it. The broker reads a batch once the app has taken the previous one.
struct Fetch: PermittedCall {
    let call: Call
    let session: CallerSession
    private let parameters: FetchContactsParameters
    var asked = Asked.notYet
    /// The sort order. If the app wants the user's setting, `order` is `nil` until the first batch and then
    /// stays the same for the whole list.
    private var order: ContactOrder?
    private var after: Position?
    private var remaining: Int
    /// The history token from the start of the list. The last batch contains it.
    private var historyToken: String?
    /// Whether a worker has looked up the place for the history token.
    private var hasPlace = false
    /// A batch that a worker has read.
    private var read: (query: ContactQuery, found: Found)?
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

    init(_ call: Call, _ session: CallerSession) throws(VarlinkError) {
        (self.call, self.session) = (call, session)
        parameters = try FetchContactsParameters(call.parameters)
        remaining = parameters.limit ?? .max
        switch parameters.sortOrder {
        case .none: order = ContactOrder.none
        case .givenName: order = .givenName
        case .familyName: order = .familyName
        case .userDefault: order = nil
        }
    }

    var question: Question { Question(kind: .access, purpose: parameters.purpose, keys: parameters.keys) }
    var keys: ContactKeySet { parameters.keys }

    mutating func prepare(_ services: BrokerServices) { if !session.lists.isEmpty { session.endList(call) } }

    mutating func answer(_ context: ReadContext, _ services: BrokerServices) throws(ReadContext.Failure) -> Step<Self> {
        if let token = parameters.after, after == nil {
            guard let place = place(token, context.identifiers) else { throw .call(.invalidParameter("after")) }
            after = place
        }
        return try context.orFail { (context) throws(StoreError) in try send(context, services) }
    }

    private mutating func send(_ context: ReadContext, _ services: BrokerServices) throws(StoreError) -> Step<Self> {
        let (book, disclosure, identifiers) = (context.book, context.disclosure, context.identifiers)
        var projected: DisclosedContacts?
        var end: FetchEnd?
        let order = order ?? (book?.settings ?? BookSettings()).sortOrder
        self.order = order
        if let book { services.books.willRead(book, of: session.caller.uid) }
        // The token is taken before the first contact is read. The history after the token then contains
        // every change that is made while the list is read.
        if historyToken == nil {
            do throws(StoreError) {
                historyToken = try services.places.token(context, session, isBounded: !hasPlace)
            } catch .takesLong {
                guard let book else {
                    call.fail(ContactsError.storeUnavailable)
                    return .done
                }
                // A worker looks up the place once. The changes since then are few enough for the event loop.
                return .wait(for: .place(context, book) { $0.hasPlace = true })
            }
        }
        if let book, let query = try query(context, order, services) {
            guard let found = try found(query, book) else { return readOnWorker(query, book) }
            let disclosed = project(found, disclosure, identifiers, revisions(context))
            (projected, end) = (disclosed, found.end)
            // Batches that are too large are rare. Such a batch is read again with fewer contacts until it
            // fits. A single contact that is too large is an error.
            guard disclosed.size <= services.limits.largestReply else {
                guard disclosed.count > 1 else {
                    services.groupCommit.fail(
                        ContactsError.limitExceeded("reply", maximum: services.limits.largestReply), call)
                    return .done
                }
                mostInReply = disclosed.count - 1
                return try send(context, services)
            }
        }
        let disclosed = projected ?? disclosure.project([], of: parameters.keys, under: identifiers)
        mostInReply = .max
        remaining -= disclosed.count
        let hasMore = end?.hasMore ?? false
        after = end?.last ?? after
        let continues = call.more && hasMore && remaining > 0
        let next = hasMore && !continues ? after.flatMap { token($0, identifiers) } : nil
        let tokens = (next?.utf8.count ?? 0) + (historyToken?.utf8.count ?? 0)
        var writer = DisclosedWriter(reservingCapacity: disclosed.size + tokens + 64)
        writer.member("contacts", disclosed)
        writer.member("next", next)
        if !continues { writer.member("historyToken", historyToken) }
        let isWhole = parameters.predicate == nil && parameters.limit == nil && parameters.after == nil
        let record = DisclosedReply.Record.contacts(disclosed.records, keys: disclosed.keys, isWhole: isWhole)
        let reply = writer.reply(under: context.basis, recording: [record])
        guard continues else {
            services.groupCommit.disclose(reply, to: call, session)
            return .done
        }
        session.beginList(call)
        asked = .tooLate
        return .wait(for: .taken(reply, isPaced: true))
    }

    /// Reads one batch, or returns `nil` if a worker must read it.
    private mutating func found(_ query: ContactQuery, _ book: ContactsStore) throws(StoreError) -> Found? {
        if let read {
            self.read = nil
            // If the effective access has changed and the query is therefore different, the batch is read
            // again.
            if read.query == query { return read.found }
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

    /// Reads a batch on a worker. Other callers do not wait for the read.
    private func readOnWorker(_ query: ContactQuery, _ book: ContactsStore) -> Step<Self> {
        // A list that has begun is registered, because a revocation must end it.
        if after != nil, call.more { session.beginList(call) }
        return .wait(
            for: .read(book) { (book) throws(StoreError) in
                try Self.read(query, book, .onWorker)
            } keep: { call, found in
                call.read = (query, found)
            })
    }

    private func project(
        _ found: Found, _ disclosure: Disclosure, _ identifiers: IdentifierCipher, _ revisions: ContactRevisions?
    ) -> DisclosedContacts {
        let batch = found.rows.map { (first: $0.disclosable, others: $0.others.map(\.disclosable)) }
        return disclosure.project(unified: batch, of: parameters.keys, under: identifiers, revisions: revisions)
    }

    /// The query for the next batch; `nil` if the container, group or own card that the predicate names is
    /// not visible.
    private func query(
        _ context: ReadContext, _ order: ContactOrder, _ services: BrokerServices
    ) throws(StoreError) -> ContactQuery? {
        guard var query = try context.query(parameters.predicate) else { return nil }
        let limits = services.limits
        query.order = order
        query.after = after
        query.limit = min(remaining, mostInReply, call.more ? limits.contactsPerIteration : limits.contactsPerReply)
        query.byteLimit = call.more ? limits.bytesPerIteration : limits.bytesPerReply
        query.disclosedKeys = context.disclosure.readable(of: parameters.keys)
        query.images = parameters.keys.intersection(.images).intersection(context.disclosure.keys)
        query.unifies = parameters.unify
        if let revisions = revisions(context) {
            query.disclosedKeys.formUnion(revisions.readKeys)
            query.images.formUnion(revisions.images)
        }
        return query
    }

    private func revisions(_ context: ReadContext) -> ContactRevisions? {
        parameters.revisions ? ContactRevisions(context.disclosure, under: context.identifiers) : nil
    }

    // MARK: Pages

    /// The cursor that the app gets. It is encrypted and has a constant length.
    private func token(_ place: Position, _ identifiers: IdentifierCipher) -> String? {
        identifiers.seal(place.bytes, as: .page)
    }

    private mutating func place(_ token: String, _ identifiers: IdentifierCipher) -> Position? {
        guard let place = identifiers.open(token, as: .page).flatMap({ Position(bytes: $0) }),
            place.order == order ?? place.order
        else { return nil }
        order = place.order
        return place
    }
}

extension Disclosure {
    /// The error if the app asks for keys that it may not read; otherwise `nil`.
    func error(asking requested: ContactKeySet) -> VarlinkError? {
        let unauthorized = unauthorized(of: requested)
        return unauthorized.isEmpty ? nil : ContactsError.unauthorizedKeys(unauthorized.keys.map(\.rawValue))
    }
}
