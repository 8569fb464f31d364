import BrokerModel
import BrokerSQLite
import Synchronization

/// A card as a backup contains it.
public struct CopiedCard: Sendable {
    public let record: RecordNumber
    public let details: CardDetails
    public let contact: StoredContact
    public let images: ContactImages?
}

/// The facts about a card that are not part of its contact.
public struct CardDetails: Hashable, Sendable {
    /// `nil` for the default container.
    public var container: RecordNumber?
    /// The app that added the card, as ``ChangeAuthor/app``; empty if it is unknown.
    public var app: [UInt8] = []
    /// ``ValueIdentifiers/bytes``.
    public var identifiers: [UInt8] = []
    /// Whether the card is no evidence for links.
    public var isUnsure = false
    /// Whether it is the owner's own card.
    public var isMe = false

    public init() {}
}

/// A copy of a book at one moment, for a backup. It can be read at any pace, and the book can change meanwhile.
///
/// The copy is a file that has no name any more, so it is gone when this object is released, even after a crash.
public final class BookCopy: Sendable {
    public enum Part: Sendable {
        case row(BookRow)
        case card(CopiedCard)
    }

    private struct State {
        let database: Database
        /// The tables that are not read yet; `nil` stands for the cards.
        var rest: ArraySlice<BookRow.Table?>
        /// The statement that reads the first of them.
        var statement: PreparedStatement?
        var damaged = 0
    }

    private let state: Mutex<State>

    /// Copies a book. Do not call this on the event loop, because it copies the whole file.
    ///
    /// - Parameters:
    ///   - folder: the user's folder, with a book that was opened before.
    ///   - scratch: a folder for the copy. It must not exist.
    public init(of folder: String, in scratch: String) throws(StoreError) {
        let copy = BookFile(folder: scratch)
        try copy.makeEmpty()
        defer { try? copy.remove() }
        let source = try BookConnection.reading(BookFile(folder: folder))
        defer { source.close() }
        try PreparedStatement("VACUUM INTO ?", on: source).bind(1, copy.path).run()
        let database = try Database(
            path: copy.path, .immutable, patience: 0,
            settings: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA cache_size = -1024;")
        let cards = BookRow.Table.allCases.firstIndex(of: .group) ?? 0
        var order: [BookRow.Table?] = BookRow.Table.allCases
        order.insert(nil, at: cards)
        state = Mutex(State(database: database, rest: order[...]))
    }

    /// Removes the folders that an earlier process left in the folder for copies and restored books.
    public static func removeAll(in folder: String) { BookFile.removeAll(in: folder) }

    /// The number of contacts. A backup leaves out those that are damaged.
    public func count() throws(StoreError) -> Int {
        try state.withLock { state throws(StoreError) in
            Int(try state.database.integer(ReadSQL.countAll) ?? 0)
        }
    }

    /// The number of damaged cards that were left out so far.
    public var damaged: Int { state.withLock(\.damaged) }

    /// Returns the next parts in the order in which they must be restored; none at the end.
    ///
    /// - Parameters:
    ///   - most: the maximum number of parts.
    ///   - bytes: the size of the cards after which no further part follows.
    public func next(_ most: Int, bytes: Int) throws(StoreError) -> [Part] {
        try state.withLock { state throws(StoreError) in
            var parts: [Part] = []
            var size = 0
            while parts.count < most, size < bytes, let table = state.rest.first {
                if state.statement == nil {
                    state.statement = try PreparedStatement(table?.select ?? Self.cards, on: state.database)
                }
                guard let statement = state.statement else { break }
                guard try statement.step() else {
                    state.rest.removeFirst()
                    state.statement = nil
                    continue
                }
                if let table {
                    parts.append(.row(BookRow(table, of: statement)))
                } else if let card = try Self.card(statement, state.database) {
                    size += card.contact.size(of: card.contact.present) + (card.images?.imageData?.count ?? 0)
                    parts.append(.card(card))
                } else {
                    state.damaged += 1
                }
            }
            return parts
        }
    }

    private static let cards = """
        SELECT contact.record, container, maker, identifiers,
            EXISTS (SELECT 1 FROM unsure WHERE unsure.record = contact.record),
            contact.record IS (SELECT me FROM book), image.imageData, stored, checksum, apart
        FROM contact LEFT JOIN image USING (record) ORDER BY contact.record
        """

    /// Returns `nil` if the card is damaged.
    private static func card(_ row: PreparedStatement, _ db: Database) throws(StoreError) -> CopiedCard? {
        let record = row.integer(0)
        guard let contact = try StoredCard.read(row, from: 7, record: record, .all, db) else { return nil }
        var details = CardDetails()
        details.container = row.record(1)
        details.app = row.bytes(2)
        details.identifiers = row.bytes(3)
        details.isUnsure = row.integer(4) != 0
        details.isMe = row.integer(5) != 0
        var images: ContactImages?
        if !row.isNull(6) {
            // A damaged photo is left out, as in a reply.
            images = ContactImages.member(.imageData, row.bytes(6)).map { ContactImages(imageData: $0) }
        }
        return CopiedCard(record: RecordNumber(record), details: details, contact: contact, images: images)
    }
}
