import AccessControl
import ContactsInterface
import ContactsModel
import ContactsStore
import Varlink

/// What was wrong with somebody's book, for who asks how the broker is doing.
struct StoreProblem {
    let uid: UInt32
    /// Seconds since 1970.
    let time: Int64
    let words: String
}

extension Broker {
    /// The book cannot be read or written: the app learns that much, the journal whose it is, why, and what to do.
    func unavailable(_ call: Call, _ error: StoreError) {
        if let session = call.connection.context as? CallerSession { noteProblem(error, of: session.caller.uid) }
        turn.fail(ContactsError.storeUnavailable, call)
    }

    func noteProblem(_ error: StoreError, of uid: UInt32) {
        guard error != .wrongOwner else { return tellOfAnotherPerson(uid) }
        let words = "the address book in \(books.folder(of: uid)) is unavailable: \(error)"
        lastProblem = StoreProblem(uid: uid, time: seconds, words: words)
        surroundings.log(words)
    }

    /// The journal and `contactctl status` learn which card is damaged, and nothing of what is in it.
    func note(_ card: DamagedCard, of uid: UInt32) {
        let words =
            "card \(card.record.rawValue) in \(books.folder(of: uid))/contacts.sqlite is damaged, and apps do not get it "
            + "(\(card.count) such cards found since the book was opened): restore the file from a backup"
        lastProblem = StoreProblem(uid: uid, time: seconds, words: words)
        surroundings.notice(.cardDamaged, words, [])
    }
}
