import BrokerAccessControl
import BrokerAccessStore
import BrokerContactsStore
import BrokerVarlink
import Glibc

/// Completes saves that a failure of the broker, the machine or a disk interrupted. It lives on the event loop.
final class SaveRecovery {
    private let surroundings: Surroundings
    private let access: AccessStore
    private let groupCommit: GroupCommit
    private let history: History
    /// A retry is scheduled; see ``retryRecording()``.
    private var isRetryScheduled = false

    init(surroundings: Surroundings, access: AccessStore, groupCommit: GroupCommit, history: History) {
        self.surroundings = surroundings
        self.access = access
        self.groupCommit = groupCommit
        self.history = history
    }

    /// Whether a book contains a save whose audit record is not committed yet.
    var hasUndelivered: Bool { access.hasUndelivered }

    /// Takes over the entries in a book's outbox, before any decision relies on the book's contents.
    ///
    /// - Parameter isEnding: whether the book is being closed. If it is being opened, new entries are from
    ///   before a crash.
    func takeOver(_ entries: [OutboxEntry], of uid: UInt32, isEnding: Bool) {
        let before = access.outboxMark(of: uid)
        for entry in entries where entry.number > before {
            access.takeOver(
                entry.bytes, number: entry.number, change: entry.change, of: uid, now: surroundings.now(),
                afterCrash: !isEnding)
        }
        guard entries.contains(where: { $0.number > before }), !isEnding else { return }
        history.moved()
        // Committed at once rather than at the end of this iteration: the next decision must see these saves, and
        // their records must come before any reply.
        groupCommit.flush()
        if access.hasUndelivered { retryRecording() }
    }

    /// Opens the books that the last run did not close, one after the other, so that the audit is soon
    /// complete. A caller that needs one of them waits until it is open, as for any book.
    func settle(_ books: Books, _ problems: StoreProblems) {
        // A purge took over the outbox before it began, so a book being purged is skipped.
        settle(books.unclosed().filter { !books.isRemoving($0) }[...], books, problems)
    }

    private func settle(_ users: ArraySlice<UInt32>, _ books: Books, _ problems: StoreProblems) {
        guard let uid = users.first else { return }
        // Opened under the owner's recorded name: the outbox belongs to that owner, even if the UID was reassigned.
        books.with(uid, named: access.ownerName(of: uid)) { [self] result in
            if case .failure(let error) = result { problems.note(error, of: uid) }
            surroundings.loop.later { [self] in settle(users.dropFirst(), books, problems) }
        }
    }

    /// Schedules a retry for saves that are in a book but could not be recorded. Every other commit also
    /// tries to record them.
    func retryRecording() {
        guard !isRetryScheduled else { return }
        isRetryScheduled = true
        surroundings.loop.later(after: surroundings.limits.retryInterval) { [self] in
            isRetryScheduled = false
            recordUndelivered()
        }
    }

    /// Commits the records of saves that are in a book already. Must be called before a decision that depends on
    /// them.
    func recordUndelivered() {
        guard access.hasUndelivered else { return }
        groupCommit.flush()
        if access.hasUndelivered { retryRecording() }
    }

    /// Runs `body` once all decisions that a save depends on are synced, or `failed` if the sync fails.
    func whenDecisionsAreOnDisk(_ body: @escaping () -> Void, failed: @escaping () -> Void) {
        guard !groupCommit.sync.hasFailed else { return failed() }
        guard access.hasDecisionsOffDisk else { return body() }
        groupCommit.work(
            committed: { [self] in
                groupCommit.sync.onDisk { isOnDisk in if isOnDisk { body() } else { failed() } }
            }, failed: failed)
    }

    /// Resolves intents that an earlier version of the broker left open when it crashed. The save is
    /// recorded, but its contacts may not be in the book.
    func resolveIntents(_ books: Books) {
        for intent in access.openIntents() {
            books.with(intent.uid) { [weak self] result in
                guard let self else { return }
                do throws(StoreError) {
                    let existing = try result.get()?.existing(intent.adds) ?? []
                    access.resolveSave(intent.id, existing: existing, at: books.moment(of: intent.uid))
                    history.moved()
                    // The book commits all of a save or nothing. A save that added nothing leaves no trace that shows
                    // whether it was made.
                    let event: AuditEvent = existing.isEmpty && !intent.adds.isEmpty ? .saveNotDone : .save
                    let detail = intent.adds.isEmpty ? "perhaps, before a crash" : "before a crash"
                    groupCommit.record(event, of: intent.principal, { $0.count = intent.adds.count }, detail: detail)
                } catch {
                    // The intent is kept: the book may be readable at the next start.
                    surroundings.log("cannot tell whether a save was made before the broker last ended: \(error)")
                }
            }
        }
    }
}

extension Books {
    /// Users whose book has a write-ahead log. Closing a book removes its log, so the last run did not close
    /// these books.
    func unclosed() -> [UInt32] {
        Self.users(in: surroundings.stateFolder).filter { uid in
            var status = stat()
            return lstat(folder(of: uid) + "/contacts.sqlite-wal", &status) == 0 && status.st_size > 0
        }
    }
}
