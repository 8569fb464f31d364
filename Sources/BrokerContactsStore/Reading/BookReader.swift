import BrokerModel
import BrokerNormalization
import BrokerSQLite
import Synchronization

/// One contact as it was read.
public struct FetchedContact: Sendable {
    public let record: RecordNumber
    public let contact: StoredContact
    public let images: ContactImages?
    /// The cards that it is linked with, in rising order, where they were asked for. They have no others.
    public internal(set) var others: [FetchedContact] = []
}

/// What the writer of a book tells its reader: how often something was written, so that the reader knows whether the state
/// that it holds is the latest, and whether the log is being emptied, so that it holds none.
final class SaveCount: Sendable {
    private let count = Atomic(0)
    private let checkpoints = Atomic(0)

    /// Whoever empties the log waits for readers, but not for one that is there again at once, time after time.
    var mayHold: Bool { checkpoints.load(ordering: .acquiring) == 0 }

    func beginCheckpoint() { checkpoints.add(1, ordering: .acquiringAndReleasing) }
    func endCheckpoint() { checkpoints.subtract(1, ordering: .acquiringAndReleasing) }

    var now: Int { count.load(ordering: .acquiring) }

    /// To be called when something is in the book and nobody has been told yet.
    func add() { count.add(1, ordering: .acquiringAndReleasing) }
}

/// The reading connection. Each statement sees one state of the book; between calls none is held but for the moments that
/// ``ContactsStore/hold()`` speaks of.
final class BookReader {
    private let database: Database
    let normalizer: Normalizer
    /// The state of the book that is being held, by the saves made before it; see ``ContactsStore/hold()``.
    private var held: Int?
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

    /// To be called before each read.
    ///
    /// - Parameter isBounded: what takes long is ``StoreError/takesLong``.
    func begin(isBounded: Bool) throws(StoreError) {
        bound.begin(isBounded: isBounded)
        // What was saved since is part of every answer.
        if let held, held != saves.now || !saves.mayHold { try letGo() }
    }

    /// To be called after a read that failed, with its error.
    func endFailed(_ error: any Error) -> StoreError {
        release()
        return StoreError(error)
    }

    /// Holds the book's latest state until ``release()``, or until it is no longer the latest.
    ///
    /// - Returns: whether it was not held before.
    func hold() throws(StoreError) -> Bool {
        // Counted before the state is taken: a save in between makes it look older than it is, which costs one look.
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

    /// Nothing is read from a state that could not be let go of: it may be an old one.
    private func letGo() throws(StoreError) {
        guard held != nil else { return }
        // After an error SQLite may have ended it by itself.
        if database.isInTransaction { try statement("ROLLBACK").run() }
        held = nil
    }

    // MARK: Within a read

    func statement(_ sql: String) throws(StoreError) -> PreparedStatement { try database.statement(sql) }

    /// Records in an order: those that were made before, as long as the book does not change, so that going through
    /// them page by page finds and sorts them once. Within ``inOneRead(_:)``.
    func records(
        of subject: KeptPlaces.Subject, _ order: ContactOrder, _ make: () throws -> [Int64]
    ) throws -> [Int64] {
        let lastChange = try database.lastChange()
        if let kept = lists.records(of: subject, order, at: lastChange) { return kept }
        let records = try make()
        lists.keep(KeptPlaces(subject: subject, order: order, lastChange: lastChange, records: records))
        return records
    }

    /// The card of a row; `nil` where it is damaged, which is reported.
    func stored(
        _ statement: PreparedStatement, _ column: Int32, checksum: Int32, record: Int64
    ) -> StoredContact? {
        let card = CardChecksum.card(statement, column, checksum: checksum, record: record)
        if card == nil { damagedCards.found(record) }
        return card
    }

    /// Makes several looks at one state of the book, and takes its lock once. One statement needs none of this.
    func inOneRead<Result>(_ body: () throws -> Result) throws -> Result {
        guard held == nil else { return try body() }
        try statement("BEGIN").run()
        // Ending a read that failed may say so again; the first error counts.
        let result: Result
        do {
            result = try body()
        } catch {
            try? statement("ROLLBACK").run()
            throw error
        }
        try statement("COMMIT").run()
        return result
    }

    /// One contact by its number; `nil` where it is not there, or is damaged.
    func contact(_ record: Int64) throws(StoreError) -> StoredContact? {
        try statement(ReadSQL.contact).bind(1, record).first { stored($0, 0, checksum: 1, record: record) }
    }

    func exists(_ record: Int64) throws(StoreError) -> Bool { try database.hasContact(RecordNumber(record)) }

    /// - Returns: without a photo that is damaged, which is reported.
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
        let bytes = row.bytes(column)
        guard CardChecksum.isBase64(bytes) else {
            damagedCards.found(record)
            return nil
        }
        return Array(",\"\(key.rawValue)\":\"".utf8) + bytes + [UInt8(ascii: "\"")]
    }

    /// The contact's place in an order; `nil` where it is not there.
    func sortKey(_ record: Int64, _ order: ContactOrder, seeing keys: ContactKeySet) throws(StoreError) -> [UInt8]? {
        guard CollationKey.keys.isSubset(of: keys) else {
            // A key that may not be seen is as if empty, so the stored order, made of all keys, will not do.
            guard let stored = try contact(record) else { return nil }
            guard let contact = Contact(stored, keys: keys.intersection(CollationKey.keys)) else {
                throw .damaged(reason: "a contact cannot be read")
            }
            let made = normalizer.collationKeys(of: contact)
            return order == .familyName ? made.familyName.bytes : made.givenName.bytes
        }
        return try statement(ReadSQL.sortKey(order)).bind(1, record).first { $0.bytes(0) }
    }
}
