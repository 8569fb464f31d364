import ContactsModel
import Normalization

/// One user's book: a folder with an SQLite database.
public final class ContactsStore: Sendable {
    private init() {}

    /// Opens the book, or makes it. `nil`: there is none and it was not to be made.
    public static func open(
        folder: String, owner: StoreOwner, creating: Bool
    ) throws(StoreError) -> ContactsStore? {
        throw .unavailable(reason: "not built yet")
    }

    /// Gives the contacts of a query in its order. `body` must not call the store.
    public func fetch(
        _ query: ContactQuery, _ body: (RecordNumber, StoredContact, ContactImages?) -> Void
    ) throws(StoreError) -> FetchEnd {
        throw .unavailable(reason: "not built yet")
    }

    /// How many contacts a query has in all; place, limits and images mean nothing.
    public func count(_ query: ContactQuery) throws(StoreError) -> Int {
        throw .unavailable(reason: "not built yet")
    }

    /// What the person's agent shows: contacts of which every word typed begins a word of the names, nickname,
    /// organisation or an e-mail address, or is part of a phone number. A text without words finds everybody.
    public func search(
        _ text: String, scope: RecordScope, excluding: Set<RecordNumber>, order: ContactOrder, offset: Int, limit: Int
    ) throws(StoreError) -> (rows: [(RecordNumber, StoredContact)], total: Int) {
        throw .unavailable(reason: "not built yet")
    }

    /// Which of these records are there.
    public func existing(_ records: some Sequence<RecordNumber>) throws(StoreError) -> Set<RecordNumber> {
        throw .unavailable(reason: "not built yet")
    }

    /// Makes all changes in their order, or none, and returns once they are on the disk. Not for the loop.
    public func apply(_ changes: [ContactChange], at seconds: Int64) throws(ChangeError) {
        throw .store(.unavailable(reason: "not built yet"))
    }

    /// Closes the files. Every later call is ``StoreError/unavailable(reason:)``.
    public func close() {}
}
