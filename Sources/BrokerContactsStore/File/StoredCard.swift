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
    ///   - apart: looks up the other part. It is called only if the card has any of these keys there.
    static func read(
        _ row: PreparedStatement, from column: Int32, record: Int64, _ keys: ContactKeySet,
        apart: () throws(StoreError) -> PreparedStatement
    ) throws(StoreError) -> StoredContact? {
        guard let main = CardChecksum.card(row, column, checksum: column + 1, record: record) else { return nil }
        let keysApart = ContactKeySet(rawValue: UInt64(bitPattern: row.integer(column + 2)))
        guard !keysApart.isDisjoint(with: keys) else { return main }
        let found = try apart().bind(1, record).first { CardChecksum.card($0, 0, checksum: 1, record: record) }
        guard let rest = found.flatMap(\.self), rest.present == keysApart else { return nil }
        return main.followed(by: rest)
    }

    /// Selects the part of a card in the table `apart`.
    static let selectApart = "SELECT stored, checksum FROM apart WHERE record = ?"

    /// Writes the part in the table `apart`, and removes a former one. `contact` must have the row already.
    func writeApart(_ record: Int64, hadOne: Bool, _ db: Database) throws(StoreError) {
        guard let apart else {
            if hadOne { try db.statement("DELETE FROM apart WHERE record = ?").bind(1, record).run() }
            return
        }
        try db.statement("INSERT OR REPLACE INTO apart (record, stored, checksum) VALUES (?, ?, ?)")
            .bind(1, record).bind(2, apart).bind(3, CardChecksum.of(apart, record: record)).run()
    }

    /// Moves the keys of all cards to the table `apart`, for books that stored each card in one part. A damaged
    /// card stays as it is.
    static func moveApart(_ db: Database) throws(StoreError) {
        let next = try PreparedStatement(
            "SELECT record, stored, checksum FROM contact WHERE record > ? ORDER BY record LIMIT 1", on: db)
        let update = try PreparedStatement(
            "UPDATE contact SET stored = ?, checksum = ?, apart = ? WHERE record = ?", on: db)
        // Looks up one record at a time, so no statement reads the table while it is written.
        var last = Int64.min
        while let (record, stored) = try next.bind(1, last).first({
            ($0.integer(0), CardChecksum.card($0, 1, checksum: 2, record: $0.integer(0)))
        }) {
            last = record
            guard let stored, !stored.present.isDisjoint(with: apartKeys) else { continue }
            let card = StoredCard(stored)
            try update.bind(1, card.main).bind(2, CardChecksum.of(card.main, record: record))
                .bind(3, Int64(bitPattern: card.keysApart.rawValue)).bind(4, record).run()
            try card.writeApart(record, hadOne: false, db)
        }
    }
}
