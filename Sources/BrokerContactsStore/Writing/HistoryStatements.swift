import BrokerModel
import BrokerSQLite

/// Writes the history of a save, within the save's own transaction.
final class HistoryStatements {
    private let db: Database
    private let selectLast, updateLast, insertAuthor, selectAuthor, insertChange: PreparedStatement
    private let deleteChanges, deleteAuthors: PreparedStatement

    init(_ db: Database) throws {
        self.db = db
        let prepare = { (sql: String) in try PreparedStatement(sql, on: db) }
        selectLast = try prepare("SELECT lastChange FROM book")
        updateLast = try prepare("UPDATE book SET lastChange = ?")
        insertAuthor = try prepare("INSERT INTO author (app, name) VALUES (?, ?) ON CONFLICT DO NOTHING")
        selectAuthor = try prepare("SELECT id FROM author WHERE app = ? AND name = ?")
        insertChange = try prepare(
            "INSERT INTO change (number, time, kind, record, member, keys, owner, author) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        )
        // Numbers rise with time, so what is too old stands in front.
        deleteChanges = try prepare(
            """
            DELETE FROM change WHERE number < (SELECT number FROM change WHERE time >= ? ORDER BY number LIMIT 1)
            """)
        deleteAuthors = try prepare("DELETE FROM author WHERE id NOT IN (SELECT author FROM change)")
    }

    func last() throws(StoreError) -> Int64 {
        defer { selectLast.reset() }
        return try selectLast.step() ? selectLast.integer(0) : 0
    }

    func write(_ changes: [BookChange], by author: ChangeAuthor, at seconds: Int64) throws(StoreError) {
        guard let last = changes.last else { return }
        let id = try id(of: author)
        for change in changes {
            insertChange.bind(1, change.number)
            insertChange.bind(2, seconds)
            insertChange.bind(3, change.kind.rawValue)
            insertChange.bind(4, change.record.rawValue)
            if let member = change.member { insertChange.bind(5, member.rawValue) } else { insertChange.bindNull(5) }
            insertChange.bind(6, Int64(bitPattern: change.keys.rawValue))
            if let owner = change.owner { insertChange.bind(7, owner) } else { insertChange.bindNull(7) }
            insertChange.bind(8, id)
            try insertChange.run()
        }
        updateLast.bind(1, last.number)
        try updateLast.run()
        deleteChanges.bind(1, seconds - ContactsStore.historyRetention)
        try deleteChanges.run()
        if db.changesCount > 0 { try deleteAuthors.run() }
    }

    private func id(of author: ChangeAuthor) throws(StoreError) -> Int64 {
        for statement in [insertAuthor, selectAuthor] {
            statement.bind(1, author.app)
            statement.bind(2, author.name)
        }
        try insertAuthor.run()
        defer { selectAuthor.reset() }
        guard try selectAuthor.step() else { throw .unavailable(reason: "an author could not be written") }
        return selectAuthor.integer(0)
    }
}

/// What one save changes, numbered as it comes.
struct ChangeLog {
    private(set) var changes: [BookChange] = []
    private var next: Int64
    private let author: ChangeAuthor

    /// - Parameter last: the book's last change.
    init(after last: Int64, by author: ChangeAuthor, at seconds: Int64) {
        // By the time, so that a book that was restored does not count again what was counted before.
        next = max(ContactsStore.changeNumber(at: seconds), last + 1)
        self.author = author
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
}
