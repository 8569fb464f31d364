import BrokerAccessControl
import BrokerBounds
import BrokerContactsStore
import BrokerInterface
import BrokerJSON
import BrokerLedger
import BrokerModel
import BrokerVarlink

/// A problem with a user's book, for the status report.
package struct StoreProblem {
    package let uid: UInt32
    /// Seconds since 1970.
    package let time: Int64
    package let words: String
}

/// Reports books that cannot be read or written, and damaged cards. It lives on the event loop.
package final class StoreProblems {
    private let surroundings: Surroundings
    private let groupCommit: GroupCommit
    /// The latest problem.
    package private(set) var last: StoreProblem?

    package init(surroundings: Surroundings, groupCommit: GroupCommit) {
        self.surroundings = surroundings
        self.groupCommit = groupCommit
    }

    /// Fails a call because the book cannot be read or written. The app gets no details; the journal gets the
    /// path and the cause.
    package func unavailable(_ call: Call, _ error: StoreError) {
        // The list began before the person's language changed. It cannot go on without skipping or repeating contacts.
        if error == .otherOrder {
            return groupCommit.fail(
                call.parameters["after"] == nil ? ContactsError.storeUnavailable : .invalidParameter("after"), call)
        }
        if let session = call.connection.context as? CallerSession { note(error, of: session.caller.uid) }
        groupCommit.fail(ContactsError.storeUnavailable, call)
    }

    package func note(_ error: StoreError, of uid: UInt32) {
        // The broker itself closed the book.
        guard error != StoreError.closed else { return }
        guard error != .wrongOwner else {
            return surroundings.notice(
                .anotherPerson,
                "the address book stored for user \(uid) belongs to another person: nothing is disclosed; to delete it: "
                    + "contactctl purge-user \(uid)",
                [("uid", "\(uid)")])
        }
        let words =
            "the address book in \(Books.folder(of: uid, in: surroundings.stateFolder)) is unavailable: \(error)"
        remember(words, of: uid)
        surroundings.log(words)
    }

    /// Reports that a book lacks saves that it had synced.
    func noteLostSaves(_ uid: UInt32, last: Int64, saved: Int64) {
        let words =
            "the address book in \(Books.folder(of: uid, in: surroundings.stateFolder)) has lost saves: its last change is "
            + "\(last), but change \(saved) was stored; its files are damaged, or are an older copy: compare "
            + "contacts.sqlite with a backup"
        remember(words, of: uid)
        surroundings.log(words)
    }

    /// Reports that a save failed because the book is full.
    package func noteFull(_ uid: UInt32) {
        let most = SpaceWords.megabytes(surroundings.limits.space.book)
        let words =
            "the address book of user \(uid) is full (\(most) MB): delete contacts or photos, or set "
            + "limits.address_book_mb in contactbroker.toml to more"
        remember(words, of: uid)
        surroundings.log(words)
    }

    /// Reports a damaged card to the journal and `contactctl status`, without its contents.
    package func note(_ card: DamagedCard, of uid: UInt32) {
        let words =
            "card \(card.record.rawValue) in \(Books.folder(of: uid, in: surroundings.stateFolder))/contacts.sqlite is damaged, so apps do not get it "
            + "(\(card.count) damaged cards found since the book was opened): restore the file from a backup"
        remember(words, of: uid)
        surroundings.notice(.cardDamaged, words, [])
    }

    private func remember(_ words: String, of uid: UInt32) {
        last = StoreProblem(uid: uid, time: surroundings.seconds, words: words)
    }
}
