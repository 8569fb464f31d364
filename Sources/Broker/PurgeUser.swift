import AccessControl
import AccessStore
import ContactsInterface
import ContactsStore
import Varlink

/// Whose a user number is, and taking away everything that is kept for it.
extension Broker {
    /// Whether what is kept for a user number is this user's. Numbers are given out again; what is kept for the person who had
    /// it before is not told to the next one, nor do their programs get what that person allowed.
    ///
    /// - Parameter name: as the system calls the user now; looked up off the loop.
    public func isOwner(_ uid: UInt32, named name: String) -> Bool {
        userNames[uid] = name
        guard let owner = access.ownerName(of: uid), owner != name else { return true }
        surroundings.notice(
            .anotherPerson,
            "user \(uid) is called \(name) now, and what is kept for that number is \(owner)'s: nothing is answered",
            [("uid", "\(uid)")])
        return false
    }

    /// The same, found by the book.
    func tellOfAnotherPerson(_ uid: UInt32) {
        surroundings.notice(
            .anotherPerson, "the address book kept for user \(uid) is another person's: nothing is answered",
            [("uid", "\(uid)")])
    }

    func purgeUser(_ parameters: AdminParameters, _ call: Call) throws(VarlinkError) {
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
        access.append(AuditRecord(time: surroundings.now(), uid: uid, event: .purge, count: grants))
        grantsChanged()
        history.forget(uid)
        turn.work(
            committed: { [self] in
                onDisk { [self] isOnDisk in
                    guard isOnDisk else { return purgeFailed(uid, call) }
                    removeBook(of: uid) { [self] failure in
                        guard failure == nil else { return purgeFailed(uid, call) }
                        replyOnDisk(call) { _, _ in }
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
            endWatch(of: principal)
            narrowed(principal)
        }
        for session in Array(sessions.values) where session.caller.uid == uid && session.door != .admin {
            session.connection?.close()
        }
    }

    /// What was decided is gone for good; the book goes now, and then the number is free.
    private func removeBook(of uid: UInt32, _ done: @escaping (StoreError?) -> Void) {
        books.remove(uid) { [self] failure in
            purging.remove(uid)
            if let failure {
                surroundings.log("the address book of user \(uid) cannot be removed, and stays closed: \(failure)")
                return done(failure)
            }
            access.endPurge(of: uid)
            books.endRemoving(uid)
            userNames[uid] = nil
            surroundings.notice(
                .userPurged, "everything that was kept for user \(uid) is removed", [("uid", "\(uid)")])
            turn.work(committed: { done(nil) }, failed: { done(nil) })
        }
    }

    /// Goes on with what a crash cut short. Until then nothing of those users is answered.
    func resumePurges() {
        for uid in access.openPurges {
            purging.insert(uid)
            books.beginRemoving(uid)
            removeBook(of: uid) { _ in }
        }
    }
}
