import BrokerBounds
import BrokerModel
import BrokerSQLite

/// The changes of one save, numbered in order.
struct ChangeLog {
    private(set) var changes: [BookChange] = []
    private var next: Int64
    private let author: ChangeAuthor
    private let seconds: Int64

    /// - Parameter last: the number of the book's last change.
    init(after last: Int64, by author: ChangeAuthor, at seconds: Int64) {
        // Numbers are based on the time, so a restored copy of the book does not reuse them.
        next = max(BookChange.lowestNumber(at: seconds), last + 1)
        self.author = author
        self.seconds = seconds
    }

    mutating func note(
        _ kind: BookChange.Kind, _ record: RecordNumber, member: RecordNumber? = nil, keys: ContactKeySet = [],
        owner: [UInt8]? = nil
    ) {
        changes.append(
            BookChange(
                number: next, kind: kind, record: record, member: member, keys: keys, owner: owner, author: author))
        next += 1
    }

    /// Adds the changes to the book's history and deletes expired changes from it. Call this within the
    /// save's transaction.
    func write(_ db: Database) throws(StoreError) {
        guard let last = changes.last else { return }
        let author = try authorNumber(db)
        let insert = try db.statement(
            "INSERT INTO change (number, time, kind, record, member, keys, owner, author) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        )
        for change in changes {
            try insert.bind(1, change.number).bind(2, seconds).bind(3, change.kind.rawValue)
                .bind(4, change.record.rawValue).bind(5, change.member?.rawValue)
                .bind(6, Int64(bitPattern: change.keys.rawValue)).bind(7, change.owner).bind(8, author).run()
        }
        try db.statement("UPDATE book SET lastChange = ?").bind(1, last.number).run()
        // Numbers rise with time, so expired changes come first.
        try db.statement(
            """
            DELETE FROM change WHERE number < (SELECT number FROM change WHERE time >= ? ORDER BY number LIMIT 1)
            """
        )
        .bind(1, seconds - StoreLimits.history).run()
        guard db.changesCount > 0 else { return }
        try db.statement("DELETE FROM author WHERE id NOT IN (SELECT author FROM change)").run()
    }

    private func authorNumber(_ db: Database) throws(StoreError) -> Int64 {
        try db.statement("INSERT INTO author (app, name) VALUES (?, ?) ON CONFLICT DO NOTHING")
            .bind(1, author.app).bind(2, author.name).run()
        let select = try db.statement("SELECT id FROM author WHERE app = ? AND name = ?")
        guard let number = try select.bind(1, author.app).bind(2, author.name).first({ $0.integer(0) }) else {
            throw .unavailable(reason: "an author could not be written")
        }
        return number
    }
}
