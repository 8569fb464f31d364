import BrokerAccessControl
import BrokerAccessStore
import BrokerContactsStore
import BrokerVarlink
import Glibc

/// What a save leaves to be done when the broker, the machine or a disk gives out in the middle of it. It lives on the loop.
final class SaveRecovery {
    private let surroundings: Surroundings
    private let access: AccessStore
    private let turn: Turn
    private let history: History
    /// See ``retryRecording()``.
    private var isRetryScheduled = false

    init(surroundings: Surroundings, access: AccessStore, turn: Turn, history: History) {
        self.surroundings = surroundings
        self.access = access
        self.turn = turn
        self.history = history
    }

    /// Some save is in a book and not on record.
    var hasUndelivered: Bool { access.hasUndelivered }

    /// Takes over what the outbox of a book still has to tell, before anything is decided by what is in the book.
    ///
    /// - Parameter isEnding: the book is being closed, and not opened after a crash.
    func takeOver(_ entries: [OutboxEntry], of uid: UInt32, isEnding: Bool) {
        let before = access.outboxMark(of: uid)
        for entry in entries where entry.number > before {
            access.takeOver(
                entry.bytes, number: entry.number, change: entry.change, of: uid, now: surroundings.now(),
                afterCrash: !isEnding)
        }
        guard entries.contains(where: { $0.number > before }), !isEnding else { return }
        history.moved()
        // Now, and not with this turn: what is decided next sees what was saved, and no reply hides it.
        turn.flush()
        if access.hasUndelivered { retryRecording() }
    }

    /// Opens the books that were not closed when the last run ended, one after the other, so that the audit is soon whole.
    /// Whoever asks for one of them meanwhile waits until it is open, as for any book.
    func settle(_ books: Books, _ problems: StoreProblems) {
        // What is being purged told everything before.
        settle(books.unclosed().filter { !books.isRemoving($0) }[...], books, problems)
    }

    private func settle(_ users: ArraySlice<UInt32>, _ books: Books, _ problems: StoreProblems) {
        guard let uid = users.first else { return }
        // Under the name for which it is kept: it tells the same, whoever has the number now.
        books.with(uid, named: access.ownerName(of: uid)) { [self] result in
            if case .failure(let error) = result { problems.note(error, of: uid) }
            surroundings.loop.later { [self] in settle(users.dropFirst(), books, problems) }
        }
    }

    /// A save is in a book, and could not be recorded. It is tried with everything else that is recorded, and by itself.
    func retryRecording() {
        guard !isRetryScheduled else { return }
        isRetryScheduled = true
        surroundings.loop.later(after: surroundings.limits.retryInterval) { [self] in
            isRetryScheduled = false
            recordUndelivered()
        }
    }

    /// To be called before something is decided: what is in a book counts.
    func recordUndelivered() {
        guard access.hasUndelivered else { return }
        turn.flush()
        if access.hasUndelivered { retryRecording() }
    }

    /// Runs one of the two: what a save rests on is on the disk, or does not get there.
    func whenDecisionsAreOnDisk(_ body: @escaping () -> Void, failed: @escaping () -> Void) {
        guard !turn.sync.hasFailed else { return failed() }
        guard access.hasDecisionsOffDisk else { return body() }
        turn.work(
            committed: { [self] in
                turn.sync.onDisk { isOnDisk in if isOnDisk { body() } else { failed() } }
            }, failed: failed)
    }

    /// Settles what a crash of an earlier version left behind: saves whose intent is on record, and whose contacts are in
    /// the book or not.
    func resolveIntents(_ books: Books) {
        for intent in access.openIntents() {
            books.with(intent.uid) { [weak self] result in
                guard let self else { return }
                do throws(StoreError) {
                    let existing = try result.get()?.existing(intent.adds) ?? []
                    access.resolveSave(intent.id, existing: existing, at: books.moment(of: intent.uid))
                    history.moved()
                    // The book commits all of a save or nothing of it. One that added nothing leaves no trace by which
                    // that could be told.
                    let event: AuditEvent = existing.isEmpty && !intent.adds.isEmpty ? .saveNotDone : .save
                    let detail = intent.adds.isEmpty ? "perhaps, before a crash" : "before a crash"
                    turn.record(event, of: intent.principal, { $0.count = intent.adds.count }, detail: detail)
                } catch {
                    // The intent stays: the book may be readable at the next start.
                    surroundings.log("a save from before the last end could not be looked up: \(error)")
                }
            }
        }
    }
}

extension Books {
    /// Users whose book has a log beside it: who closes a book empties the log and takes it away. For the start.
    func unclosed() -> [UInt32] {
        Self.users(in: surroundings.stateFolder).filter { uid in
            var status = stat()
            return lstat(folder(of: uid) + "/contacts.sqlite-wal", &status) == 0 && status.st_size > 0
        }
    }
}
