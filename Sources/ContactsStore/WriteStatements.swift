import ContactsModel
import Normalization

/// What a contact's names begin with, as somebody types who looks for one.
enum Beginning {
    /// Letters.
    static let length = 3

    /// A shorter word is its own beginning.
    static func letters(of word: String) -> String { String(word.unicodeScalars.prefix(length)) }
}

/// The words of names that are in other than plain letters: names return, and to turn one into Latin letters takes longer
/// than to write its words.
private struct KnownWords {
    private static let most = 1_024
    private static let longest = 64
    /// By the bytes of the text: a String equals another whose characters are written otherwise.
    private var words: [[UInt8]: [String]] = [:]

    mutating func words(of text: String, _ normalizer: Normalizer) -> [String] {
        guard text.utf8.count <= Self.longest, !text.utf8.allSatisfy({ $0 < 0x80 }) else {
            return normalizer.storedWords(text).words
        }
        let bytes = Array(text.utf8)
        if let known = words[bytes] { return known }
        if words.count >= Self.most { words.removeAll() }
        let made = normalizer.storedWords(text).words
        words[bytes] = made
        return made
    }
}

/// The places of a contact in both orders.
typealias NameKeys = (givenName: CollationKey, familyName: CollationKey)

/// What is written of one contact, table by table. Used within a transaction only.
final class WriteStatements {
    /// The keys that have words or match keys of their own.
    static let formKeys = Match.nameKeys.union(ContactKeySet([.emailAddresses, .phoneNumbers]))
    /// Most words kept of one key, so that a list of many values cannot fill the index.
    private static let wordsOfKey = 4_096

    private let db: Database
    private let selectContact, selectNext, insertContact, updateContact, updateKeys, deleteContact: PreparedStatement
    private let deleteWords, deleteEmails, deletePhones: PreparedStatement
    private let insertWord, insertEmail, insertPhone: PreparedStatement
    private let selectBeginnings, insertBeginning, deleteBeginning, makeBeginnings: PreparedStatement
    private let deleteAllForms: [PreparedStatement]
    private let deleteBeginnings: PreparedStatement
    private let insertImage, deleteImage, updateThumbnail, updateForms: PreparedStatement
    private var gathered = FormRows()
    private var numbersAhead: NumbersAhead?
    private var known = KnownWords()
    /// The order in which beginnings are kept.
    private var ordering: ContactOrder

    init(_ db: Database, ordering: ContactOrder) throws {
        self.db = db
        self.ordering = ordering
        let prepare = { (sql: String) in try PreparedStatement(db, sql) }
        selectContact = try prepare("SELECT stored, identifiers FROM contact WHERE record = ?")
        selectNext = try prepare("SELECT record, stored FROM contact WHERE record > ? ORDER BY record LIMIT 1")
        insertContact = try prepare(
            """
            INSERT INTO contact (record, givenNameKey, familyNameKey, identifiers, maker, stored)
            VALUES (?, ?, ?, ?, ?, ?)
            """)
        updateContact = try prepare("UPDATE contact SET identifiers = ?, stored = ? WHERE record = ?")
        updateKeys = try prepare("UPDATE contact SET givenNameKey = ?, familyNameKey = ? WHERE record = ?")
        deleteContact = try prepare("DELETE FROM contact WHERE record = ?")
        deleteWords = try prepare("DELETE FROM word WHERE record = ?")
        deleteEmails = try prepare("DELETE FROM email WHERE record = ?")
        deletePhones = try prepare("DELETE FROM phone WHERE record = ?")
        insertWord = try prepare("INSERT OR IGNORE INTO word (record, word, key) VALUES (?, ?, ?)")
        insertEmail = try prepare("INSERT OR IGNORE INTO email (record, address) VALUES (?, ?)")
        insertPhone = try prepare(
            "INSERT OR IGNORE INTO phone (record, national, country, extension, digits) VALUES (?, ?, ?, ?, ?)")
        selectBeginnings = try prepare(
            """
            SELECT DISTINCT substr(word, 1, \(Beginning.length)), givenNameKey, familyNameKey
            FROM word JOIN contact USING (record) WHERE record = ?
            """)
        insertBeginning = try prepare(
            "INSERT OR IGNORE INTO beginning (ordering, letters, nameKey, record, keys) VALUES (?, ?, ?, ?, ?)")
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
        return (try stored(selectContact, 0), selectContact.bytes(1))
    }

    func next(after record: Int64) throws(StoreError) -> (record: Int64, stored: StoredContact)? {
        selectNext.bind(1, record)
        defer { selectNext.reset() }
        guard try selectNext.step() else { return nil }
        return (selectNext.integer(0), try stored(selectNext, 1))
    }

    private func stored(_ statement: PreparedStatement, _ column: Int32) throws(StoreError) -> StoredContact {
        guard let stored = StoredContact(bytes: statement.bytes(column)) else {
            throw .damaged(reason: "a contact cannot be read")
        }
        return stored
    }

    func insert(
        _ record: Int64, _ contact: Contact, _ identifiers: ValueIdentifiers, _ keys: NameKeys, maker: [UInt8]
    ) throws(StoreError) {
        insertContact.bind(1, record)
        insertContact.bind(2, keys.givenName.bytes)
        insertContact.bind(3, keys.familyName.bytes)
        insertContact.bind(4, identifiers.bytes)
        insertContact.bind(5, maker)
        insertContact.bind(6, StoredContact(contact).bytes)
        try insertContact.run()
    }

    func update(_ record: Int64, _ contact: Contact, _ identifiers: ValueIdentifiers) throws(StoreError) {
        updateContact.bind(1, identifiers.bytes)
        updateContact.bind(2, StoredContact(contact).bytes)
        updateContact.bind(3, record)
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
    func delete(_ record: Int64, _ normalizer: Normalizer) throws(StoreError) -> Bool {
        if gathered.hasRows(of: record) { try finishForms(normalizer) }
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

    func removeForms(_ record: Int64, _ normalizer: Normalizer) throws(StoreError) {
        if gathered.hasRows(of: record) { try finishForms(normalizer) }
        try removeBeginnings(record)
        for statement in [deleteWords, deleteEmails, deletePhones] {
            statement.bind(1, record)
            try statement.run()
        }
    }

    /// Has the contact found by them once ``finishForms(_:)`` was called.
    func writeForms(
        _ record: Int64, _ contact: Contact, _ keys: NameKeys, _ normalizer: Normalizer
    ) throws(StoreError) {
        gathered.begin(record)
        var beginnings: [String: ContactKeySet] = [:]
        for key in Match.nameKeys.keys {
            guard let text = contact.text(of: key), !text.isEmpty else { continue }
            for word in known.words(of: text, normalizer) {
                gathered.append(FormRows.Word(record: record, word: word, key: Int64(key.index)))
                beginnings[Beginning.letters(of: word), default: []].formUnion(ContactKeySet([key]))
            }
        }
        for word in normalizer.wholeNameWords(familyName: contact.familyName, givenName: contact.givenName) {
            gathered.append(FormRows.Word(record: record, word: word, key: Match.wholeNameIndex))
            beginnings[Beginning.letters(of: word), default: []].formUnion(
                ContactKeySet(rawValue: 1 << UInt64(Match.wholeNameIndex)))
        }
        gather(beginnings, record, keys)
        var words = 0
        for email in contact.emailAddresses {
            if let key = EmailMatchKey(email.value, normalizer) {
                gathered.append(FormRows.Email(record: record, address: key.text))
            }
            for word in normalizer.storedWords(email.value).words where words < Self.wordsOfKey {
                let key = Int64(ContactKey.emailAddresses.index)
                gathered.append(FormRows.Word(record: record, word: word, key: key))
                words += 1
            }
        }
        for phone in contact.phoneNumbers { gathered.append(record, number: phone.value) }
        if gathered.count >= FormRows.most { try finishForms(normalizer) }
    }

    private func gather(_ beginnings: [String: ContactKeySet], _ record: Int64, _ keys: NameKeys) {
        guard ordering != .none else { return }
        let nameKey = ordering == .familyName ? keys.familyName : keys.givenName
        for (letters, keys) in beginnings {
            gathered.append(
                FormRows.Beginning(
                    ordering: Int64(ordering.rawValue), letters: letters, nameKey: nameKey.bytes, record: record,
                    keys: Int64(bitPattern: keys.rawValue)))
        }
    }

    /// Writes what ``writeForms(_:_:_:_:)`` has gathered: before the transaction ends, and before anything of it goes.
    func finishForms(_ normalizer: Normalizer) throws(StoreError) {
        guard !gathered.isEmpty else { return }
        try gathered.take { row throws(StoreError) in
            insertWord.bind(1, row.record)
            insertWord.bind(2, row.word)
            insertWord.bind(3, row.key)
            try insertWord.run()
        } email: { row throws(StoreError) in
            insertEmail.bind(1, row.record)
            insertEmail.bind(2, row.address)
            try insertEmail.run()
        } beginning: { row throws(StoreError) in
            insertBeginning.bind(1, row.ordering)
            insertBeginning.bind(2, row.letters)
            insertBeginning.bind(3, row.nameKey)
            insertBeginning.bind(4, row.record)
            insertBeginning.bind(5, row.keys)
            try insertBeginning.run()
        }
        // Last, so that who reads them ahead has had the longest time.
        try gathered.takePhones(numbersAhead?.keys() ?? [:], normalizer) { row throws(StoreError) in
            insertPhone.bind(1, row.record)
            insertPhone.bind(2, row.national)
            insertPhone.bind(3, row.country)
            insertPhone.bind(4, row.extensionDigits)
            insertPhone.bind(5, row.digits)
            try insertPhone.run()
        }
    }

    /// Begins what a transaction is to write, and forgets what one has gathered that was not to be.
    func beginForms(_ ahead: NumbersAhead? = nil) {
        gathered = FormRows()
        numbersAhead = ahead
    }

    /// What was read ahead is of no more use.
    func endForms() { numbersAhead = nil }

    /// Gives back what is only kept to be quick.
    func rest() { known = KnownWords() }

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
