import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerCalls
import BrokerContactsStore
import BrokerDisclosure
import BrokerGrants
import BrokerLedger
import BrokerVarlink

/// Finds where each app's change history ends, as a place or as a token.
struct HistoryPlaces {
    let services: BrokerServices

    private var seconds: Int64 { services.seconds }

    /// The changes to a principal's granted set. Without a grant in effect, a policy rule may still force
    /// a level. The granted set then counts as empty and unchanged. All periods without a grant in effect
    /// share one history, even if a grant was in effect in between.
    ///
    /// If a policy rule shares a contact group, the granted set is the group's. No events are stored for it: the app
    /// starts over when the set has changed.
    func setHistory(of principal: Principal) -> SetHistory {
        let ruling = services.grants.ruling(on: principal)
        if !ruling.contactGroups.isEmpty { return SetHistory(epoch: ruling.shared.epoch) }
        guard let history = services.access.setHistory(of: principal), let grant = services.access.grant(of: principal),
            services.grants.end(of: grant, principal).map({ $0 > seconds }) ?? true
        else { return SetHistory() }
        return history
    }

    /// The place after the last event that the caller could see.
    func place(_ context: ReadContext) throws(StoreError) -> HistoryPlace {
        try services.history.place(of: context, setHistory(of: context.principal))
    }

    /// The place after the last event that the caller could see, as a token.
    func token(_ context: ReadContext, isBounded: Bool = false) throws(StoreError) -> String? {
        try services.history.token(of: context, setHistory(of: context.principal), at: seconds, isBounded: isBounded)
    }

    /// Looks up, on a worker, the place of an app with a large granted set. ``History`` caches the result.
    func lookUp(
        _ context: ReadContext, _ book: ContactsStore, _ call: Call, _ session: CallerSession,
        done: @escaping () -> Void
    ) {
        let lookUp = History.LookUp(context, setHistory(of: context.principal))
        let (scope, history) = (lookUp.scope, services.history)
        history.begin(lookUp)
        services.longReads.read(book, for: call, session) { (book) throws(StoreError) in
            try book.lastChange(after: 0, in: scope, .onWorker) ?? 0
        } done: { result in
            history.end(lookUp, change: try? result?.get())
            guard let result, !call.isOver else { return }
            switch result {
            case .success: done()
            case .failure(let error): services.problems.unavailable(call, error)
            }
        }
    }

    /// The current token, cached per session. Usually nothing changes between two calls, and a cache per
    /// principal would hash the app's path each time.
    ///
    /// - Parameter isBounded: see ``History/place(of:_:isBounded:)``.
    func token(
        _ context: ReadContext, _ session: CallerSession, isBounded: Bool
    ) throws(StoreError) -> String? {
        let version = HistoryVersion(
            number: services.history.version(of: session), revision: context.disclosure.revision,
            window: HistoryToken.window(of: seconds))
        if let kept = session.historyToken, kept.version == version { return kept.text }
        let text = try token(context, isBounded: isBounded)
        session.historyToken = text.map { (version, $0) }
        return text
    }

    /// Returns a token for the current place. If the app may not read, or the book cannot be read, the
    /// token is for the beginning, and the app starts over. Returns `nil` if no token can be made.
    func token(for session: CallerSession, _ book: ContactsStore, _ identifiers: IdentifierCipher) -> String? {
        if let context = services.grants.readContext(of: session, book, under: identifiers),
            let token = try? token(context)
        {
            return token
        }
        return identifiers.seal(HistoryToken(.beginning, at: seconds).bytes, as: .history)
    }
}

extension BrokerServices {
    var places: HistoryPlaces { HistoryPlaces(services: self) }
}
