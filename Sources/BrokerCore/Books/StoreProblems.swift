import BrokerAccessControl
import BrokerContactsStore
import BrokerInterface
import BrokerModel
import BrokerVarlink

/// What was wrong with somebody's book, for who asks how the broker is doing.
struct StoreProblem {
    let uid: UInt32
    /// Seconds since 1970.
    let time: Int64
    let words: String
}

/// Books that cannot be read or written, and cards that are damaged. It lives on the loop.
final class StoreProblems {
    private let surroundings: Surroundings
    private let turn: Turn
    /// What was wrong with a book last.
    private(set) var last: StoreProblem?

    init(surroundings: Surroundings, turn: Turn) {
        self.surroundings = surroundings
        self.turn = turn
    }

    /// The book cannot be read or written: the app learns that much, the journal whose it is, why, and what to do.
    func unavailable(_ call: Call, _ error: StoreError) {
        if let session = call.connection.context as? CallerSession { note(error, of: session.caller.uid) }
        turn.fail(ContactsError.storeUnavailable, call)
    }

    func note(_ error: StoreError, of uid: UInt32) {
        guard error != .wrongOwner else {
            return surroundings.notice(
                .anotherPerson, "the address book kept for user \(uid) is another person's: nothing is answered",
                [("uid", "\(uid)")])
        }
        let words =
            "the address book in \(Books.folder(of: uid, in: surroundings.stateFolder)) is unavailable: \(error)"
        last = StoreProblem(uid: uid, time: surroundings.seconds, words: words)
        surroundings.log(words)
    }

    /// The journal and `contactctl status` learn which card is damaged, and nothing of what is in it.
    func note(_ card: DamagedCard, of uid: UInt32) {
        let words =
            "card \(card.record.rawValue) in \(Books.folder(of: uid, in: surroundings.stateFolder))/contacts.sqlite is damaged, and apps do not get it "
            + "(\(card.count) such cards found since the book was opened): restore the file from a backup"
        last = StoreProblem(uid: uid, time: surroundings.seconds, words: words)
        surroundings.notice(.cardDamaged, words, [])
    }
}
