import BrokerAccessControl
import BrokerAccessStore
import BrokerBooks
import BrokerCalls
import BrokerGrants
import BrokerInterface
import BrokerLedger
import BrokerVarlink

/// Checks who owns the data stored for a UID, and purges a user's data.
package final class Purges: UsesServices {
    package let services: BrokerServices
    /// Users whose data is being purged.
    private var purging: Set<UInt32> = []

    package init(services: BrokerServices) { self.services = services }

    /// Whether the data stored for a UID belongs to this user. If a UID was reassigned, its new owner gets neither
    /// the old owner's data nor the access that the old owner granted.
    ///
    /// - Parameter name: the user's current name, looked up off the event loop.
    package func isOwner(_ uid: UInt32, named name: String) -> Bool {
        access.owners.userNames[uid] = name
        guard let owner = access.owners.name(of: uid), owner != name else { return true }
        surroundings.notice(
            .anotherPerson,
            "user \(uid) is now \(name), but the data stored for that UID belongs to \(owner): nothing is disclosed; to delete "
                + "the data: contactctl purge-user \(uid)",
            [("uid", "\(uid)")])
        return false
    }

    func purge(_ uid: UInt32, for call: Call) throws(VarlinkError) {
        guard purging.insert(uid).inserted else {
            throw AdminError.invalidValue("uid", reason: "this user's data is already being deleted")
        }
        // Opening the book takes over its outbox, so that saves from before a crash are recorded first. The
        // book is opened under its recorded owner's name. A book that cannot be read is purged without this
        // step.
        books.with(uid, named: access.owners.name(of: uid)) { [self] _ in purge(uid, call) }
    }

    private func purge(_ uid: UInt32, _ call: Call) {
        dropRunning(uid)
        // Closes the deduplication windows and commits all records, so that no count is written after the
        // purge.
        access.audit.closeWindows(at: nil)
        groupCommit.flush()
        let grants = access.beginPurge(of: uid)
        groupCommit.record(.purge, uid: uid) { $0.count = grants }
        history.drop(uid)
        groupCommit.work(
            committed: { [self] in
                groupCommit.sync.onDisk { [self] isOnDisk in
                    guard isOnDisk else { return purgeFailed(uid, call) }
                    removeBook(of: uid) { [self] isGone in
                        if isGone { groupCommit.replyOnDisk(call) { _ in } } else { purgeFailed(uid, call) }
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
                    "not all of the user's data could be deleted; none of it is disclosed any more; see the broker's journal"
            ))
    }

    /// Ends a user's prompts, lists and watches, and closes the user's connections except those to the
    /// administrator's socket.
    private func dropRunning(_ uid: UInt32) {
        books.beginRemoving(uid)
        prompts.drop(uid)
        grants.shares.forget(uid)
        for principal in access.principals(of: uid) {
            grants.endWatch(of: principal)
            grants.narrowed(principal)
        }
        for session in sessions.all where session.caller.uid == uid && session.interface != .admin {
            session.connection?.close()
        }
    }

    /// Removes the book. The grants must already be purged. Afterwards, another person may use the UID.
    private func removeBook(of uid: UInt32, _ done: @escaping (_ isGone: Bool) -> Void) {
        books.remove(uid) { [self] result in
            purging.remove(uid)
            if case .failure(let error) = result {
                surroundings.log("cannot delete the address book of user \(uid), which stays closed: \(error)")
                return done(false)
            }
            access.endPurge(of: uid)
            books.endRemoving(uid)
            access.owners.userNames[uid] = nil
            surroundings.notice(
                .userPurged, "deleted the address book, grants and audit key of user \(uid)", [("uid", "\(uid)")])
            groupCommit.work(committed: { done(true) }, failed: { done(true) })
        }
    }

    /// Completes purges that a crash interrupted. Until then, those users' calls fail, except on the
    /// administrator's socket.
    package func resume() {
        for uid in access.owners.openPurges {
            purging.insert(uid)
            books.beginRemoving(uid)
            removeBook(of: uid) { _ in }
        }
    }
}
