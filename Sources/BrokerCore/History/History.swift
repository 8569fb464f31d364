import BrokerAccessControl
import BrokerAccessStore
import BrokerContactsStore
import BrokerDisclosure
import BrokerModel
import BrokerVarlink

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
    ///   ``HistoryPlaces/lookUp(_:_:_:_:done:)``.
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
        loop.later { [self] in
            isWaking = false
            for watch in watches.values { watch.look() }
        }
    }
}

/// As of when a token that is kept holds.
struct HistoryVersion: Hashable {
    let number: Int
    let revision: Int64
    let window: Int64
}
