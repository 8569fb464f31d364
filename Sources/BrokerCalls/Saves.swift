import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerBounds
import BrokerContactsStore
import BrokerGrants
import BrokerLedger
import BrokerModel
import BrokerVarlink

/// A change to a book that waits in the user's queue: an app's save, or a card that an app proposed and the
/// person accepted.
package struct PendingSave {
    /// The session of the app.
    package let session: CallerSession
    /// Its user is the owner of the book.
    package let principal: Principal
    /// Whether the save adds contacts, which join the app's granted set.
    package let addsContacts: Bool
    /// The number of changes, for the audit record of a failure.
    package let count: Int
    /// The contacts whose photo is set.
    package let photographed: [RecordNumber]
    /// Decides the save again, once no other save of the user is being written. Returns `nil` if the save is
    /// not permitted.
    package let decide: () -> Write?
    package let done: (Result<Made, Failure>) -> Void

    package init(
        session: CallerSession, principal: Principal, addsContacts: Bool, count: Int, photographed: [RecordNumber],
        decide: @escaping () -> Write?, done: @escaping (Result<Made, Failure>) -> Void
    ) {
        self.session = session
        self.principal = principal
        self.addsContacts = addsContacts
        self.count = count
        self.photographed = photographed
        self.decide = decide
        self.done = done
    }

    package struct Write {
        package let principal: Principal
        /// The facts about the save that the access database needs.
        package let contents: SaveContents
        /// Whether the save may change who is in a contact group. Deleted contacts leave all granted sets anyway.
        package var changesGroups = false
        /// Changes the book. It runs on the user's queue.
        package let apply: @Sendable (ContactsStore, OutgoingEntry, _ seconds: Int64) throws(Failure) -> [BookChange]

        package init(
            principal: Principal, contents: SaveContents, changesGroups: Bool = false,
            apply: @escaping @Sendable (ContactsStore, OutgoingEntry, _ seconds: Int64) throws(Failure) -> [BookChange]
        ) {
            self.principal = principal
            self.contents = contents
            self.changesGroups = changesGroups
            self.apply = apply
        }
    }

    package struct Made {
        package var changes: [BookChange] = []
        /// Whether the app's grant has stayed the same since the save began.
        var isAsDecided = true

        package init(changes: [BookChange] = [], isAsDecided: Bool = true) {
            self.changes = changes
            self.isAsDecided = isAsDecided
        }
    }

    package enum Failure: Error {
        /// The decisions that the save depends on cannot be committed and synced, or too many saves wait.
        case unavailable
        case accessDenied
        case change(ChangeError)
        /// The contact that a card is merged into would become too large.
        case mergedTooLarge
    }
}

/// A grant that the broker created because a new card needs a granted set to join.
private typealias GivenSet = (principal: Principal, revision: Int64)

/// Writes the users' books, one save at a time per user. It lives on the event loop; a book is written on the
/// user's queue.
///
/// A save waits for one sync of the book. That sync makes the contacts durable, together with an outbox entry
/// for the access database. The access store then takes over the entry in memory, and the broker replies.
/// Afterwards the entry is committed to the access database: at once, or while the app's next save is being
/// synced, but before any disclosure that depends on it. If a crash comes first, or a power cut loses the
/// commit, the entry is still in the outbox. The broker takes over the entry when it next opens the book.
package final class Saves {
    private let surroundings: Surroundings
    private let access: AccessStore
    private let groupCommit: GroupCommit
    private let books: Books
    private let grants: Grants
    private let history: History
    private let recovery: SaveRecovery
    private let thumbnails: Thumbnails
    /// Runs after each save, with its changes.
    package var onMade: ([BookChange], Principal) -> Void = { _, _ in }
    /// The number of each user's saves and settings changes that wait or are being written.
    private var places: [UInt32: Int] = [:]
    /// The saves that wait while another save of the same user is being written. During that time, the user
    /// has an entry here, even if no save waits.
    private var waiting: [UInt32: [() -> Void]] = [:]

    package init(
        surroundings: Surroundings, access: AccessStore, groupCommit: GroupCommit, books: Books, grants: Grants,
        history: History, recovery: SaveRecovery, thumbnails: Thumbnails
    ) {
        self.surroundings = surroundings
        self.access = access
        self.groupCommit = groupCommit
        self.books = books
        self.grants = grants
        self.history = history
        self.recovery = recovery
        self.thumbnails = thumbnails
    }

    // MARK: One save

    package func run(_ save: PendingSave, in book: ContactsStore) {
        let uid = save.principal.uid
        guard takePlace(uid) else { return save.done(.failure(.unavailable)) }
        whenNoneIsWritten(uid) { [self] in
            let given = save.addsContacts ? addOwnSet(to: save.principal, save.session) : nil
            recovery.whenDecisionsAreOnDisk(
                { [self] in apply(save, given, to: book) },
                failed: { [self] in failed(save, given, .unavailable) })
        }
    }

    private func apply(_ save: PendingSave, _ given: GivenSet?, to book: ContactsStore) {
        // Other saves may have been made since the last decision, and the grant may have been revoked.
        guard let write = save.decide() else { return failed(save, given, .accessDenied) }
        let begun: BegunSave
        do throws(AccessStoreError) {
            begun = try access.beginSave(write.contents, by: write.principal, now: surroundings.now())
        } catch {
            return failed(save, given, .change(.store(.unavailable(reason: "\(error)"))))
        }
        // If the broker crashes, it takes over this outbox entry when it next opens the book.
        let entry = OutgoingEntry(
            number: begun.number, bytes: begun.entry, takenOver: begun.takenOver,
            anchor: AuditAnchor(sequence: begun.synced.sequence, hash: begun.synced.hash))
        let (seconds, apply) = (surroundings.seconds, write.apply)
        surroundings.loop.run(on: books.queue(of: save.principal.uid)) { () throws(PendingSave.Failure) in
            try apply(book, entry, seconds)
        } then: { [self] result in
            switch result {
            case .success(let changes): made(save, changes, begun, book, changesGroups: write.changesGroups)
            case .failure(let failure): failed(save, given, failure)
            }
        }
    }

    private func made(
        _ save: PendingSave, _ made: [BookChange], _ begun: BegunSave, _ book: ContactsStore, changesGroups: Bool
    ) {
        let uid = save.principal.uid
        ended(uid)
        let isAsDecided = access.endSave(begun, change: book.lastChange)
        history.moved(uid)
        history.noted(made, uid: uid)
        if changesGroups { grants.followGroups(uid, book) }
        save.done(.success(PendingSave.Made(changes: made, isAsDecided: isAsDecided)))
        // Follow-up work that no reply waits for.
        onMade(made, save.principal)
        thumbnails.enqueue(at: save.photographed, of: uid)
        books.releaseMemorySoon(uid)
        // Additions replace no text, so they need no checkpoint.
        if book.leavesText || made.contains(where: { $0.kind != .addContact && $0.kind != .addGroup }) {
            books.checkpointSoon(uid)
        }
    }

    private func failed(_ save: PendingSave, _ given: GivenSet?, _ failure: PendingSave.Failure) {
        let uid = save.principal.uid
        ended(uid)
        // A save that was rolled back may have used much memory.
        books.releaseMemorySoon(uid)
        removeOwnSet(given)
        switch failure {
        // The person is asked whether to replace the contacts.
        case .unavailable, .change(.hasContacts): break
        case .accessDenied, .change, .mergedTooLarge:
            groupCommit.record(.saveNotDone, of: save.principal) { $0.count = save.count }
        }
        save.done(.failure(failure))
    }

    /// Runs `answer` once a crash cannot undo the save or its record. If the outbox entry on disk is enough
    /// for this, `answer` runs at once. Otherwise it waits for a commit. If the grant has changed or
    /// ``GroupCommit/isDurable`` is set, it also waits for a sync.
    package func answer(_ made: PendingSave.Made, _ answer: @escaping () -> Void) {
        let isSafe = made.isAsDecided && !groupCommit.isDurable
        // A save without changes has no outbox entry.
        if isSafe, !made.changes.isEmpty {
            answer()
            return groupCommit.work(failed: { [self] in isNotRecorded() })
        }
        groupCommit.work(
            committed: { [groupCommit] in
                if isSafe { answer() } else { groupCommit.sync.onDisk { _ in answer() } }
            },
            failed: { [self] in
                isNotRecorded()
                answer()
            })
    }

    /// Schedules a retry, because the contacts and the outbox entry are on disk but the audit record could
    /// not be written. The app gets no error, because the save was made.
    private func isNotRecorded() {
        surroundings.log("a save is on disk, but its audit record could not be written; retrying")
        recovery.retryRecording()
    }

    // MARK: Settings

    /// Changes the user's settings. The change does not wait for queued saves, but it counts toward their
    /// limit.
    ///
    /// - Parameter change: runs on the user's queue, one change at a time, because two apps may change
    ///   different settings at once.
    /// - Returns: `false` if too many saves of the user wait. Nothing is changed in that case.
    package func set(
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

    /// The number of all users' saves that wait or are being written.
    package var waitingCount: Int { places.values.reduce(0, +) }

    /// Reserves a slot in the user's queue of saves; returns `false` if it is full.
    private func takePlace(_ uid: UInt32) -> Bool {
        guard places[uid, default: 0] < surroundings.limits.savesWaiting else { return false }
        places[uid, default: 0] += 1
        return true
    }

    /// Runs `save` once no other save of the user is being written. `save` must then check the app's
    /// effective access.
    func whenNoneIsWritten(_ uid: UInt32, _ save: @escaping () -> Void) {
        guard waiting[uid] != nil else {
            waiting[uid] = []
            return save()
        }
        waiting[uid]?.append(save)
    }

    package func ended(_ uid: UInt32) {
        places[uid, default: 1] -= 1
        guard let next = waiting[uid]?.first else {
            waiting[uid] = nil
            return
        }
        waiting[uid]?.removeFirst()
        // The next save runs in a later event loop iteration. A long queue would otherwise grow the stack.
        surroundings.loop.later(next)
    }

    // MARK: Granted set for a forced level

    /// Creates a grant when an app with a forced level, but without a grant, adds its first card. The card
    /// needs a granted set to join. If the rule is removed, this grant allows only the app's own cards.
    ///
    /// This method runs while no other save of the user is being written. No other save therefore depends on
    /// a grant that may be removed again.
    private func addOwnSet(to principal: Principal, _ session: CallerSession) -> GivenSet? {
        let known = grants.effectiveAccess(of: session)
        guard !known.isDecided, case .granted(let forced) = known.effective, forced.access != .denied,
            grants.identifiers(for: known, of: session) != nil
        else { return nil }
        let grant = Grant(
            access: .limited(to: []), changes: .own, revision: access.nextRevision(), decidedBy: .administrator,
            decidedAt: surroundings.seconds)
        access.setGrant(
            grant, for: principal, displayName: session.caller.displayName, at: books.moment(of: principal.uid))
        groupCommit.record(
            .grant, of: principal,
            {
                $0.status = .limited
                $0.keys = grant.keys
                $0.revision = grant.revision
                $0.count = 0
            }, detail: "policy")
        return (principal, grant.revision)
    }

    /// Removes the grant again if the card was not added. If the grant stayed, it would start a new change
    /// history, and the app's token would change although nothing visible changed.
    private func removeOwnSet(_ given: GivenSet?) {
        guard let given, access.grant(of: given.principal)?.revision == given.revision else { return }
        access.endGrant(of: given.principal)
        groupCommit.record(.revocation, of: given.principal, { $0.status = .notDetermined }, detail: "not done")
        history.moved(given.principal.uid)
    }
}
