import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerContactsStore
import BrokerDisclosure
import BrokerModel
import BrokerVarlink

/// Caches the end of each app's change history, and wakes the watchers. It lives on the event loop.
package final class History {
    /// The end of one app's change history.
    private struct Tail {
        var place: HistoryPlace
        /// The grant revision for which the place is valid.
        var revision: Int64
        /// Later changes to the book that have not been checked yet.
        var pending: [BookChange] = []
        var token: (window: Int64, text: String)?
    }

    private var tails: [Principal: Tail] = [:]
    /// Look-ups on workers, with the changes since they began; see ``LookUp``.
    private var lookUps: [ObjectIdentifier: LookUp] = [:]
    /// What is kept for one user.
    final class OfUser {
        fileprivate var version = 0
        /// What wakes each watcher, by its call.
        fileprivate var watches: [ObjectIdentifier: () -> Void] = [:]
        fileprivate var isWaking = false
    }

    /// The users whose apps have made a call. There are no more than the users with a book or a connection.
    private var users: [UInt32: OfUser] = [:]
    /// Counts the events that concern all users.
    private var versionOfAll = 0
    private let loop: any Loop

    package init(loop: any Loop) { self.loop = loop }

    /// The place after the last event that the caller could see. Only events that the caller can see move the
    /// place.
    ///
    /// - Parameter isBounded: whether to throw ``StoreError/takesLong`` if the look-up would take long. After
    ///   this error, use ``HistoryPlaces/lookUp(_:_:_:_:done:)`` and retry.
    package func place(
        of context: ReadContext, _ set: SetHistory, isBounded: Bool = false
    ) throws(StoreError) -> HistoryPlace {
        let principal = context.principal
        let disclosure = context.disclosure
        let terms = HistoryPlace.terms(disclosure)
        var known = tails[principal].flatMap { $0.place.epoch == set.epoch && $0.place.terms == terms ? $0 : nil }
        if let known, known.revision == disclosure.revision, known.pending.isEmpty { return known.place }
        let scope = context.changeScope
        var place = known?.place ?? HistoryPlace(epoch: set.epoch, terms: terms, change: 0, set: 0)
        // An app with full access does not see changes to its granted set.
        if case .only = disclosure.scope, let last = set.events.last(where: { $0.kind != .forgotten }) {
            // A place after a change to the granted set is also after all earlier changes to the book.
            if last.revision > place.set { place.change = max(place.change, last.change) }
            place.set = max(place.set, last.revision)
        }
        if let known {
            if let last = known.pending.last(where: scope.contains) { place.change = max(place.change, last.number) }
        } else if let book = context.book, book.lastChange > place.change {
            if isBounded, book.isLong(scope) { throw .takesLong }
            place.change = try book.lastChange(after: place.change, in: scope) ?? place.change
        }
        if known?.place != place { known?.token = nil }
        if tails.count >= StoreLimits.tails { tails.removeAll() }
        tails[principal] = Tail(place: place, revision: disclosure.revision, token: known?.token)
        return place
    }

    package func token(
        of context: ReadContext, _ set: SetHistory, at seconds: Int64, isBounded: Bool
    ) throws(StoreError) -> String? {
        let token = HistoryToken(try place(of: context, set, isBounded: isBounded), at: seconds)
        if let known = tails[context.principal]?.token, known.window == token.time { return known.text }
        guard let text = context.identifiers.seal(token.bytes, as: .history) else { return nil }
        tails[context.principal]?.token = (token.time, text)
        return text
    }

    /// Notes changes to a user's book.
    package func noted(_ changes: [BookChange], uid: UInt32) {
        guard !changes.isEmpty else { return }
        moved(uid)
        for lookUp in lookUps.values where lookUp.context.principal.uid == uid { lookUp.pending += changes }
        for principal in tails.keys.filter({ $0.uid == uid }) {
            if tails[principal]?.pending.count ?? 0 > StoreLimits.pendingChanges - changes.count {
                tails[principal] = nil
            } else {
                // The changes are appended in place, because copying the array would cost more than the rest
                // of a save.
                tails[principal]?.pending += changes
            }
        }
    }

    /// Drops the tails of a user for a purge.
    package func drop(_ uid: UInt32) {
        tails = tails.filter { $0.key.uid != uid }
        moved(uid)
    }

    // MARK: Large sets

    /// A running look-up of the end of an app's change history. It is needed if the granted set is large,
    /// and a worker performs it.
    package final class LookUp {
        let context: ReadContext
        let set: SetHistory
        /// Changes since the look-up began.
        fileprivate(set) var pending: [BookChange] = []

        package init(_ context: ReadContext, _ set: SetHistory) {
            self.context = context
            self.set = set
        }

        package var scope: ChangeScope { context.changeScope }
    }

    /// Registers a look-up. Call this before the book is read; otherwise a later change could be missed.
    package func begin(_ lookUp: LookUp) { lookUps[ObjectIdentifier(lookUp)] = lookUp }

    /// - Parameter change: the number of the last change to the book that the caller can see; `nil` if the
    ///   look-up failed.
    package func end(_ lookUp: LookUp, change: Int64?) {
        lookUps[ObjectIdentifier(lookUp)] = nil
        // After too many changes, the result is dropped, and the next call starts another look-up.
        guard let change, lookUp.pending.count <= StoreLimits.pendingChanges else { return }
        let disclosure = lookUp.context.disclosure
        let place = HistoryPlace(
            epoch: lookUp.set.epoch, terms: HistoryPlace.terms(disclosure), change: change, set: 0)
        if tails.count >= StoreLimits.tails { tails.removeAll() }
        // No grant has this revision, so the next request for the place applies the changes to the granted
        // set.
        tails[lookUp.context.principal] = Tail(place: place, revision: .min, pending: lookUp.pending)
    }

    // MARK: Versions

    private func ofUser(_ uid: UInt32) -> OfUser {
        if let known = users[uid] { return known }
        let new = OfUser()
        users[uid] = new
        return new
    }

    /// Increases with every event that may move a place of the session's user or change an effective access of the
    /// user's apps. Events of other users do not change it.
    package func version(of session: CallerSession) -> Int {
        let user = session.history ?? ofUser(session.caller.uid)
        session.history = user
        return versionOfAll + user.version
    }

    /// Notes that a place or an effective access of a user's apps may have changed. Each of the user's watchers then
    /// checks once for all changes made in this event loop iteration.
    package func moved(_ uid: UInt32) {
        guard let user = users[uid] else { return }
        user.version += 1
        wake(user)
    }

    /// Notes that places or effective accesses of all users' apps may have changed, for example with a new policy.
    package func movedOfAll() {
        versionOfAll += 1
        for user in users.values { wake(user) }
    }

    // MARK: Watching

    var watchers: Int { users.values.reduce(0) { $0 + $1.watches.count } }

    /// Runs `wake` after each event loop iteration that may have changed something for the user, until ``endWatch(_:of:)``.
    package func watch(_ call: Call, of uid: UInt32, wake: @escaping () -> Void) {
        ofUser(uid).watches[ObjectIdentifier(call)] = wake
    }

    package func endWatch(_ call: Call, of uid: UInt32) { ofUser(uid).watches[ObjectIdentifier(call)] = nil }

    private func wake(_ user: OfUser) {
        guard !user.watches.isEmpty, !user.isWaking else { return }
        user.isWaking = true
        loop.later {
            user.isWaking = false
            for wake in user.watches.values { wake() }
        }
    }
}

/// The state for which a cached token is valid.
package struct HistoryVersion: Hashable {
    package let number: Int
    package let revision: Int64
    package let window: Int64

    package init(number: Int, revision: Int64, window: Int64) {
        self.number = number
        self.revision = revision
        self.window = window
    }
}
