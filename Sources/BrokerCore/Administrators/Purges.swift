import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerVarlink

/// Whose a user number is, and taking away everything that is kept for it.
final class Purges {
    private let surroundings: Surroundings
    private let access: AccessStore
    private let turn: Turn
    private let books: Books
    private let grants: Grants
    private let prompts: Prompts
    private let sessions: Sessions
    private let history: History
    /// Users whose purge is on its way.
    private var purging: Set<UInt32> = []

    init(
        surroundings: Surroundings, access: AccessStore, turn: Turn, books: Books, grants: Grants, prompts: Prompts,
        sessions: Sessions, history: History
    ) {
        self.surroundings = surroundings
        self.access = access
        self.turn = turn
        self.books = books
        self.grants = grants
        self.prompts = prompts
        self.sessions = sessions
        self.history = history
    }

    /// Whether what is kept for a user number is this user's. Numbers are given out again; what is kept for the person who had
    /// it before is not told to the next one, nor do their programs get what that person allowed.
    ///
    /// - Parameter name: as the system calls the user now; looked up off the loop.
    func isOwner(_ uid: UInt32, named name: String) -> Bool {
        access.userNames[uid] = name
        guard let owner = access.ownerName(of: uid), owner != name else { return true }
        surroundings.notice(
            .anotherPerson,
            "user \(uid) is called \(name) now, and what is kept for that number is \(owner)'s: nothing is answered",
            [("uid", "\(uid)")])
        return false
    }

    func purge(_ parameters: AdminParameters, _ call: Call) throws(VarlinkError) {
        guard let uid = parameters.uid else { throw .invalidParameter("uid") }
        guard purging.insert(uid).inserted else {
            throw AdminError.invalidValue("uid", reason: "everything kept for this user is being removed already")
        }
        // What a crash kept from the record is on it before it goes, whosever book it is; one that cannot be read tells
        // nothing.
        books.with(uid, named: access.ownerName(of: uid)) { [self] _ in purge(uid, call) }
    }

    private func purge(_ uid: UInt32, _ call: Call) {
        forgetLiving(uid)
        // What was decided until now is on record before it goes, and no count of it comes later.
        access.closeFolds(at: nil)
        turn.flush()
        let grants = access.beginPurge(of: uid)
        turn.record(.purge, uid: uid) { $0.count = grants }
        history.moved()
        history.forget(uid)
        turn.work(
            committed: { [self] in
                turn.sync.onDisk { [self] isOnDisk in
                    guard isOnDisk else { return purgeFailed(uid, call) }
                    removeBook(of: uid) { [self] isGone in
                        if isGone { turn.replyOnDisk(call) { _ in } } else { purgeFailed(uid, call) }
                    }
                }
            },
            failed: { [self] in purgeFailed(uid, call) })
    }

    private func purgeFailed(_ uid: UInt32, _ call: Call) {
        purging.remove(uid)
        call.fail(
            AdminError.invalidValue(
                "state",
                reason:
                    "not everything could be removed, and nothing of it is answered any more; see the broker's journal"
            ))
    }

    /// Ends what goes on for a user: connections, lists, questions, agents.
    private func forgetLiving(_ uid: UInt32) {
        books.beginRemoving(uid)
        prompts.forget(uid)
        for principal in access.principals where principal.uid == uid {
            grants.endWatch(of: principal)
            grants.narrowed(principal)
        }
        for session in sessions.all where session.caller.uid == uid && session.door != .admin {
            session.connection?.close()
        }
    }

    /// What was decided is gone for good; the book goes now, and then the number is free.
    private func removeBook(of uid: UInt32, _ done: @escaping (_ isGone: Bool) -> Void) {
        books.remove(uid) { [self] result in
            purging.remove(uid)
            if case .failure(let error) = result {
                surroundings.log("the address book of user \(uid) cannot be removed, and stays closed: \(error)")
                return done(false)
            }
            access.endPurge(of: uid)
            books.endRemoving(uid)
            access.userNames[uid] = nil
            surroundings.notice(
                .userPurged, "everything that was kept for user \(uid) is removed", [("uid", "\(uid)")])
            turn.work(committed: { done(true) }, failed: { done(true) })
        }
    }

    /// Goes on with what a crash cut short. Until then nothing of those users is answered.
    func resume() {
        for uid in access.openPurges {
            purging.insert(uid)
            books.beginRemoving(uid)
            removeBook(of: uid) { _ in }
        }
    }
}
