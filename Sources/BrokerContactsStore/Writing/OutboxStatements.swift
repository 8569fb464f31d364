import BrokerSQLite

/// Writes the outbox, within a save's own transaction: it has what the save made, or neither is there.
final class OutboxStatements {
    private let insert, delete, anchor: PreparedStatement

    init(_ db: Database) throws {
        insert = try PreparedStatement("INSERT INTO outbox (number, change, entry) VALUES (?, ?, ?)", on: db)
        delete = try PreparedStatement("DELETE FROM outbox WHERE number <= ?", on: db)
        anchor = try PreparedStatement("UPDATE book SET auditSequence = ?, auditHash = ?", on: db)
    }

    func write(_ entry: OutgoingEntry, change: Int64) throws(StoreError) {
        delete.bind(1, entry.takenOver)
        try delete.run()
        insert.bind(1, entry.number)
        insert.bind(2, change)
        insert.bind(3, entry.bytes)
        try insert.run()
        anchor.bind(1, entry.anchor.sequence)
        anchor.bind(2, entry.anchor.hash)
        try anchor.run()
    }

    /// In the order in which they were written.
    static func all(_ db: Database) throws -> [OutboxEntry] {
        let select = try PreparedStatement("SELECT number, change, entry FROM outbox ORDER BY number", on: db)
        defer { select.reset() }
        var entries: [OutboxEntry] = []
        while try select.step() {
            entries.append(
                OutboxEntry(number: select.integer(0), change: select.integer(1), bytes: select.bytes(2)))
        }
        return entries
    }
}
