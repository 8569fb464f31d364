import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerContactsStore
import BrokerLedger
import BrokerVarlink
import Glibc

/// Completes saves that a failure of the broker, the machine or a disk interrupted. It lives on the event loop.
package final class SaveRecovery {
    private let surroundings: Surroundings
    private let access: AccessStore
    private let groupCommit: GroupCommit
    private let history: History
    /// Whether a retry is scheduled; see ``retryRecording()``.
    private var isRetryScheduled = false

    package init(surroundings: Surroundings, access: AccessStore, groupCommit: GroupCommit, history: History) {
        self.surroundings = surroundings
        self.access = access
        self.groupCommit = groupCommit
        self.history = history
    }

    /// Whether a book contains a save whose audit record is not committed yet.
    var hasUndelivered: Bool { access.hasUndelivered }

    /// Takes over the new entries in a book's outbox. Call this before any decision relies on the book's
    /// contents.
    ///
    /// - Parameter isEnding: whether the broker is closing the book. If the broker is opening it, new entries
    ///   are from before a crash.
    func takeOver(_ entries: [OutboxEntry], of uid: UInt32, isEnding: Bool) {
        let before = access.outboxMark(of: uid)
        for entry in entries where entry.number > before {
            access.takeOver(
                entry.bytes, number: entry.number, change: entry.change, of: uid, now: surroundings.now(),
                afterCrash: !isEnding)
        }
        guard entries.contains(where: { $0.number > before }), !isEnding else { return }
        history.moved(uid)
        // Commits at once, not at the end of this iteration. The next decision must see these saves, and
        // their records must come before any reply.
        groupCommit.flush()
        if access.hasUndelivered { retryRecording() }
    }

    /// Opens the books that the previous run did not close, one after the other. Their saves are then in
    /// the audit soon after the start. A call that needs one of these books waits until it is open, as
    /// for any book.
    package func settle(_ books: Books, _ problems: StoreProblems) {
        // A book that is being purged is skipped, because its outbox was taken over before the purge began.
        settle(books.unclosed().filter { !books.isRemoving($0) }[...], books, problems)
    }

    private func settle(_ users: ArraySlice<UInt32>, _ books: Books, _ problems: StoreProblems) {
        guard let uid = users.first else { return }
        // Opens the book under the owner's recorded name: the outbox belongs to that owner, even if the UID
        // was reassigned.
        books.with(uid, named: access.owners.name(of: uid)) { [self] result in
            if case .failure(let error) = result { problems.note(error, of: uid) }
            surroundings.loop.later { [self] in settle(users.dropFirst(), books, problems) }
        }
    }

    /// Schedules a retry for saves that are in a book but could not be recorded. Any commit before the
    /// retry also tries to record these saves.
    package func retryRecording() {
        guard !isRetryScheduled else { return }
        isRetryScheduled = true
        surroundings.loop.later(after: surroundings.limits.retryInterval) { [self] in
            isRetryScheduled = false
            recordUndelivered()
        }
    }

    /// Commits the records of saves that are in a book already. Call this before a decision that depends on
    /// these saves.
    package func recordUndelivered() {
        guard access.hasUndelivered else { return }
        groupCommit.flush()
        if access.hasUndelivered { retryRecording() }
    }

    /// Runs `body` once all decisions that a save depends on are committed and synced. If the commit or the
    /// sync fails, runs `failed`.
    package func whenDecisionsAreOnDisk(_ body: @escaping () -> Void, failed: @escaping () -> Void) {
        guard !groupCommit.sync.hasFailed else { return failed() }
        guard access.hasDecisionsOffDisk else { return body() }
        groupCommit.work(
            committed: { [self] in
                groupCommit.sync.onDisk { isOnDisk in if isOnDisk { body() } else { failed() } }
            }, failed: failed)
    }

    /// Resolves intents that an earlier version of the broker left open when it crashed. Such an intent is
    /// stored, but the book may lack the save's contacts.
    package func resolveIntents(_ books: Books) {
        for intent in access.openIntents() {
            books.with(intent.uid) { [weak self] result in
                guard let self else { return }
                do throws(StoreError) {
                    let existing = try result.get()?.existing(intent.adds) ?? []
                    access.resolveSave(intent.id, existing: existing, at: books.moment(of: intent.uid))
                    history.moved(intent.uid)
                    // The book commits all of a save or nothing. If the save was not meant to add a contact,
                    // the book does not show whether the save was made.
                    let event: AuditEvent = existing.isEmpty && !intent.adds.isEmpty ? .saveNotDone : .save
                    let detail = intent.adds.isEmpty ? "perhaps, before a crash" : "before a crash"
                    groupCommit.record(event, of: intent.principal, { $0.count = intent.adds.count }, detail: detail)
                } catch {
                    // The intent stays open, because the book may be readable at the next start.
                    surroundings.log("cannot tell whether a save was made before the broker last ended: \(error)")
                }
            }
        }
    }
}

extension Books {
    /// Users whose book has a non-empty write-ahead log. Closing a book removes its log, so the last run did
    /// not close these books.
    func unclosed() -> [UInt32] {
        Self.users(in: surroundings.stateFolder).filter { uid in
            var status = stat()
            return lstat(folder(of: uid) + "/contacts.sqlite-wal", &status) == 0 && status.st_size > 0
        }
    }
}
