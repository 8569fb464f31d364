import BrokerAccessControl
import BrokerAccessStore
import BrokerContactsStore
import BrokerModel
import BrokerVarlink

/// A change of a book that waits for its turn: an app's save, or a card that the person takes from an app.
struct PendingSave {
    /// The app's.
    let session: CallerSession
    let principal: Principal
    /// Whether contacts come that join the app's set.
    let addsContacts: Bool
    /// How many changes it makes, for the record where it fails.
    let count: Int
    /// Contacts that are given a photo.
    let photographed: [RecordNumber]
    /// Decides again, when no other save of the user is on its way; `nil`: what allowed it was taken back.
    let decide: () -> Write?
    let done: (Result<Made, Failure>) -> Void

    struct Write {
        let principal: Principal
        /// What the access store must learn of it.
        let contents: SaveContents
        /// Changes the book, on the user's queue.
        let apply: @Sendable (ContactsStore, OutgoingEntry, _ seconds: Int64) throws(Failure) -> [BookChange]
    }

    struct Made {
        var changes: [BookChange] = []
        /// Nothing that it rests on has changed since it was decided.
        var isAsDecided = true
    }

    enum Failure: Error {
        /// What it rests on cannot be recorded, or too many saves wait.
        case unavailable
        case accessDenied
        case change(ChangeError)
        /// There is no such contact to merge a card into, or no room in it.
        case cannotMerge(String)
    }
}

/// A grant that was made so that a card has a set to join.
private typealias GivenSet = (principal: Principal, revision: Int64)

/// Writes users' books: for each user one save after the other. It lives on the loop; a book is written on the user's queue.
///
/// The disk is waited for once: the contacts go onto it together with what the access store must learn of them, in the
/// book's outbox. Then the access store takes that over in memory, and the reply is sent. After it that goes into the
/// access store's log: at once, or while the save is at the disk that the same app sends right behind, but before
/// anything is told that rests on it. A crash in between, or one that takes the log's end along, leaves the entry in the
/// outbox, and whoever opens the book takes it over.
final class Saves {
    private let surroundings: Surroundings
    private let access: AccessStore
    private let turn: Turn
    private let books: Books
    private let grants: Grants
    private let history: History
    private let recovery: SaveRecovery
    private let thumbnails: Thumbnails
    /// How many saves of each user wait or are on their way.
    private var places: [UInt32: Int] = [:]
    /// Saves that wait for the one that is on its way; there is an entry while one is.
    private var waiting: [UInt32: [() -> Void]] = [:]

    init(
        surroundings: Surroundings, access: AccessStore, turn: Turn, books: Books, grants: Grants,
        history: History, recovery: SaveRecovery, thumbnails: Thumbnails
    ) {
        self.surroundings = surroundings
        self.access = access
        self.turn = turn
        self.books = books
        self.grants = grants
        self.history = history
        self.recovery = recovery
        self.thumbnails = thumbnails
    }

    // MARK: One save

    func run(_ save: PendingSave, in book: ContactsStore) {
        let uid = save.session.caller.uid
        guard takePlace(uid) else { return save.done(.failure(.unavailable)) }
        whenItsTurn(uid) { [self] in
            let given = save.addsContacts ? giveSetOfItsOwn(to: save.principal, save.session) : nil
            recovery.whenDecisionsAreOnDisk(
                { [self] in apply(save, given, to: book) },
                failed: { [self] in failed(save, given, .unavailable) })
        }
    }

    private func apply(_ save: PendingSave, _ given: GivenSet?, to book: ContactsStore) {
        // Others saved meanwhile, and what allowed this one may have been taken back.
        guard let write = save.decide() else { return failed(save, given, .accessDenied) }
        let begun: BegunSave
        do throws(AccessStoreError) {
            begun = try access.beginSave(write.contents, by: write.principal, now: surroundings.now())
        } catch {
            return failed(save, given, .change(.store(.unavailable(reason: "\(error)"))))
        }
        // For whoever opens the book after a crash.
        let entry = OutgoingEntry(
            number: begun.number, bytes: begun.entry, takenOver: begun.takenOver,
            anchor: AuditAnchor(sequence: begun.synced.sequence, hash: begun.synced.hash))
        let (seconds, apply) = (surroundings.seconds, write.apply)
        surroundings.loop.run(on: books.queue(of: save.session.caller.uid)) { () throws(PendingSave.Failure) in
            try apply(book, entry, seconds)
        } then: { [self] result in
            switch result {
            case .success(let changes): made(save, changes, begun, book)
            case .failure(let failure): failed(save, given, failure)
            }
        }
    }

    private func made(_ save: PendingSave, _ made: [BookChange], _ begun: BegunSave, _ book: ContactsStore) {
        let uid = save.session.caller.uid
        ended(uid)
        let isAsDecided = access.endSave(begun, change: book.lastChange)
        history.moved()
        history.noted(made, uid: uid)
        save.done(.success(PendingSave.Made(changes: made, isAsDecided: isAsDecided)))
        // What comes of it later nobody waits for.
        thumbnails.look(at: save.photographed, of: uid)
        books.rest(uid)
        // Only an addition leaves no former text behind.
        if made.contains(where: { $0.kind != .addContact && $0.kind != .addGroup }) { books.forget(uid) }
    }

    private func failed(_ save: PendingSave, _ given: GivenSet?, _ failure: PendingSave.Failure) {
        ended(save.session.caller.uid)
        takeBackSetOfItsOwn(given)
        switch failure {
        case .unavailable: break
        case .accessDenied, .change, .cannotMerge:
            turn.record(.saveNotDone, of: save.session.caller) { $0.count = save.count }
        }
        save.done(.failure(failure))
    }

    /// Answers as soon as the answer cannot turn out wrong. Where the book's outbox has the record on the disk, that is at once.
    func answer(_ made: PendingSave.Made, _ answer: @escaping () -> Void) {
        let isSafe = made.isAsDecided && !turn.isDurable
        // What made nothing has put nothing into the outbox.
        if isSafe, !made.changes.isEmpty {
            answer()
            return turn.work(failed: { [self] in isNotRecorded() })
        }
        turn.work(
            committed: { [turn] in
                if isSafe { answer() } else { turn.sync.onDisk { _ in answer() } }
            },
            failed: { [self] in
                isNotRecorded()
                answer()
            })
    }

    /// The contacts are on the disk, and the outbox with them: where the record of their coming cannot be written now, it is
    /// later. The app is not told that nothing happened when it did.
    private func isNotRecorded() {
        surroundings.log("a save is on the disk, and its record is not yet: it is tried again")
        recovery.retryRecording()
    }

    // MARK: Settings

    /// Sets what the user prefers. It is no save, and waits for none.
    ///
    /// - Parameter change: runs where writes come one after the other: two apps may each change a part.
    /// - Returns: `false` where too many saves of the user wait, and nothing is set.
    func set(
        _ book: ContactsStore, of uid: UInt32, _ change: @escaping @Sendable (inout BookSettings) -> Void,
        done: @escaping (Result<Void, StoreError>) -> Void
    ) -> Bool {
        guard takePlace(uid) else { return false }
        surroundings.loop.run(on: books.queue(of: uid)) { () throws(StoreError) in
            var settings = book.settings
            change(&settings)
            try book.set(settings)
        } then: { [self] result in
            places[uid, default: 1] -= 1
            done(result)
        }
        return true
    }

    // MARK: The queue of a user

    /// Takes a place in the user's queue of saves; `false` if all are taken.
    private func takePlace(_ uid: UInt32) -> Bool {
        guard places[uid, default: 0] < surroundings.limits.savesWaiting else { return false }
        places[uid, default: 0] += 1
        return true
    }

    /// Runs the save when no other one of the user is on its way to the book, so that it is decided by what holds then.
    func whenItsTurn(_ uid: UInt32, _ save: @escaping () -> Void) {
        guard waiting[uid] != nil else {
            waiting[uid] = []
            return save()
        }
        waiting[uid]?.append(save)
    }

    /// Whether the next save of the user would wait for one that is on its way, and for no other.
    func isNext(_ uid: UInt32) -> Bool { waiting[uid]?.isEmpty == true }

    func ended(_ uid: UInt32) {
        places[uid, default: 1] -= 1
        guard let next = waiting[uid]?.first else {
            waiting[uid] = nil
            return
        }
        waiting[uid]?.removeFirst()
        // In a later turn: what waits must not grow the stack.
        surroundings.loop.later(next)
    }

    // MARK: A set of its own

    /// An app whose level is forced while nothing was decided adds its first card: the set that the card joins has to live
    /// somewhere. Without the rule this grant allows the app's own cards, and nothing else.
    ///
    /// For the save whose turn it is, so that no other one counts on what may be taken back.
    private func giveSetOfItsOwn(to principal: Principal, _ session: CallerSession) -> GivenSet? {
        let known = grants.standing(of: session)
        guard !known.isDecided, case .granted(let forced) = known.standing, forced.access != .denied else { return nil }
        let grant = Grant(
            access: .limited(to: []), revision: access.nextRevision(), decidedBy: .administrator,
            decidedAt: surroundings.seconds)
        access.setGrant(
            grant, for: principal, displayName: session.caller.displayName, at: books.moment(of: principal.uid))
        turn.record(
            .grant, of: principal,
            {
                $0.status = .limited
                $0.keys = grant.keys
                $0.revision = grant.revision
                $0.count = 0
            }, detail: "policy")
        return (principal, grant.revision)
    }

    /// The card did not come. The grant would begin another history, so that the app's token would change though it can see
    /// nothing happen.
    private func takeBackSetOfItsOwn(_ given: GivenSet?) {
        guard let given, access.grant(of: given.principal)?.revision == given.revision else { return }
        access.endGrant(of: given.principal)
        turn.record(.revocation, of: given.principal, { $0.status = .notDetermined }, detail: "not done")
        history.moved()
    }
}
