@_spi(StoredBytes) import BrokerModel
import BrokerNormalization
import BrokerSQLite

/// What is written of one contact, table by table. Used within a transaction only.
final class WriteStatements {
    private let db: Database
    private let selectContact, selectNext, insertContact, updateContact, updateKeys, deleteContact: PreparedStatement
    private let deleteWords, deleteEmails, deletePhones: PreparedStatement
    private let words, emails, phones, beginnings: RowInsertion
    private let selectBeginnings, deleteBeginning, makeBeginnings: PreparedStatement
    private let deleteAllForms: [PreparedStatement]
    private let deleteBeginnings: PreparedStatement
    private let insertImage, deleteImage, updateThumbnail, updateForms: PreparedStatement
    private var gathered = FormRows()
    /// The order in which beginnings are kept.
    private var ordering: ContactOrder

    init(_ db: Database, ordering: ContactOrder) throws {
        self.db = db
        self.ordering = ordering
        let prepare = { (sql: String) in try PreparedStatement(sql, on: db) }
        selectContact = try prepare("SELECT stored, checksum, identifiers FROM contact WHERE record = ?")
        selectNext = try prepare(
            "SELECT record, stored, checksum FROM contact WHERE record > ? ORDER BY record LIMIT 1")
        insertContact = try prepare(
            """
            INSERT INTO contact (record, givenNameKey, familyNameKey, identifiers, maker, stored, checksum)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """)
        updateContact = try prepare("UPDATE contact SET identifiers = ?, stored = ?, checksum = ? WHERE record = ?")
        updateKeys = try prepare("UPDATE contact SET givenNameKey = ?, familyNameKey = ? WHERE record = ?")
        deleteContact = try prepare("DELETE FROM contact WHERE record = ?")
        deleteWords = try prepare("DELETE FROM word WHERE record = ?")
        deleteEmails = try prepare("DELETE FROM email WHERE record = ?")
        deletePhones = try prepare("DELETE FROM phone WHERE record = ?")
        words = try RowInsertion(db, into: "word (record, word, key)", columns: 3)
        emails = try RowInsertion(db, into: "email (record, address)", columns: 2)
        phones = try RowInsertion(db, into: "phone (record, national, country, extension, digits)", columns: 5)
        beginnings = try RowInsertion(db, into: "beginning (ordering, letters, nameKey, record, keys)", columns: 5)
        selectBeginnings = try prepare(
            """
            SELECT DISTINCT substr(word, 1, \(Beginning.length)), givenNameKey, familyNameKey
            FROM word JOIN contact USING (record) WHERE record = ?
            """)
        deleteBeginning = try prepare(
            "DELETE FROM beginning WHERE ordering = ? AND letters = ? AND nameKey = ? AND record = ?")
        // The bits of several keys are their sum.
        makeBeginnings = try prepare(
            """
            INSERT INTO beginning (ordering, letters, nameKey, record, keys)
            SELECT ?1, substr(word, 1, \(Beginning.length)) AS letters, iif(?1 = \(ContactOrder.familyName.rawValue), familyNameKey, givenNameKey),
                record, sum(DISTINCT 1 << key)
            FROM word JOIN contact USING (record)
            WHERE (1 << key) & \(Int64(bitPattern: Match.nameWords.rawValue)) <> 0
            GROUP BY letters, record ORDER BY letters
            """)
        deleteBeginnings = try prepare("DELETE FROM beginning")
        deleteAllForms = try ["word", "email", "phone"].map { try prepare("DELETE FROM \($0)") } + [deleteBeginnings]
        insertImage = try prepare("INSERT OR REPLACE INTO image (record, imageData) VALUES (?, ?)")
        deleteImage = try prepare("DELETE FROM image WHERE record = ?")
        updateThumbnail = try prepare(
            """
            UPDATE image SET thumbnailImageData = ? WHERE record = ? AND thumbnailImageData IS NULL AND imageData = ?
            RETURNING 1
            """)
        updateForms = try prepare("UPDATE book SET forms = ?")
    }

    func contact(_ record: Int64) throws(StoreError) -> (stored: StoredContact, identifiers: [UInt8])? {
        selectContact.bind(1, record)
        defer { selectContact.reset() }
        guard try selectContact.step() else { return nil }
        guard let stored = CardChecksum.card(selectContact, 0, checksum: 1, record: record) else {
            throw .damagedCard(record: record)
        }
        return (stored, selectContact.bytes(2))
    }

    /// The next card by its number; its contents are `nil` where it is damaged.
    func next(after record: Int64) throws(StoreError) -> (record: Int64, stored: StoredContact?)? {
        selectNext.bind(1, record)
        defer { selectNext.reset() }
        guard try selectNext.step() else { return nil }
        let found = selectNext.integer(0)
        return (found, CardChecksum.card(selectNext, 1, checksum: 2, record: found))
    }

    func insert(_ record: Int64, _ contact: NewContact, maker: [UInt8]) throws(StoreError) {
        insertContact.bind(1, record)
        insertContact.bind(2, contact.forms.names.givenName.bytes)
        insertContact.bind(3, contact.forms.names.familyName.bytes)
        insertContact.bind(4, contact.identifiers)
        insertContact.bind(5, maker)
        insertContact.bind(6, contact.stored)
        insertContact.bind(7, CardChecksum.of(contact.stored, record: record))
        try insertContact.run()
        try writeForms(record, contact.forms)
    }

    func update(_ record: Int64, _ contact: Contact, _ identifiers: ValueIdentifiers) throws(StoreError) {
        updateContact.bind(1, identifiers.bytes)
        let stored = StoredContact(contact).bytes
        updateContact.bind(2, stored)
        updateContact.bind(3, CardChecksum.of(stored, record: record))
        updateContact.bind(4, record)
        try updateContact.run()
    }

    /// To be called without the forms: these stand in the order of the keys.
    func writeKeys(_ record: Int64, _ keys: NameKeys) throws(StoreError) {
        updateKeys.bind(1, keys.givenName.bytes)
        updateKeys.bind(2, keys.familyName.bytes)
        updateKeys.bind(3, record)
        try updateKeys.run()
    }

    /// Whether it was there. Everything that hangs on it goes with it.
    func delete(_ record: Int64) throws(StoreError) -> Bool {
        if gathered.hasRows(of: record) { try finishForms() }
        try removeBeginnings(record)
        deleteContact.bind(1, record)
        try deleteContact.run()
        return db.changesCount > 0
    }

    /// To be called while the words and the keys are those by which they were written.
    private func removeBeginnings(_ record: Int64) throws(StoreError) {
        selectBeginnings.bind(1, record)
        defer { selectBeginnings.reset() }
        deleteBeginning.bind(1, Int64(ordering.rawValue))
        deleteBeginning.bind(4, record)
        while try selectBeginnings.step() {
            deleteBeginning.bind(2, selectBeginnings.text(0))
            deleteBeginning.bind(3, selectBeginnings.bytes(ordering == .familyName ? 2 : 1))
            try deleteBeginning.run()
        }
    }

    /// Keeps beginnings in another order from now on.
    func reorderBeginnings(_ order: ContactOrder) throws(StoreError) {
        ordering = order
        try deleteBeginnings.run()
        guard order != .none else { return }
        makeBeginnings.bind(1, Int64(order.rawValue))
        try makeBeginnings.run()
    }

    /// Also what nothing leads to any more.
    func removeAllForms() throws(StoreError) {
        for statement in deleteAllForms { try statement.run() }
    }

    func removeForms(_ record: Int64) throws(StoreError) {
        if gathered.hasRows(of: record) { try finishForms() }
        try removeBeginnings(record)
        for statement in [deleteWords, deleteEmails, deletePhones] {
            statement.bind(1, record)
            try statement.run()
        }
    }

    /// Has the contact found by them once ``finishForms()`` was called.
    func writeForms(_ record: Int64, _ forms: ContactForms) throws(StoreError) {
        gathered.append(record, forms, ordering)
        if gathered.count >= FormRows.most { try finishForms() }
    }

    /// Writes what ``writeForms(_:_:)`` has gathered: before the transaction ends, and before anything of it goes.
    func finishForms() throws(StoreError) {
        guard !gathered.isEmpty else { return }
        let rows = gathered.take()
        try rows.bytes.withUnsafeBufferPointer { bytes throws(StoreError) in
            try words.insert(rows.words.inOrder()) { statement, first, row in
                statement.bind(first, row.record)
                statement.bind(first + 1, text: row.word, of: bytes)
                statement.bind(first + 2, row.key)
            }
            try emails.insert(rows.emails.inOrder()) { statement, first, row in
                statement.bind(first, row.record)
                statement.bind(first + 1, text: row.address, of: bytes)
            }
            try beginnings.insert(rows.beginnings.inOrder()) { statement, first, row in
                statement.bind(first, row.ordering)
                statement.bind(first + 1, text: row.letters, of: bytes)
                statement.bind(first + 2, blob: row.nameKey, of: bytes)
                statement.bind(first + 3, row.record)
                statement.bind(first + 4, row.keys)
            }
            try phones.insert(rows.phones.inOrder()) { statement, first, row in
                statement.bind(first, row.record)
                statement.bind(first + 1, text: row.national, of: bytes)
                statement.bind(first + 2, row.country)
                statement.bind(first + 3, text: row.extensionDigits, of: bytes)
                statement.bind(first + 4, text: row.digits, of: bytes)
            }
        }
    }

    /// Forgets what a transaction has gathered that was not to be.
    func beginForms() { gathered = FormRows() }

    /// Gives back what is only kept to be quick.
    func rest() { for insertion in [words, emails, phones, beginnings] { insertion.rest() } }

    /// - Parameter base64: empty to take the image away.
    func writeImage(_ record: Int64, _ base64: String) throws(StoreError) {
        guard !base64.isEmpty else {
            deleteImage.bind(1, record)
            return try deleteImage.run()
        }
        insertImage.bind(1, record)
        insertImage.bind(2, Array(base64.utf8))
        try insertImage.run()
        // The statement would hold the photo until the next one.
        insertImage.bindNull(2)
    }

    /// - Returns: whether the contact has that photo still. A photo that takes its place takes the thumbnail along.
    func writeThumbnail(
        _ record: Int64, _ thumbnail: [UInt8], of photo: [UInt8]
    ) throws(StoreError) -> Bool {
        updateThumbnail.bind(1, thumbnail)
        updateThumbnail.bind(2, record)
        updateThumbnail.bind(3, photo)
        defer {
            updateThumbnail.reset()
            updateThumbnail.bindNull(1)
            updateThumbnail.bindNull(3)
        }
        var isWritten = false
        while try updateThumbnail.step() { isWritten = true }
        return isWritten
    }

    func recordForms(_ forms: String) throws(StoreError) {
        updateForms.bind(1, forms)
        try updateForms.run()
    }
}
