import ContactsModel
import GRDB
import Normalization

/// What a contact's names begin with, as somebody types who looks for one.
enum Beginning {
    /// Letters. Fewer are the beginning of so many names that the order of all is walked as quickly.
    static let length = 3

    /// `nil` for a word that is shorter.
    static func letters(of word: String) -> String? {
        let letters = word.unicodeScalars.prefix(length)
        return letters.count == length ? String(letters) : nil
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
    private let selectBeginnings, insertBeginning, deleteBeginning, deleteAllBeginnings: PreparedStatement
    private let insertImage, deleteImage, updateForms: PreparedStatement

    init(_ db: Database) throws {
        self.db = db
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
        deleteAllBeginnings = try prepare("DELETE FROM beginning")
        insertImage = try prepare("INSERT OR REPLACE INTO image (record, imageData) VALUES (?, ?)")
        deleteImage = try prepare("DELETE FROM image WHERE record = ?")
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
    func delete(_ record: Int64) throws(StoreError) -> Bool {
        try removeBeginnings(record)
        deleteContact.bind(1, record)
        try deleteContact.run()
        return db.changesCount > 0
    }

    /// To be called while the words and the keys are those by which they were written.
    private func removeBeginnings(_ record: Int64) throws(StoreError) {
        selectBeginnings.bind(1, record)
        defer { selectBeginnings.reset() }
        deleteBeginning.bind(4, record)
        while try selectBeginnings.step() {
            deleteBeginning.bind(2, selectBeginnings.text(0))
            for (order, column) in [(ContactOrder.givenName, Int32(1)), (.familyName, 2)] {
                deleteBeginning.bind(1, Int64(order.rawValue))
                deleteBeginning.bind(3, selectBeginnings.bytes(column))
                try deleteBeginning.run()
            }
        }
    }

    func removeAllBeginnings() throws(StoreError) { try deleteAllBeginnings.run() }

    func removeForms(_ record: Int64) throws(StoreError) {
        try removeBeginnings(record)
        for statement in [deleteWords, deleteEmails, deletePhones] {
            statement.bind(1, record)
            try statement.run()
        }
    }

    func writeForms(
        _ record: Int64, _ contact: Contact, _ keys: NameKeys, _ normalizer: Normalizer
    ) throws(StoreError) {
        var beginnings: [String: ContactKeySet] = [:]
        insertWord.bind(1, record)
        for key in Match.nameKeys.keys {
            guard let text = contact.text(of: key), !text.isEmpty else { continue }
            insertWord.bind(3, Int64(key.index))
            for word in normalizer.storedWords(text).words {
                insertWord.bind(2, word)
                try insertWord.run()
                if let letters = Beginning.letters(of: word) {
                    beginnings[letters, default: []].formUnion(ContactKeySet([key]))
                }
            }
        }
        try write(beginnings, record, keys)
        insertWord.bind(3, Int64(ContactKey.emailAddresses.index))
        insertEmail.bind(1, record)
        var words = 0
        for email in contact.emailAddresses {
            if let key = EmailMatchKey(email.value, normalizer) {
                insertEmail.bind(2, key.text)
                try insertEmail.run()
            }
            for word in normalizer.storedWords(email.value).words where words < Self.wordsOfKey {
                insertWord.bind(2, word)
                try insertWord.run()
                words += 1
            }
        }
        insertPhone.bind(1, record)
        for phone in contact.phoneNumbers {
            guard let key = PhoneMatchKey(phone.value, normalizer) else { continue }
            insertPhone.bind(2, key.national)
            insertPhone.bind(3, Int64(key.country))
            insertPhone.bind(4, key.extensionDigits)
            insertPhone.bind(5, PhoneDigits(phone.value)?.reversed ?? "")
            try insertPhone.run()
        }
    }

    private func write(
        _ beginnings: [String: ContactKeySet], _ record: Int64, _ keys: NameKeys
    ) throws(StoreError) {
        insertBeginning.bind(4, record)
        for (order, nameKey) in [(ContactOrder.givenName, keys.givenName), (.familyName, keys.familyName)] {
            insertBeginning.bind(1, Int64(order.rawValue))
            insertBeginning.bind(3, nameKey.bytes)
            for (letters, keys) in beginnings {
                insertBeginning.bind(2, letters)
                insertBeginning.bind(5, Int64(bitPattern: keys.rawValue))
                try insertBeginning.run()
            }
        }
    }

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

    func recordForms(_ forms: String) throws(StoreError) {
        updateForms.bind(1, forms)
        try updateForms.run()
    }
}
