@_spi(StoredBytes) import BrokerModel
import BrokerSQLite

/// A card as the book stores it: in two parts, each with a checksum.
///
/// The keys in ``apartKeys`` may be large, and few apps may read them. They are in the table `apart`, so that a
/// read without them takes equally long whether the card has them or not. The column `apart` of `contact`
/// says which of them the card has.
struct StoredCard {
    /// The keys that are stored in the table `apart`.
    static let apartKeys = ContactKeySet.named

    let main: [UInt8]
    /// `nil` if the card has none of these keys.
    let apart: [UInt8]?
    let keysApart: ContactKeySet

    init(_ contact: StoredContact) {
        keysApart = contact.present.intersection(Self.apartKeys)
        main = contact.only(contact.present.subtracting(Self.apartKeys)).bytes
        apart = keysApart.isEmpty ? nil : contact.only(Self.apartKeys).bytes
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
        guard !keysApart.isDisjoint(with: keys) else { return main }
        let found = try db.statement("SELECT stored, checksum FROM apart WHERE record = ?").bind(1, record)
            .first { CardChecksum.card($0, 0, checksum: 1, record: record) }
        guard let rest = found.flatMap(\.self), rest.present == keysApart else { return nil }
        return main.followed(by: rest)
    }

    /// Adds the part in the table `apart`, if there is one. `contact` must have the card's row already.
    func insertApart(_ record: Int64, _ db: Database) throws(StoreError) {
        guard let apart else { return }
        try db.statement("INSERT INTO apart (record, stored, checksum) VALUES (?, ?, ?)")
            .bind(1, record).bind(2, apart).bind(3, CardChecksum.of(apart, record: record)).run()
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
                .bind(3, Int64(bitPattern: card.keysApart.rawValue)).bind(4, record).run()
            try card.insertApart(record, db)
        }
    }
}
