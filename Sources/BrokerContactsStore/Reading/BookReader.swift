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

/// The reading connection, with its statements. Each statement sees one state of the book; between calls none is held but
/// for the moments that ``ContactsStore/hold()`` speaks of.
final class BookReader {
    private let database: Database
    let normalizer: Normalizer
    private var statements: [String: PreparedStatement] = [:]
    /// The one of ``statements`` that is asked for most; finding it by its text costs as much as half the read.
    private var contactStatement: PreparedStatement?
    /// The state of the book that is being held, by the saves made before it; see ``ContactsStore/hold()``.
    private var held: Int?
    private let saves: SaveCount
    private let lists: KeptLists
    private let bound: ReadBound
    fileprivate let damagedCards: DamagedCards

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
        // Before the connection: SQLite keeps it open while it has statements.
        contactStatement = nil
        statements.removeAll()
        database.close()
    }

    /// Runs without a transaction.
    ///
    /// - Parameter isBounded: what takes long is ``StoreError/takesLong``.
    func onConnection<Result>(
        isBounded: Bool = false, _ body: (Connection) throws -> Result
    ) throws(StoreError) -> Result {
        bound.begin(isBounded: isBounded)
        // What was saved since is part of every answer.
        if let held, held != saves.now || !saves.mayHold { try letGo() }
        do {
            return try body(Connection(reader: self))
        } catch {
            release()
            throw StoreError(error)
        }
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
        try onConnection { try $0.statement("BEGIN").run() }
        held = count
        return true
    }

    func release() { try? letGo() }

    /// Nothing is read from a state that could not be let go of: it may be an old one.
    private func letGo() throws(StoreError) {
        guard held != nil else { return }
        do {
            let connection = Connection(reader: self)
            // After an error SQLite may have ended it by itself.
            if connection.isInTransaction { try connection.statement("ROLLBACK").run() }
        } catch {
            throw StoreError(error)
        }
        held = nil
    }

    /// The connection while it may be used.
    struct Connection {
        fileprivate let reader: BookReader

        var normalizer: Normalizer { reader.normalizer }
        fileprivate var isHeld: Bool { reader.held != nil }

        /// Records in an order: those that were made before, as long as the book does not change, so that going through
        /// them page by page finds and sorts them once. Within ``BookReader/Connection/inOneRead(_:)``.
        func records(
            of subject: KeptPlaces.Subject, _ order: ContactOrder, _ make: () throws -> [Int64]
        ) throws -> [Int64] {
            let lastChange = try lastChange()
            if let kept = reader.lists.records(of: subject, order, at: lastChange) { return kept }
            let records = try make()
            reader.lists.keep(
                KeptPlaces(subject: subject, order: order, lastChange: lastChange, records: records))
            return records
        }

        var isInTransaction: Bool { reader.database.isInTransaction }

        /// The statement of ``ReadSQL/contact``.
        func contactStatement() throws -> PreparedStatement {
            if let statement = reader.contactStatement { return statement }
            let statement = try statement(ReadSQL.contact)
            reader.contactStatement = statement
            return statement
        }

        func statement(_ sql: String) throws -> PreparedStatement {
            if let statement = reader.statements[sql] { return statement }
            // Texts vary with the number of words and digits only; should they ever be many, start afresh.
            if reader.statements.count >= 128 { reader.statements.removeAll() }
            let statement = try PreparedStatement(sql, on: reader.database)
            reader.statements[sql] = statement
            return statement
        }
    }
}

extension BookReader.Connection {
    /// The card of a row; `nil` where it is damaged, which is reported.
    func stored(
        _ statement: PreparedStatement, _ column: Int32, checksum: Int32, record: Int64
    ) -> StoredContact? {
        let card = CardChecksum.card(statement, column, checksum: checksum, record: record)
        if card == nil { reader.damagedCards.found(record) }
        return card
    }

    /// Makes several looks at one state of the book, and takes its lock once. One statement needs none of this.
    func inOneRead<Result>(_ body: () throws -> Result) throws -> Result {
        guard !isHeld else { return try body() }
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

    /// The number of the last change that is in the state that is read. It rises with every change of a contact.
    private func lastChange() throws -> Int64 {
        let statement = try statement(ReadSQL.numberOfLastChange)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : -1
    }

    /// One contact by its number; `nil` where it is not there, or is damaged.
    func contact(_ record: Int64) throws -> StoredContact? {
        let statement = try contactStatement()
        statement.bind(1, record)
        defer { statement.reset() }
        return try statement.step() ? stored(statement, 0, checksum: 1, record: record) : nil
    }

    func exists(_ record: Int64) throws -> Bool {
        let statement = try statement(ReadSQL.exists)
        statement.bind(1, record)
        defer { statement.reset() }
        return try statement.step()
    }

    /// - Returns: without a photo that is damaged, which is reported.
    func images(_ record: Int64, _ keys: ContactKeySet) throws -> ContactImages? {
        let statement = try statement(ReadSQL.images(keys))
        statement.bind(1, record)
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        func member(_ key: ContactKey, _ column: Int32) -> [UInt8]? {
            guard keys.contains(key), !statement.isNull(column) else { return nil }
            let bytes = statement.bytes(column)
            guard CardChecksum.isBase64(bytes) else {
                reader.damagedCards.found(record)
                return nil
            }
            return Array(",\"\(key.rawValue)\":\"".utf8) + bytes + [UInt8(ascii: "\"")]
        }
        return ContactImages(
            thumbnailImageData: member(.thumbnailImageData, 1), imageData: member(.imageData, 0))
    }

    /// The contact's place in an order; `nil` where it is not there.
    func sortKey(_ record: Int64, _ order: ContactOrder, seeing keys: ContactKeySet) throws -> [UInt8]? {
        guard CollationKey.keys.isSubset(of: keys) else {
            // A key that may not be seen is as if empty, so the stored order, made of all keys, will not do.
            guard let stored = try contact(record) else { return nil }
            guard let contact = Contact(stored, keys: keys.intersection(CollationKey.keys)) else {
                throw StoreError.damaged(reason: "a contact cannot be read")
            }
            let made = normalizer.collationKeys(of: contact)
            return order == .familyName ? made.familyName.bytes : made.givenName.bytes
        }
        let statement = try statement(ReadSQL.sortKey(order))
        statement.bind(1, record)
        defer { statement.reset() }
        return try statement.step() ? statement.bytes(0) : nil
    }
}
