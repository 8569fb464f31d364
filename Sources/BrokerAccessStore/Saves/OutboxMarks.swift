import BrokerSQLite

/// What the store knows about the outbox of each user's book.
struct OutboxMarks {
    private var marks: [UInt32: OutboxMark]
    /// The marks after the last commit.
    private(set) var written: [UInt32: OutboxMark]
    /// The previous values of the marks that changed since then.
    private var before: [UInt32: OutboxMark?] = [:]

    init(_ marks: [UInt32: OutboxMark]) { (self.marks, written) = (marks, marks) }

    subscript(uid: UInt32) -> OutboxMark? { marks[uid] }

    mutating func set(_ mark: OutboxMark, of uid: UInt32) {
        if before[uid] == nil { before[uid] = .some(marks[uid]) }
        marks[uid] = mark
    }

    /// A rollback does not restore the mark.
    mutating func purge(_ uid: UInt32) {
        marks[uid] = nil
        before[uid] = nil
    }

    // MARK: Commits

    var hasUnwritten: Bool { !before.isEmpty }

    func write(_ connection: Database) throws(AccessStoreError) {
        for uid in before.keys {
            guard let mark = marks[uid] else { continue }
            try connection.statement(
                """
                INSERT INTO outboxMark (uid, number, change) VALUES (?1, ?2, ?3)
                ON CONFLICT DO UPDATE SET number = excluded.number, change = excluded.change
                """
            )
            .bind(1, Int64(uid)).bind(2, mark.number).bind(3, mark.change).run()
        }
    }

    mutating func committed() {
        written = marks
        before.removeAll()
    }

    mutating func rolledBack() {
        for (uid, former) in before { marks[uid] = former }
        before.removeAll()
    }
}
