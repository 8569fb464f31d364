import BrokerModel
import BrokerNormalization
import BrokerSQLite

/// What two cards may have in common that belongs to one person.
enum LinkValue: Hashable {
    case email(String)
    case phone(national: String, country: Int64, extensionDigits: String)
}

/// What is read and written of links. Used within a transaction only.
final class LinkStatements {
    private let selectContact, selectStored, selectUnsure, insertUnsure: PreparedStatement
    private let selectEmails, selectPhones, selectEmailCards, selectPhoneCards, selectSharing: PreparedStatement
    private let selectAnyUnlike, selectUnlike, insertUnlike, deleteUnlike, selectUnlikeOf: PreparedStatement
    private let writes: [String: (insert: PreparedStatement, delete: PreparedStatement)]

    /// Most addresses, and most numbers, of one card. Who has more is nobody in particular.
    static let mostValues = 32

    init(_ db: Database) throws {
        let prepare = { (sql: String) in try PreparedStatement(sql, on: db) }
        selectContact = try prepare("SELECT 1 FROM contact WHERE record = ?")
        selectStored = try prepare("SELECT stored, checksum FROM contact WHERE record = ?")
        selectUnsure = try prepare("SELECT 1 FROM unsure WHERE record = ?")
        insertUnsure = try prepare("INSERT OR IGNORE INTO unsure (record) VALUES (?)")
        selectEmails = try prepare("SELECT address FROM email WHERE record = ? LIMIT \(Self.mostValues + 1)")
        selectPhones = try prepare(
            "SELECT DISTINCT national, country, extension FROM phone WHERE record = ? LIMIT \(Self.mostValues + 1)")
        let isSure = "NOT EXISTS (SELECT 1 FROM unsure WHERE unsure.record = found.record)"
        selectEmailCards = try prepare("SELECT record FROM email AS found WHERE address = ? AND \(isSure) LIMIT ?")
        selectPhoneCards = try prepare(
            """
            SELECT DISTINCT record FROM phone AS found WHERE national = ? AND country = ? AND extension = ? AND \(isSure)
            LIMIT ?
            """)
        selectSharing = try prepare(
            """
            SELECT record FROM email AS one WHERE record BETWEEN ?1 AND ?2
                AND EXISTS (SELECT 1 FROM email WHERE address = one.address AND record <> one.record)
            UNION SELECT record FROM phone AS one WHERE record BETWEEN ?1 AND ?2
                AND EXISTS (SELECT 1 FROM phone WHERE national = one.national AND country = one.country
                    AND extension = one.extension AND record <> one.record)
            """)
        selectAnyUnlike = try prepare("SELECT 1 FROM unlike LIMIT 1")
        selectUnlike = try prepare("SELECT 1 FROM unlike WHERE record = ? AND other = ?")
        selectUnlikeOf = try prepare("SELECT other FROM unlike WHERE record = ?")
        insertUnlike = try prepare("INSERT OR IGNORE INTO unlike (record, other) VALUES (?1, ?2), (?2, ?1)")
        deleteUnlike = try prepare("DELETE FROM unlike WHERE (record, other) IN (VALUES (?1, ?2), (?2, ?1))")
        writes = try Dictionary(
            uniqueKeysWithValues: ["link", "handLink"].map { table in
                (
                    table,
                    (
                        try prepare("INSERT OR REPLACE INTO \(table) (record, first) VALUES (?, ?)"),
                        try prepare("DELETE FROM \(table) WHERE record = ?")
                    )
                )
            })
    }

    /// All of a table, as they were written.
    static func all(_ db: Database, _ table: String) throws -> ContactLinks {
        let statement = try PreparedStatement("SELECT record, first FROM \(table) ORDER BY first, record", on: db)
        defer { statement.reset() }
        var links = ContactLinks()
        while try statement.step() {
            links.restore(RecordNumber(statement.integer(0)), first: RecordNumber(statement.integer(1)))
        }
        return links
    }

    /// - Parameter first: `nil` for a card that is linked with none.
    func write(_ record: RecordNumber, first: RecordNumber?, in table: String) throws(StoreError) {
        guard let statements = writes[table] else { return }
        if let first {
            statements.insert.bind(1, record.rawValue)
            statements.insert.bind(2, first.rawValue)
            try statements.insert.run()
        } else {
            statements.delete.bind(1, record.rawValue)
            try statements.delete.run()
        }
    }

    func exists(_ contact: RecordNumber) throws(StoreError) -> Bool { try has(selectContact, contact) }

    private func has(_ statement: PreparedStatement, _ record: RecordNumber) throws(StoreError) -> Bool {
        statement.bind(1, record.rawValue)
        defer { statement.reset() }
        return try statement.step()
    }

    private func records(_ statement: PreparedStatement) throws(StoreError) -> [RecordNumber] {
        defer { statement.reset() }
        var found: [RecordNumber] = []
        while try statement.step() { found.append(RecordNumber(statement.integer(0))) }
        return found
    }

    // MARK: What cards say

    func setUnsure(_ record: RecordNumber) throws(StoreError) {
        insertUnsure.bind(1, record.rawValue)
        try insertUnsure.run()
    }

    func isUnsure(_ record: RecordNumber) throws(StoreError) -> Bool { try has(selectUnsure, record) }

    /// What a card says of whose it is; `nil` where it is gone, damaged, or has no name.
    func name(of record: RecordNumber, _ normalizer: Normalizer) throws(StoreError) -> LinkName? {
        selectStored.bind(1, record.rawValue)
        defer { selectStored.reset() }
        guard try selectStored.step(),
            let stored = CardChecksum.card(selectStored, 0, checksum: 1, record: record.rawValue),
            let contact = Contact(stored, keys: LinkName.keys)
        else { return nil }
        return LinkName(contact, normalizer)
    }

    /// The addresses and numbers of a card; none where it has too many of either.
    func values(of record: RecordNumber) throws(StoreError) -> [LinkValue] {
        var values: [LinkValue] = []
        for statement in [selectEmails, selectPhones] { statement.bind(1, record.rawValue) }
        defer { for statement in [selectEmails, selectPhones] { statement.reset() } }
        while try selectEmails.step() { values.append(.email(selectEmails.text(0))) }
        let emails = values.count
        while try selectPhones.step() {
            values.append(
                .phone(
                    national: selectPhones.text(0), country: selectPhones.integer(1),
                    extensionDigits: selectPhones.text(2)))
        }
        return max(emails, values.count - emails) > Self.mostValues ? [] : values
    }

    /// Cards that have an address or a number, those that say nothing sure not among them.
    func cards(with value: LinkValue, most: Int) throws(StoreError) -> [RecordNumber] {
        switch value {
        case .email(let address):
            selectEmailCards.bind([.text(address), .integer(Int64(most))])
            return try records(selectEmailCards)
        case .phone(let national, let country, let extensionDigits):
            selectPhoneCards.bind([
                .text(national), .integer(country), .text(extensionDigits), .integer(Int64(most)),
            ])
            return try records(selectPhoneCards)
        }
    }

    /// Those of some cards that have an address or a number which another one has.
    func sharing(_ added: [RecordNumber]) throws(StoreError) -> [RecordNumber] {
        let sorted = added.sorted()
        var found: [RecordNumber] = []
        var index = 0
        while index < sorted.count {
            // The numbers of a save stand together.
            var end = index + 1
            while end < sorted.count, sorted[end].rawValue == sorted[end - 1].rawValue + 1 { end += 1 }
            selectSharing.bind([.integer(sorted[index].rawValue), .integer(sorted[end - 1].rawValue)])
            found += try records(selectSharing)
            index = end
        }
        return found
    }

    // MARK: What was said not to be one

    /// Whether any pair was.
    func hasUnlike() throws(StoreError) -> Bool {
        defer { selectAnyUnlike.reset() }
        return try selectAnyUnlike.step()
    }

    func areUnlike(_ one: RecordNumber, _ other: RecordNumber) throws(StoreError) -> Bool {
        selectUnlike.bind([.integer(one.rawValue), .integer(other.rawValue)])
        defer { selectUnlike.reset() }
        return try selectUnlike.step()
    }

    func setUnlike(_ one: RecordNumber, _ other: RecordNumber) throws(StoreError) {
        insertUnlike.bind([.integer(one.rawValue), .integer(other.rawValue)])
        try insertUnlike.run()
    }

    func takeBackUnlike(_ left: [RecordNumber], _ right: [RecordNumber]) throws(StoreError) {
        let right = Set(right)
        for record in left { for other in try unlike(record) where right.contains(other) { try take(record, other) } }
    }

    /// To be called before a card goes.
    func forgetUnlike(_ record: RecordNumber) throws(StoreError) {
        for other in try unlike(record) { try take(record, other) }
    }

    private func unlike(_ record: RecordNumber) throws(StoreError) -> [RecordNumber] {
        selectUnlikeOf.bind(1, record.rawValue)
        return try records(selectUnlikeOf)
    }

    private func take(_ one: RecordNumber, _ other: RecordNumber) throws(StoreError) {
        deleteUnlike.bind([.integer(one.rawValue), .integer(other.rawValue)])
        try deleteUnlike.run()
    }
}
