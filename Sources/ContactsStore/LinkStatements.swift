import ContactsModel

/// What is written of links. Used within a transaction only.
final class LinkStatements {
    private let selectContact, insertLink, deleteLink: PreparedStatement

    init(_ db: Database) throws {
        let prepare = { (sql: String) in try PreparedStatement(db, sql) }
        selectContact = try prepare("SELECT 1 FROM contact WHERE record = ?")
        insertLink = try prepare("INSERT OR REPLACE INTO link (record, first) VALUES (?, ?)")
        deleteLink = try prepare("DELETE FROM link WHERE record = ?")
    }

    /// All of them, as they were written.
    static func all(_ db: Database) throws -> ContactLinks {
        let statement = try PreparedStatement(db, "SELECT record, first FROM link ORDER BY first, record")
        defer { statement.reset() }
        var links = ContactLinks()
        while try statement.step() {
            links.restore(RecordNumber(statement.integer(0)), first: RecordNumber(statement.integer(1)))
        }
        return links
    }

    /// Makes one change. What is already so is no change.
    func apply(_ change: LinkChange, _ index: Int, _ links: inout ContactLinks, _ log: inout ChangeLog) throws {
        switch change {
        case .link(let one, let other):
            try expect(one, other, index)
            guard let made = links.link(one, other) else { throw ChangeError.tooManyLinked(index: index) }
            try write(made.written)
            log.note(.link, made.pairs)
        case .unlink(let record, let other):
            try expect(record, other, index)
            if links.areLinked(record, other) { try remove(record, &links, &log) }
        }
    }

    /// Takes a card out of its set, if it is in one.
    func remove(_ record: RecordNumber, _ links: inout ContactLinks, _ log: inout ChangeLog) throws {
        let made = links.unlink(record)
        try write(made.written)
        log.note(.unlink, made.pairs)
    }

    private func write(_ written: ContactLinks.Written) throws(StoreError) {
        for (record, first) in written {
            if let first {
                insertLink.bind(1, record.rawValue)
                insertLink.bind(2, first.rawValue)
                try insertLink.run()
            } else {
                deleteLink.bind(1, record.rawValue)
                try deleteLink.run()
            }
        }
    }

    private func expect(_ one: RecordNumber, _ other: RecordNumber, _ index: Int) throws {
        guard try exists(one), try exists(other) else { throw ChangeError.recordDoesNotExist(index: index) }
    }

    private func exists(_ contact: RecordNumber) throws(StoreError) -> Bool {
        selectContact.bind(1, contact.rawValue)
        defer { selectContact.reset() }
        return try selectContact.step()
    }
}

extension ChangeLog {
    fileprivate mutating func note(_ kind: BookChange.Kind, _ pairs: [ContactLinks.Pair]) {
        for pair in pairs { note(kind, pair.record, member: pair.member) }
    }
}
