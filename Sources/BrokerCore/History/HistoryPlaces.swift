import BrokerAccessControl
import BrokerAccessStore
import BrokerContactsStore
import BrokerDisclosure
import BrokerVarlink

/// Where the history of an app ends, as places and as the tokens that apps carry.
struct HistoryPlaces {
    let surroundings: Surroundings
    let access: AccessStore
    let grants: Grants
    let history: History
    let longReads: LongReads
    let problems: StoreProblems

    private var seconds: Int64 { surroundings.seconds }

    /// How a principal's set became what of it counts. Where nothing was decided, or its time is over, the policy may still force
    /// a level: then nothing is in the set, and whatever was decided in between, that is one history.
    func setHistory(of principal: Principal) -> SetHistory {
        guard let history = access.setHistory(of: principal), let grant = access.grant(of: principal),
            grants.end(of: grant, principal).map({ $0 > seconds }) ?? true
        else { return SetHistory() }
        return history
    }

    /// The place after everything that the caller could see happen.
    func place(_ reading: Reading) throws(StoreError) -> HistoryPlace {
        try history.place(of: reading, setHistory(of: reading.principal))
    }

    /// The same as an app carries it.
    func token(_ reading: Reading, isBounded: Bool = false) throws(StoreError) -> String? {
        try history.token(of: reading, setHistory(of: reading.principal), at: seconds, isBounded: isBounded)
    }

    /// Looks for the place of an app with a large set where that keeps nobody waiting; it is known then.
    func lookUp(
        _ reading: Reading, _ book: ContactsStore, _ call: Call, _ session: CallerSession,
        done: @escaping () -> Void
    ) {
        let look = History.Look(reading, setHistory(of: reading.principal))
        let (scope, history) = (look.scope, history)
        history.begin(look)
        longReads.read(book, for: call, session) { (book) throws(StoreError) in
            try book.lastChange(after: 0, in: scope, .beside) ?? 0
        } done: { result in
            history.end(look, change: try? result?.get())
            guard let result, !call.isOver else { return }
            switch result {
            case .success: done()
            case .failure(let error): problems.unavailable(call, error)
            }
        }
    }

    /// The same, kept with the connection: most calls come while nothing happens, and finding an app means hashing a path.
    ///
    /// - Parameter isBounded: as ``History/place(of:_:isBounded:)`` has it.
    func token(
        _ reading: Reading, _ session: CallerSession, isBounded: Bool
    ) throws(StoreError) -> String? {
        let version = HistoryVersion(
            number: history.version, revision: reading.disclosure.revision, window: HistoryToken.window(of: seconds))
        if let kept = session.historyToken, kept.version == version { return kept.text }
        let text = try token(reading, isBounded: isBounded)
        session.historyToken = text.map { (version, $0) }
        return text
    }

    /// A token for whoever may see something; for anybody else one that names no place.
    func token(for session: CallerSession, _ book: ContactsStore, _ identifiers: IdentifierCipher) -> String? {
        // Where the book cannot be read, the app starts over with its next question.
        if let reading = grants.reading(of: session, book, under: identifiers), let token = try? token(reading) {
            return token
        }
        return identifiers.seal(HistoryToken(.beginning, at: seconds).bytes, as: .history)
    }
}
