import BrokerModel
import BrokerNormalization
import BrokerSQLite

/// An e-mail address or a phone number, in the form used to compare cards.
enum LinkValue: Hashable {
    case email(String)
    case phone(national: String, country: Int64, extensionDigits: String)
}

/// Reads and writes the link tables. Use an instance only within a transaction.
struct LinkTables {
    let db: Database
    var bin: BinWriter?

    /// The maximum number of e-mail addresses, and of phone numbers, on a card that is used as evidence.
    static let mostValues = 32

    /// Reads all links from a table.
    static func all(_ db: Database, _ table: String) throws(StoreError) -> ContactLinks {
        let statement = try PreparedStatement("SELECT record, first FROM \(table) ORDER BY first, record", on: db)
        var links = ContactLinks()
        while try statement.step() {
            links.restore(RecordNumber(statement.integer(0)), first: RecordNumber(statement.integer(1)))
        }
        return links
    }

    /// - Parameter first: the lowest record number in the card's set; `nil` deletes the card's row.
    func write(_ record: RecordNumber, first: RecordNumber?, in table: String) throws(StoreError) {
        if let first {
            try db.statement("INSERT OR REPLACE INTO \(table) (record, first) VALUES (?, ?)")
                .bind(1, record.rawValue).bind(2, first.rawValue).run()
        } else {
            try db.statement("DELETE FROM \(table) WHERE record = ?").bind(1, record.rawValue).run()
        }
    }

    // MARK: Evidence on cards

    func setUnsure(_ record: RecordNumber) throws(StoreError) {
        try db.statement("INSERT OR IGNORE INTO unsure (record) VALUES (?)").bind(1, record.rawValue).run()
    }

    func isUnsure(_ record: RecordNumber) throws(StoreError) -> Bool {
        try db.statement("SELECT 1 FROM unsure WHERE record = ?").bind(1, record.rawValue).hasRow()
    }

    /// Returns the name of a card; `nil` if the card does not exist, is damaged or has no name.
    func name(of record: RecordNumber, _ normalizer: Normalizer) throws(StoreError) -> LinkName? {
        let stored = try db.statement(ReadSQL.contact).bind(1, record.rawValue)
            .first { CardChecksum.card($0, 0, checksum: 1, record: record.rawValue) }
        return stored.flatMap { Contact($0, keys: LinkName.keys) }.flatMap { LinkName($0, normalizer) }
    }

    /// Returns the container of a card; `nil` if it is the default one.
    func container(of record: RecordNumber) throws(StoreError) -> RecordNumber? {
        try db.statement("SELECT container FROM contact WHERE record = ?").bind(1, record.rawValue)
            .first { $0.integerOrNil(0).map { RecordNumber($0) } } ?? nil
    }

    /// Returns the addresses and numbers of a card; none if it has too many of either.
    func values(of record: RecordNumber) throws(StoreError) -> [LinkValue] {
        let emails = try db.statement("SELECT address FROM email WHERE record = ? LIMIT ?")
            .bind(1, record.rawValue).bind(2, Int64(Self.mostValues + 1)).all { LinkValue.email($0.text(0)) }
        let phones = try db.statement(
            "SELECT DISTINCT national, country, extension FROM phone WHERE record = ? LIMIT ?"
        )
        .bind(1, record.rawValue).bind(2, Int64(Self.mostValues + 1)).all {
            LinkValue.phone(national: $0.text(0), country: $0.integer(1), extensionDigits: $0.text(2))
        }
        return max(emails.count, phones.count) > Self.mostValues ? [] : emails + phones
    }

    /// Returns at most `most` cards that have this value. Leaves out cards marked as unsure.
    func cards(with value: LinkValue, most: Int) throws(StoreError) -> [RecordNumber] {
        let isSure = "NOT EXISTS (SELECT 1 FROM unsure WHERE unsure.record = found.record)"
        switch value {
        case .email(let address):
            return try db.statement("SELECT record FROM email AS found WHERE address = ? AND \(isSure) LIMIT ?")
                .bind(1, address).bind(2, Int64(most)).records()
        case .phone(let national, let country, let extensionDigits):
            return try db.statement(
                """
                SELECT DISTINCT record FROM phone AS found
                WHERE national = ? AND country = ? AND extension = ? AND \(isSure) LIMIT ?
                """
            )
            .bind(1, national).bind(2, country).bind(3, extensionDigits).bind(4, Int64(most)).records()
        }
    }

    /// Returns those of the given cards that share an address or a number with another card.
    func sharing(_ added: [RecordNumber]) throws(StoreError) -> [RecordNumber] {
        let select = try db.statement(
            """
            SELECT record FROM email AS one WHERE record BETWEEN ?1 AND ?2
                AND EXISTS (SELECT 1 FROM email WHERE address = one.address AND record <> one.record)
            UNION SELECT record FROM phone AS one WHERE record BETWEEN ?1 AND ?2
                AND EXISTS (SELECT 1 FROM phone WHERE national = one.national AND country = one.country
                    AND extension = one.extension AND record <> one.record)
            """)
        let sorted = added.sorted()
        var found: [RecordNumber] = []
        var index = 0
        while index < sorted.count {
            // The record numbers of one save are mostly contiguous, so one range covers many of them.
            var end = index + 1
            while end < sorted.count, sorted[end].rawValue == sorted[end - 1].rawValue + 1 { end += 1 }
            found += try select.bind(1, sorted[index].rawValue).bind(2, sorted[end - 1].rawValue).records()
            index = end
        }
        return found
    }

    // MARK: Pairs unlinked by hand

    /// Whether any pair was unlinked by hand.
    func hasUnlike() throws(StoreError) -> Bool { try db.statement("SELECT 1 FROM unlike LIMIT 1").hasRow() }

    func areUnlike(_ one: RecordNumber, _ other: RecordNumber) throws(StoreError) -> Bool {
        try db.statement("SELECT 1 FROM unlike WHERE record = ? AND other = ?")
            .bind(1, one.rawValue).bind(2, other.rawValue).hasRow()
    }

    func setUnlike(_ one: RecordNumber, _ other: RecordNumber) throws(StoreError) {
        try db.statement("INSERT OR IGNORE INTO unlike (record, other) VALUES (?1, ?2), (?2, ?1)")
            .bind(1, one.rawValue).bind(2, other.rawValue).run()
        if db.changesCount > 0 { try bin?.keep(unlike: one, other, existed: false) }
    }

    func removeUnlike(_ left: [RecordNumber], _ right: [RecordNumber]) throws(StoreError) {
        let right = Set(right)
        for record in left { for other in try unlike(record) where right.contains(other) { try take(record, other) } }
    }

    /// Removes all pairs that contain a card. Call this before the card is deleted.
    func dropUnlike(_ record: RecordNumber) throws(StoreError) {
        for other in try unlike(record) { try take(record, other) }
    }

    private func unlike(_ record: RecordNumber) throws(StoreError) -> [RecordNumber] {
        try db.statement("SELECT other FROM unlike WHERE record = ?").bind(1, record.rawValue).records()
    }

    private func take(_ one: RecordNumber, _ other: RecordNumber) throws(StoreError) {
        try db.statement("DELETE FROM unlike WHERE (record, other) IN (VALUES (?1, ?2), (?2, ?1))")
            .bind(1, one.rawValue).bind(2, other.rawValue).run()
        if db.changesCount > 0 { try bin?.keep(unlike: one, other, existed: true) }
    }
}
