import BrokerModel
import BrokerNormalization
import BrokerSQLite
import Synchronization

/// One contact in the result of a fetch.
public struct FetchedContact: Sendable {
    public let record: RecordNumber
    public let contact: StoredContact
    public let images: ContactImages?
    /// The cards that are linked with this one, in ascending order; empty if the query does not unify. Their
    /// own `others` are empty.
    public internal(set) var others: [FetchedContact] = []
}

/// Counts the writes to a book, which shows a reader whether its snapshot is the latest. The writer and the
/// readers share one object.
final class SaveCount: Sendable {
    private let count = Atomic(0)
    private let checkpoints = Atomic(0)

    /// Whether readers may take and keep a snapshot. They must not do so during a checkpoint, because the
    /// checkpoint waits for them.
    var mayHold: Bool { checkpoints.load(ordering: .acquiring) == 0 }

    func beginCheckpoint() { checkpoints.add(1, ordering: .acquiringAndReleasing) }
    func endCheckpoint() { checkpoints.subtract(1, ordering: .acquiringAndReleasing) }

    var now: Int { count.load(ordering: .acquiring) }

    /// Call this after each write, before the reply is sent.
    func add() { count.add(1, ordering: .acquiringAndReleasing) }
}

/// A reading connection. Each statement sees one state of the book. Between calls the reader keeps no
/// snapshot, except after ``ContactsStore/holdSnapshot()``.
final class BookReader {
    let database: Database
    let normalizer: Normalizer
    /// The value of ``SaveCount/now`` when the current snapshot was taken; `nil` without a snapshot. See
    /// ``ContactsStore/holdSnapshot()``.
    private var held: Int?
    /// Identifies the sort keys of the running read's snapshot. See ``useStoredForms()``.
    private(set) var order: UInt32 = 0
    private let saves: SaveCount
    private let lists: KeptLists
    private let bound: ReadBound
    private let damagedCards: DamagedCards

    init(
        database: Database, normalizer: Normalizer, saves: SaveCount, lists: KeptLists, bound: ReadBound,
        damagedCards: DamagedCards
    ) {
        self.database = database
        self.normalizer = normalizer
        self.saves = saves
        self.lists = lists
        self.bound = bound
        self.damagedCards = damagedCards
        database.obey(bound)
    }

    func close() {
        release()
        database.close()
    }

    /// Call this before each read.
    ///
    /// - Parameter isBounded: whether a read that takes too long throws ``StoreError/takesLong``.
    func begin(isBounded: Bool) throws(StoreError) {
        bound.begin(isBounded: isBounded)
        // A read must see all saves before it, so a stale snapshot ends here.
        if let held, held != saves.now || !saves.mayHold { try letGo() }
    }

    /// Call this after a failed read, with the read's error. Releases the snapshot.
    func endFailed(_ error: any Error) -> StoreError {
        release()
        return StoreError(error)
    }

    /// Keeps a snapshot of the book's latest state until ``release()`` or the next save.
    ///
    /// - Returns: whether a new snapshot was taken.
    func holdSnapshot() throws(StoreError) -> Bool {
        // The count is read before the snapshot is taken. A save in between makes the snapshot look stale,
        // which costs one more transaction.
        let count = saves.now
        guard saves.mayHold else {
            release()
            return false
        }
        guard held != count else { return false }
        release()
        try statement("BEGIN").run()
        held = count
        return true
    }

    func release() { try? letGo() }

    /// Ends the snapshot. Throws if that fails, because a read must not use a stale snapshot.
    private func letGo() throws(StoreError) {
        guard held != nil else { return }
        // SQLite may have ended the transaction after an error.
        if database.isInTransaction { try statement("ROLLBACK").run() }
        held = nil
    }

    // MARK: Within a read

    /// Makes the normalizer the one that made the sort keys of this read's snapshot, and sets ``order``. Call this within
    /// ``inOneRead(_:)`` before the first sort key is read.
    func useStoredForms() throws {
        let forms = try statement("SELECT forms FROM book").first { $0.text(0) } ?? ""
        if forms != normalizer.version, let locale = Normalizer.locale(ofVersion: forms) {
            normalizer.use(locale: locale)
        }
        // FNV-1a. Two orders of one book rarely meet, so 32 bits are enough.
        order = forms.utf8.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }

    func statement(_ sql: String) throws(StoreError) -> PreparedStatement { try database.statement(sql) }

    /// Returns sorted records: from the cache if the book has not changed, otherwise from `make`. A list that
    /// is read page by page is therefore sorted once. Call this within ``inOneRead(_:)``.
    func records(
        of subject: KeptPlaces.Subject, _ order: ContactOrder, _ make: () throws -> [Int64]
    ) throws -> [Int64] {
        try useStoredForms()
        let place = KeptPlaces.State(lastChange: try database.lastChange(), keys: self.order)
        if let kept = lists.records(of: subject, order, at: place) { return kept }
        let records = try make()
        lists.keep(KeptPlaces(subject: subject, order: order, state: place, records: records))
        return records
    }

    /// Returns the card of a row, with at least these keys. If the card is damaged, reports this and returns
    /// `nil`.
    ///
    /// - Parameter column: the first of the card's columns.
    func stored(
        _ row: PreparedStatement, from column: Int32, record: Int64, _ keys: ContactKeySet
    ) throws(StoreError) -> StoredContact? {
        let card = try StoredCard.read(row, from: column, record: record, keys, database)
        if card == nil { damagedCards.found(record) }
        return card
    }

    /// Runs several statements on one snapshot of the book, with one lock. A single statement does not need
    /// this.
    func inOneRead<Result>(_ body: () throws -> Result) throws -> Result {
        guard held == nil, !database.isInTransaction else { return try body() }
        do {
            try statement("BEGIN").run()
            let result = try body()
            try statement("COMMIT").run()
            return result
        } catch {
            // The bound may interrupt every statement, and SQLite reports that after BEGIN has taken effect.
            // If ROLLBACK fails too, the first error is reported.
            if database.isInTransaction { try? statement("ROLLBACK").run() }
            throw error
        }
    }

    /// Returns a contact by number, with at least these keys; `nil` if it does not exist or is damaged.
    func contact(_ record: Int64, _ keys: ContactKeySet = .all) throws(StoreError) -> StoredContact? {
        try statement(ReadSQL.contact).bind(1, record).first { row throws(StoreError) in
            try stored(row, from: 0, record: record, keys)
        }?.flatMap(\.self)
    }

    func exists(_ record: Int64) throws(StoreError) -> Bool { try database.hasContact(RecordNumber(record)) }

    /// - Returns: the requested images. A damaged image is reported and left out.
    func images(_ record: Int64, _ keys: ContactKeySet) throws(StoreError) -> ContactImages? {
        try statement(ReadSQL.images(keys)).bind(1, record).first { row in
            ContactImages(
                thumbnailImageData: image(.thumbnailImageData, row, 1, record, keys),
                imageData: image(.imageData, row, 0, record, keys))
        }
    }

    private func image(
        _ key: ContactKey, _ row: PreparedStatement, _ column: Int32, _ record: Int64, _ keys: ContactKeySet
    ) -> [UInt8]? {
        guard keys.contains(key), !row.isNull(column) else { return nil }
        let member = ContactImages.member(key, row.bytes(column))
        if member == nil { damagedCards.found(record) }
        return member
    }

    /// Returns the contact's sort key in an order; `nil` if the contact does not exist.
    func sortKey(_ record: Int64, _ order: ContactOrder, seeing keys: ContactKeySet) throws(StoreError) -> [UInt8]? {
        guard CollationKey.keys.isSubset(of: keys) else {
            // A hidden key counts as empty. The stored sort key uses all name keys, so it must not be used
            // here.
            guard let stored = try contact(record, CollationKey.keys) else { return nil }
            guard let contact = Contact(stored, keys: keys.intersection(CollationKey.keys)) else {
                throw .damaged(reason: "a contact cannot be read")
            }
            let made = normalizer.collationKeys(of: contact)
            return order == .familyName ? made.familyName.bytes : made.givenName.bytes
        }
        return try statement(ReadSQL.sortKey(order)).bind(1, record).first { $0.bytes(0) }
    }
}
