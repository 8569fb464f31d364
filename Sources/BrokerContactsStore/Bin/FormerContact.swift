import BrokerModel
import BrokerSQLite

/// A contact as a row of the bin has it.
struct FormerContact {
    let card: StoredContact
    let container: RecordNumber?
    let isUnsure: Bool
    let maker: [UInt8]
    /// The identifiers that the contact's values had then or later.
    let identifiers: ValueIdentifiers

    private static let select = """
        SELECT former, flags, maker, identifiers, apart, apartStored, apartChecksum, stored, checksum FROM binItem
        WHERE number = ?
        """

    /// Returns `nil` if the card is damaged, or was pushed out of the bin.
    static func read(_ item: Int64, _ record: RecordNumber, _ db: Database) throws(StoreError) -> FormerContact? {
        let found = try db.statement(select).bind(1, item).first {
            row -> (StoredContact, RecordNumber?, Bool, [UInt8], [UInt8])? in
            guard let card = card(row, record) else { return nil }
            return (card, row.record(0), row.integer(1) & 1 != 0, row.bytes(2), row.bytes(3))
        }
        guard let (card, container, isUnsure, maker, highest) = found,
            var identifiers = ValueIdentifiers(bytes: highest)
        else { return nil }
        let later = try db.statement(
            "SELECT identifiers FROM binItem WHERE subject = 1 AND record = ? AND number > ? AND identifiers IS NOT NULL"
        )
        .bind(1, record.rawValue).bind(2, item).all { ValueIdentifiers(bytes: $0.bytes(0)) }
        for later in later.compactMap(\.self) { identifiers.formUnion(later) }
        return FormerContact(
            card: card, container: container, isUnsure: isUnsure, maker: maker, identifiers: identifiers)
    }

    /// Returns only the card; `nil` as ``read(_:_:_:)`` does.
    static func card(_ item: Int64, _ record: RecordNumber, _ db: Database) throws(StoreError) -> StoredContact? {
        try db.statement(select).bind(1, item).first { card($0, record) } ?? nil
    }

    /// - Parameter row: `apart`, `apartStored`, `apartChecksum`, `stored` and `checksum` from column 4 on.
    private static func card(_ row: PreparedStatement, _ record: RecordNumber) -> StoredContact? {
        guard !row.isNull(7), let main = CardChecksum.card(row, 7, checksum: 8, record: record.rawValue) else {
            return nil
        }
        let keysApart = ContactKeySet(rawValue: UInt64(bitPattern: row.integer(4)))
            .intersection(StoredCard.apartKeys)
        guard !keysApart.isEmpty else { return main }
        guard let rest = CardChecksum.card(row, 5, checksum: 6, record: record.rawValue), rest.present == keysApart
        else {
            return nil
        }
        return main.followed(by: rest)
    }

    /// Returns the row with the photo that a contact had; `nil` if the contact has had the same photo since.
    static func photoItem(_ item: Int64, _ record: RecordNumber, _ db: Database) throws(StoreError) -> Int64? {
        let select = try db.statement(
            "SELECT number FROM binItem JOIN binPhoto ON item = number WHERE subject = 1 AND record = ? AND number >= ? ORDER BY number LIMIT 1"
        )
        return try select.bind(1, record.rawValue).bind(2, item).first { $0.integer(0) }
    }

    /// Returns the photo of a contact that had one, and its thumbnail, both in base64; `nil` if the contact has had the same
    /// photo since.
    static func photo(
        _ item: Int64, _ record: RecordNumber, _ db: Database
    ) throws(StoreError) -> (image: [UInt8], thumbnail: [UInt8]?)? {
        guard let holder = try photoItem(item, record, db) else { return nil }
        return try db.statement("SELECT imageData, thumbnailImageData FROM binPhoto WHERE item = ?").bind(1, holder)
            .first { ($0.bytes(0), $0.bytesOrNil(1)) }
    }
}
