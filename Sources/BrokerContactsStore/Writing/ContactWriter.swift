@_spi(StoredBytes) import BrokerModel
import BrokerNormalization
import BrokerSQLite

/// Writes contacts, table by table, within one transaction.
final class ContactWriter {
    let db: Database
    private var gathered = FormRows()
    /// The order in which name beginnings are indexed.
    private let ordering: ContactOrder

    init(_ db: Database, ordering: ContactOrder) {
        self.db = db
        self.ordering = ordering
    }

    /// Returns a contact with at least these keys; `nil` if it does not exist. If any of the keys is stored apart, the
    /// contact has all of them, because ``update(_:_:_:_:)`` then writes the whole part.
    func contact(
        _ record: Int64, _ keys: ContactKeySet
    ) throws(StoreError) -> (stored: StoredContact, identifiers: [UInt8])? {
        let select = try db.statement("SELECT stored, checksum, apart, identifiers FROM contact WHERE record = ?")
        return try select.bind(1, record).first { row throws(StoreError) in
            let all = keys.isDisjoint(with: StoredCard.apartKeys) ? keys : keys.union(StoredCard.apartKeys)
            guard let stored = try StoredCard.read(row, from: 0, record: record, all, db) else {
                throw .damagedCard(record: record)
            }
            return (stored, row.bytes(3))
        }
    }

    /// - Parameters:
    ///   - photo: base64; empty if there is none.
    ///   - isNew: whether the maker adds it just now, so that nobody else can have changed it.
    func insert(
        _ record: Int64, _ contact: NewContact, photo: String, maker: [UInt8], isNew: Bool = false
    ) throws(StoreError) {
        try db.statement(
            """
            INSERT INTO contact (record, givenNameKey, familyNameKey, identifiers, maker, stored, checksum, apart, sole)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        )
        .bind(1, record).bind(2, contact.forms.names.givenName.bytes).bind(3, contact.forms.names.familyName.bytes)
        .bind(4, contact.identifiers).bind(5, maker).bind(6, contact.stored.main)
        .bind(7, CardChecksum.of(contact.stored.main, record: record))
        .bind(8, Int64(bitPattern: contact.stored.keysApart.rawValue)).bind(9, isNew ? 1 : 0).run()
        try contact.stored.insertApart(record, db)
        try writeForms(record, contact.forms)
        if !photo.isEmpty { try writeImage(record, photo) }
    }

    /// - Parameter keys: those that ``contact(_:_:)`` was called with. If none of them is stored apart, the part
    ///   that is stored apart stays as it is.
    func update(
        _ record: Int64, _ contact: StoredContact, _ identifiers: ValueIdentifiers, _ keys: ContactKeySet,
        by author: ChangeAuthor
    ) throws(StoreError) {
        let card = StoredCard(contact)
        let changesApart = !keys.isDisjoint(with: StoredCard.apartKeys)
        try db.statement(
            """
            UPDATE contact SET identifiers = ?, stored = ?, checksum = ?, apart = coalesce(?, apart),
                sole = sole = 1 AND maker = ?6 WHERE record = ?5
            """
        )
        .bind(1, identifiers.bytes).bind(2, card.main).bind(3, CardChecksum.of(card.main, record: record))
        .bind(4, changesApart ? Int64(bitPattern: card.keysApart.rawValue) : nil).bind(5, record).bind(6, author.app)
        .run()
        guard changesApart else { return }
        for table in ["apart", "uid"] {
            try db.statement("DELETE FROM \(table) WHERE record = ?").bind(1, record).run()
        }
        try card.insertApart(record, db)
    }

    /// Call this after ``removeForms(_:)``, which finds the rows of beginnings by the former sort key.
    func writeKeys(_ record: Int64, _ keys: NameKeys) throws(StoreError) {
        try db.statement("UPDATE contact SET givenNameKey = ?, familyNameKey = ? WHERE record = ?")
            .bind(1, keys.givenName.bytes).bind(2, keys.familyName.bytes).bind(3, record).run()
    }

    /// Deletes a contact and all dependent rows; returns whether it existed.
    func delete(_ record: Int64) throws(StoreError) -> Bool {
        if gathered.hasRows(of: record) { try finishForms() }
        try removeBeginnings(record)
        try db.statement("DELETE FROM contact WHERE record = ?").bind(1, record).run()
        return db.changesCount > 0
    }

    // MARK: Search terms

    /// Call this before the words and sort keys change, because they locate the rows to delete.
    private func removeBeginnings(_ record: Int64) throws(StoreError) {
        let key = ordering == .familyName ? "familyNameKey" : "givenNameKey"
        let written = try db.statement(
            """
            SELECT DISTINCT substr(word, 1, \(Beginning.length)), \(key) FROM word JOIN contact USING (record)
            WHERE record = ?
            """
        )
        .bind(1, record).all { (letters: $0.text(0), key: $0.bytes(1)) }
        let delete = try db.statement(
            "DELETE FROM beginning WHERE ordering = ? AND letters = ? AND nameKey = ? AND record = ?")
        for (letters, key) in written {
            try delete.bind(1, Int64(ordering.rawValue)).bind(2, letters).bind(3, key).bind(4, record).run()
        }
    }

    /// Rebuilds the beginnings from the stored words.
    func remakeBeginnings() throws(StoreError) {
        try db.execute("DELETE FROM beginning")
        guard ordering != .none else { return }
        try db.statement(
            """
            INSERT INTO beginning (ordering, letters, nameKey, record)
            SELECT DISTINCT ?1, substr(word, 1, \(Beginning.length)) AS letters,
                \(ordering == .familyName ? "familyNameKey" : "givenNameKey"), record
            FROM word JOIN contact USING (record)
            WHERE (1 << key) & \(Int64(bitPattern: Match.nameWords.rawValue)) <> 0 ORDER BY letters
            """
        )
        .bind(1, Int64(ordering.rawValue)).run()
    }

    /// Rebuilds all search terms and sort keys.
    func remakeForms(_ maker: FormMaker) throws(StoreError) {
        // Also removes orphaned rows.
        for table in ["word", "email", "phone", "beginning"] { try db.execute("DELETE FROM \(table)") }
        // Replies leave out damaged cards, so a damaged card needs no search terms.
        try CardChecksum.forEachCard(db) { record, stored throws(StoreError) in
            guard let contact = Contact(stored) else { return }
            let forms = maker.forms(of: contact)
            try writeKeys(record, forms.names)
            try writeForms(record, forms)
        }
        try finishForms()
        try db.statement("UPDATE book SET forms = ?").bind(1, maker.normalizer.version).run()
    }

    /// Rebuilds all sort keys, for another language. The search terms do not depend on it.
    func remakeKeys(_ maker: FormMaker) throws(StoreError) {
        try CardChecksum.forEachCard(db) { record, stored throws(StoreError) in
            guard let contact = Contact(stored) else { return }
            try writeKeys(record, maker.normalizer.collationKeys(of: contact))
        }
        try remakeBeginnings()
        try db.statement("UPDATE book SET forms = ?").bind(1, maker.normalizer.version).run()
    }

    func removeForms(_ record: Int64) throws(StoreError) {
        if gathered.hasRows(of: record) { try finishForms() }
        try removeBeginnings(record)
        for table in ["word", "email", "phone"] {
            try db.statement("DELETE FROM \(table) WHERE record = ?").bind(1, record).run()
        }
    }

    /// Gathers the contact's search terms. ``finishForms()`` writes them to the tables.
    func writeForms(_ record: Int64, _ forms: ContactForms) throws(StoreError) {
        gathered.append(record, forms, ordering)
        if gathered.count >= FormRows.most { try finishForms() }
    }

    /// Writes the rows that ``writeForms(_:_:)`` has gathered. Call this before the transaction ends and
    /// before any of these contacts' rows are deleted.
    func finishForms() throws(StoreError) {
        guard !gathered.isEmpty else { return }
        let rows = gathered
        gathered = FormRows()
        try rows.bytes.withUnsafeBufferPointer { bytes throws(StoreError) in
            try db.insert(rows.words.inOrder(), into: "word (record, key, word)", columns: 3) { statement, first, row in
                statement.bind(first, row.record).bind(first + 1, row.key).bind(first + 2, text: row.word, of: bytes)
            }
            try db.insert(rows.emails.inOrder(), into: "email (record, address)", columns: 2) { statement, first, row in
                statement.bind(first, row.record).bind(first + 1, text: row.address, of: bytes)
            }
            let beginning = "beginning (ordering, letters, nameKey, record)"
            try db.insert(rows.beginnings.inOrder(), into: beginning, columns: 4) { statement, first, row in
                statement.bind(first, row.ordering).bind(first + 1, text: row.letters, of: bytes)
                    .bind(first + 2, blob: row.nameKey, of: bytes).bind(first + 3, row.record)
            }
            let phone = "phone (record, national, country, extension, digits)"
            try db.insert(rows.phones.inOrder(), into: phone, columns: 5) { statement, first, row in
                statement.bind(first, row.record).bind(first + 1, text: row.national, of: bytes)
                    .bind(first + 2, row.country).bind(first + 3, text: row.extensionDigits, of: bytes)
                    .bind(first + 4, text: row.digits, of: bytes)
            }
        }
    }

    // MARK: Images

    /// - Parameter base64: the photo; an empty string removes the photo. In both cases the old thumbnail is
    ///   removed.
    func writeImage(_ record: Int64, _ base64: String) throws(StoreError) {
        guard !base64.isEmpty else {
            return try db.statement("DELETE FROM image WHERE record = ?").bind(1, record).run()
        }
        let insert = try db.statement("INSERT OR REPLACE INTO image (record, imageData) VALUES (?, ?)")
        try insert.bind(1, record).bind(2, Array(base64.utf8)).run()
        // Unbinds the photo, which the cached statement would otherwise keep in memory.
        insert.bind(2, [UInt8]?.none)
        try db.statement("INSERT OR REPLACE INTO photographed (record) VALUES (?)").bind(1, record).run()
    }

    /// Returns the size of a contact's photo as stored, in bytes; 0 if there is no photo. Does not read the
    /// photo.
    func photoSize(_ record: Int64) throws(StoreError) -> Int {
        try db.statement("SELECT length(imageData) FROM image WHERE record = ?").bind(1, record).first {
            Int($0.integer(0))
        } ?? 0
    }

    /// - Returns: `true` if the thumbnail was written; `false` if the contact has a different photo or none,
    ///   or already has a thumbnail.
    func writeThumbnail(
        _ record: Int64, _ thumbnail: [UInt8], of photo: [UInt8]
    ) throws(StoreError) -> Bool {
        let update = try db.statement(
            """
            UPDATE image SET thumbnailImageData = ? WHERE record = ? AND thumbnailImageData IS NULL AND imageData = ?
            """)
        defer { update.bind(1, [UInt8]?.none).bind(3, [UInt8]?.none) }
        try update.bind(1, thumbnail).bind(2, record).bind(3, photo).run()
        guard db.changesCount > 0 else { return false }
        try endWaiting(record, for: photo)
        return true
    }

    /// The photo no longer waits for a thumbnail.
    func endWaiting(_ record: Int64, for photo: [UInt8]) throws(StoreError) {
        let delete = try db.statement(
            "DELETE FROM photographed WHERE record = ?1 AND ?2 = (SELECT imageData FROM image WHERE record = ?1)")
        defer { delete.bind(2, [UInt8]?.none) }
        try delete.bind(1, record).bind(2, photo).run()
    }
}
