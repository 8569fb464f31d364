import BrokerBounds
import BrokerModel
import BrokerSQLite

extension BookWriter {
    /// Adds parts of a backup to a new book, which nobody uses yet, or none of them. The change history does not
    /// contain them.
    ///
    /// - Parameter seconds: the creation date of contacts that have none.
    func restore(_ parts: [RestoredPart], at seconds: Int64) throws {
        try transaction { db in
            var contacts = ContactWriter(db, ordering: ordering)
            let links = LinkTables(db: db)
            for part in parts {
                switch part {
                case .row(let row):
                    try row.write(db)
                    guard row.table == .settings else { continue }
                    // The settings come first, because the cards' beginnings depend on the order.
                    ordering = try settings().sortOrder
                    contacts = ContactWriter(db, ordering: ordering)
                case .card(let record, let contact, let details):
                    guard let identifiers = ValueIdentifiers(bytes: details.identifiers) else {
                        throw StoreError.damagedCard(record: record.rawValue)
                    }
                    let made = NewContact(contact, restoredWith: identifiers, maker)
                    try contacts.insert(record.rawValue, made, photo: contact.imageData, maker: details.app)
                    if details.isUnsure { try links.setUnsure(record) }
                    try db.statement("UPDATE contact SET container = ? WHERE record = ?")
                        .bind(1, details.container?.rawValue).bind(2, record.rawValue).run()
                    if details.isMe { try db.statement("UPDATE book SET me = ?").bind(1, record.rawValue).run() }
                case .contact(let record, let contact):
                    let made = NewContact(contact, at: Timestamp.text(seconds: seconds), maker)
                    try contacts.insert(record.rawValue, made, photo: contact.imageData, maker: [])
                    try links.setUnsure(record)
                }
            }
            try contacts.finishForms()
            try checkSize(db)
        }
    }

    private func checkSize(_ db: Database) throws {
        let size = try db.bytesInUse()
        if size > space.bounds.book { throw ChangeError.bookFull(size: size, most: space.bounds.book) }
    }

    /// Replaces the contacts, groups, containers, links and preferences of this book by those of a restored one. The
    /// change history goes on, so that apps learn of the difference. The bin stays as it is, because record numbers are
    /// never used again, and what an app did before may be the reason for the restore.
    ///
    /// - Parameters:
    ///   - path: the restored book, which no connection has open.
    ///   - entry: the outbox entry, which is stored in the same transaction.
    ///   - mustBeEmpty: whether to throw if this book has contacts.
    /// - Returns: the new entries of the change history.
    func replace(
        by path: String, by author: ChangeAuthor, at seconds: Int64, outbox entry: OutgoingEntry, mustBeEmpty: Bool
    ) throws -> [BookChange] {
        // SQLite attaches a file only outside of a transaction.
        try database.statement("ATTACH ? AS restored").bind(1, path).run()
        defer { try? database.execute("DETACH restored") }
        var changes: [BookChange] = []
        try transaction { db in
            let former = try BookOutline(db)
            guard !mustBeEmpty || former.cards.isEmpty else { throw ChangeError.hasContacts(former.cards.count) }
            for table in Self.copied.reversed() { try db.execute("DELETE FROM main.\(table)") }
            for table in Self.copied { try db.execute("INSERT INTO main.\(table) SELECT * FROM restored.\(table)") }
            let settings = "me, sortOrder, displayOrder, countryCode, language, forms"
            try db.execute("UPDATE main.book SET (\(settings)) = (SELECT \(settings) FROM restored.book)")
            // The backup's links may follow older rules.
            try Linking.remake(db, maker.normalizer)
            var log = ChangeLog(after: try db.lastChange(), by: author, at: seconds)
            try BookOutline(db).note(after: former, &log)
            try log.write(db)
            try write(entry)
            try BinRows(db: db).noteRestore(by: author, at: seconds, space.bounds)
            try checkSize(db)
            changes = log.changes
        }
        try loadLinks()
        ordering = try settings().sortOrder
        try useStoredLocale()
        return changes
    }

    /// The tables that are replaced, so that no row refers to a later one.
    private static let copied = [
        "container", "contact", "apart", "uid", "image", "photographed", "word", "email", "phone", "beginning",
        "contactGroup",
        "member",
        "subgroup", "link", "handLink", "unlike", "unsure",
    ]
}
