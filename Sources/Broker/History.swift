import AccessControl
import AccessStore
import ContactsModel
import ContactsStore
import Varlink

/// Where each app's history ends, and who watches. It lives on the loop.
final class History {
    /// The end of one app's history.
    private struct Tail {
        var place: HistoryPlace
        /// The grant's revision as of which that holds.
        var revision: Int64
        /// Changes of the book that were not looked at since.
        var pending: [BookChange] = []
        var token: (window: Int64, text: String)?
    }

    /// Changes that are kept for a tail nobody asks for; past it the book is asked.
    private static let mostPending = 4_096
    private static let mostTails = 4_096

    private var tails: [Principal: Tail] = [:]
    /// Ends that are looked for beside the loop, with what was changed since; see ``Look``.
    private var looks: [ObjectIdentifier: Look] = [:]
    private var watches: [ObjectIdentifier: WatchChanges] = [:]
    private var isWaking = false
    /// Counts everything that may move a place.
    private(set) var version = 0
    private let loop: any Loop

    init(loop: any Loop) { self.loop = loop }

    /// The place after everything that a caller could see happen. It moves only when something does that it can see.
    ///
    /// - Parameter isBounded: where that takes long, ``StoreError/takesLong``: it is to be looked for first, see
    ///   ``Broker/lookForPlace(_:_:_:_:)``.
    func place(
        of reading: Reading, _ set: SetHistory, isBounded: Bool = false
    ) throws(StoreError) -> HistoryPlace {
        let principal = reading.principal
        let disclosure = reading.disclosure
        let terms = HistoryPlace.terms(disclosure)
        var known = tails[principal].flatMap { $0.place.epoch == set.epoch && $0.place.terms == terms ? $0 : nil }
        if let known, known.revision == disclosure.revision, known.pending.isEmpty { return known.place }
        let scope = reading.changeScope
        var place = known?.place ?? HistoryPlace(epoch: set.epoch, terms: terms, change: 0, set: 0)
        // Who sees everything does not see what a rule over it would leave.
        if case .only = disclosure.scope, let last = set.events.last {
            // With a change of the set everything up to then is behind the app.
            if last.revision > place.set { place.change = max(place.change, last.change) }
            place.set = max(place.set, last.revision)
        }
        if let known {
            if let last = known.pending.last(where: scope.contains) { place.change = max(place.change, last.number) }
        } else if let book = reading.book, book.lastChange > place.change {
            if isBounded, book.isLong(scope) { throw .takesLong }
            place.change = try book.lastChange(after: place.change, in: scope) ?? place.change
        }
        if known?.place != place { known?.token = nil }
        if tails.count >= Self.mostTails { tails.removeAll() }
        tails[principal] = Tail(place: place, revision: disclosure.revision, token: known?.token)
        return place
    }

    func token(
        of reading: Reading, _ set: SetHistory, at seconds: Int64, isBounded: Bool
    ) throws(StoreError) -> String? {
        let token = HistoryToken(try place(of: reading, set, isBounded: isBounded), at: seconds)
        if let known = tails[reading.principal]?.token, known.window == token.time { return known.text }
        guard let text = reading.identifiers.seal(token.bytes, as: .history) else { return nil }
        tails[reading.principal]?.token = (token.time, text)
        return text
    }

    /// The book of a user was changed.
    func noted(_ changes: [BookChange], uid: UInt32) {
        guard !changes.isEmpty else { return }
        moved()
        for look in looks.values where look.reading.principal.uid == uid { look.pending += changes }
        for principal in tails.keys.filter({ $0.uid == uid }) {
            if tails[principal]?.pending.count ?? 0 > Self.mostPending - changes.count {
                tails[principal] = nil
            } else {
                // Where they are: a copy would cost more than the rest of a save.
                tails[principal]?.pending += changes
            }
        }
    }

    /// Nothing is kept for this user any more.
    func forget(_ uid: UInt32) {
        tails = tails.filter { $0.key.uid != uid }
        moved()
    }

    // MARK: Large sets

    /// The end of a history that is being looked for: each contact of the set is asked for its last change.
    final class Look {
        let reading: Reading
        let set: SetHistory
        /// What was changed since it began.
        fileprivate(set) var pending: [BookChange] = []

        init(_ reading: Reading, _ set: SetHistory) {
            self.reading = reading
            self.set = set
        }

        var scope: ChangeScope { reading.changeScope }
    }

    /// To be called before the book is read.
    func begin(_ look: Look) { looks[ObjectIdentifier(look)] = look }

    /// - Parameter change: the last one of the book that the caller sees; `nil` where that is not known.
    func end(_ look: Look, change: Int64?) {
        looks[ObjectIdentifier(look)] = nil
        // Others than those that were looked for are looked for anew.
        guard let change, look.pending.count <= Self.mostPending else { return }
        let disclosure = look.reading.disclosure
        let place = HistoryPlace(
            epoch: look.set.epoch, terms: HistoryPlace.terms(disclosure), change: change, set: 0)
        if tails.count >= Self.mostTails { tails.removeAll() }
        // Of no revision: what became of the set is laid over it when the place is asked for.
        tails[look.reading.principal] = Tail(place: place, revision: .min, pending: look.pending)
    }

    // MARK: Watching

    var watchers: Int { watches.count }

    func begin(_ watch: WatchChanges) { watches[ObjectIdentifier(watch)] = watch }

    func end(_ watch: WatchChanges) { watches[ObjectIdentifier(watch)] = nil }

    /// A place may have moved. Every watcher looks, once for all that happens in this turn.
    func moved() {
        version += 1
        guard !watches.isEmpty, !isWaking else { return }
        isWaking = true
        let bound = LoopBound(self, loop: loop)
        loop.execute {
            let history = bound.value
            history.isWaking = false
            for watch in history.watches.values { watch.look() }
        }
    }
}

extension Broker {
    /// How a principal's set became what of it counts. Where nothing was decided, or its time is over, the policy may still force
    /// a level: then nothing is in the set, and whatever was decided in between, that is one history.
    func setHistory(of principal: Principal) -> SetHistory {
        guard let history = access.setHistory(of: principal), let grant = access.grant(of: principal),
            end(of: grant, principal).map({ $0 > seconds }) ?? true
        else { return SetHistory() }
        return history
    }

    /// The place after everything that the caller could see happen.
    func historyPlace(_ reading: Reading) throws(StoreError) -> HistoryPlace {
        try history.place(of: reading, setHistory(of: reading.principal))
    }

    /// The same as an app carries it.
    func historyToken(_ reading: Reading, isBounded: Bool = false) throws(StoreError) -> String? {
        try history.token(of: reading, setHistory(of: reading.principal), at: seconds, isBounded: isBounded)
    }

    /// Looks for the place of an app with a large set where that keeps nobody waiting; it is known then.
    func lookForPlace(
        _ reading: Reading, _ book: ContactsStore, _ call: Call, _ session: CallerSession,
        done: @escaping () -> Void
    ) {
        let look = History.Look(reading, setHistory(of: reading.principal))
        let (scope, history) = (look.scope, history)
        history.begin(look)
        longReads.read(book, for: call, session) { (book) throws(StoreError) in
            try book.lastChange(after: 0, in: scope, .beside) ?? 0
        } done: { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let change):
                history.end(look, change: change)
                if !call.isOver { done() }
            case .failure(let error):
                history.end(look, change: nil)
                if !call.isOver { unavailable(call, error) }
            }
        } gaveUp: {
            history.end(look, change: nil)
        }
    }

    /// The same, kept with the connection: most calls come while nothing happens, and finding an app means hashing a path.
    ///
    /// - Parameter isBounded: as ``History/place(of:_:isBounded:)`` has it.
    func historyToken(
        _ reading: Reading, _ session: CallerSession, isBounded: Bool
    ) throws(StoreError) -> String? {
        let version = HistoryVersion(
            number: history.version, revision: reading.disclosure.revision, window: HistoryToken.window(of: seconds))
        if let kept = session.historyToken, kept.version == version { return kept.text }
        let text = try historyToken(reading, isBounded: isBounded)
        session.historyToken = text.map { (version, $0) }
        return text
    }

    /// A token for whoever may see something; for anybody else one that names no place.
    func historyToken(for session: CallerSession, _ book: ContactsStore, _ identifiers: IdentifierCipher) -> String? {
        let known = standing(of: session)
        if case .permit(let disclosure) = decideAccess(known.standing, mayAsk: false), let principal = known.principal {
            let reading = Reading(
                disclosure: disclosure, principal: principal, identifiers: identifiers, book: book)
            // Where the book cannot be read, the app starts over with its next question.
            if let token = try? historyToken(reading) { return token }
        }
        return identifiers.seal(HistoryToken(.beginning, at: seconds).bytes, as: .history)
    }
}

/// As of when a token that is kept holds.
struct HistoryVersion: Hashable {
    let number: Int
    let revision: Int64
    let window: Int64
}
