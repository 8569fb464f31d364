@_spi(StoredBytes) import BrokerModel
import BrokerSQLite

/// A card as the book stores it: in two parts, each with a checksum.
///
/// The keys in ``apartKeys`` may be large, and few apps may read them. They are in the table `apart`, so that a
/// read without them takes equally long whether the card has them or not. More apps may read the UIDs among them, so
/// these are also in the table `uid`. The column `apart` of `contact` says which of them the card has.
struct StoredCard {
    /// The keys that are stored in the table `apart`.
    static let apartKeys = ContactKeySet.named

    let main: [UInt8]
    /// `nil` if the card has none of these keys.
    let apart: [UInt8]?
    /// The UIDs once more; `nil` if the card has none.
    let uids: [UInt8]?
    /// Keys of ``apartKeys``, and ``ContactKeySet/uids``.
    let keysApart: ContactKeySet

    init(_ contact: StoredContact) {
        let present = contact.present.intersection(Self.apartKeys)
        main = contact.only(contact.present.subtracting(Self.apartKeys)).bytes
        apart = present.isEmpty ? nil : contact.only(Self.apartKeys).bytes
        uids = contact.uids?.bytes
        keysApart = uids == nil ? present : present.union(.uids)
    }

    /// The size of both parts, in bytes.
    var size: Int { main.count + (apart?.count ?? 0) }

    /// Returns the card of a row with at least these keys, if it has them; `nil` if it is damaged.
    ///
    /// - Parameters:
    ///   - row: the columns `stored`, `checksum` and `apart`, from `column` on.
    ///   - db: the book. The other part is looked up only if the card has any of these keys there.
    static func read(
        _ row: PreparedStatement, from column: Int32, record: Int64, _ keys: ContactKeySet, _ db: Database
    ) throws(StoreError) -> StoredContact? {
        guard let main = CardChecksum.card(row, column, checksum: column + 1, record: record) else { return nil }
        let keysApart = ContactKeySet(rawValue: UInt64(bitPattern: row.integer(column + 2)))
        var card: StoredContact? = main
        if !keysApart.isDisjoint(with: keys.intersection(apartKeys)) {
            guard let rest = try part("apart", record, db), rest.present == keysApart.intersection(apartKeys) else {
                return nil
            }
            // Who reads the note and the UIDs gets a card of the same size, whatever other extra properties it has.
            card = main.followed(by: keys.contains(.uids) ? rest.only(ContactKeySet(.note)) : rest)
        }
        guard keysApart.intersection(keys).contains(.uids) else { return card }
        return try part("uid", record, db).flatMap { card?.followed(by: $0) }
    }

    private static func part(_ table: String, _ record: Int64, _ db: Database) throws(StoreError) -> StoredContact? {
        try db.statement("SELECT stored, checksum FROM \(table) WHERE record = ?").bind(1, record)
            .first { CardChecksum.card($0, 0, checksum: 1, record: record) }
    }

    /// Adds the parts in the tables `apart` and `uid`, if there are any. `contact` must have the card's row already.
    func insertApart(_ record: Int64, _ db: Database) throws(StoreError) {
        try Self.insert(apart, "apart", record, db)
        try Self.insert(uids, "uid", record, db)
    }

    private static func insert(
        _ part: [UInt8]?, _ table: String, _ record: Int64, _ db: Database
    ) throws(StoreError) {
        guard let part else { return }
        try db.statement("INSERT INTO \(table) (record, stored, checksum) VALUES (?, ?, ?)")
            .bind(1, record).bind(2, part).bind(3, CardChecksum.of(part, record: record)).run()
    }

    /// Moves the keys of all cards to the table `apart`, for books that stored each card in one part. A damaged
    /// card stays as it is.
    static func moveApart(_ db: Database) throws(StoreError) {
        let update = try PreparedStatement(
            "UPDATE contact SET stored = ?, checksum = ?, apart = ? WHERE record = ?", on: db)
        try CardChecksum.forEachCard(db) { record, stored throws(StoreError) in
            guard !stored.present.isDisjoint(with: apartKeys) else { return }
            let card = StoredCard(stored)
            try update.bind(1, card.main).bind(2, CardChecksum.of(card.main, record: record))
                .bind(3, Int64(bitPattern: card.keysApart.intersection(apartKeys).rawValue)).bind(4, record).run()
            try insert(card.apart, "apart", record, db)
        }
    }

    /// Adds the UIDs of all cards to the table `uid`, for books without it. A damaged card gets none.
    static func addUIDs(_ db: Database) throws(StoreError) {
        let next = try PreparedStatement(
            "SELECT record, stored, checksum FROM apart WHERE record > ? ORDER BY record LIMIT 1", on: db)
        let update = try PreparedStatement("UPDATE contact SET apart = apart | ? WHERE record = ?", on: db)
        // Looks up one record at a time, so that a book of any size needs little memory.
        var last = Int64.min
        while let (record, rest) = try next.bind(1, last).first({
            ($0.integer(0), CardChecksum.card($0, 1, checksum: 2, record: $0.integer(0)))
        }) {
            last = record
            guard let uids = rest?.uids else { continue }
            try insert(uids.bytes, "uid", record, db)
            try update.bind(1, Int64(bitPattern: ContactKeySet.uids.rawValue)).bind(2, record).run()
        }
    }
}
