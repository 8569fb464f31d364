import ContactsModel
import GRDB
import Normalization

/// The writing connection. It belongs to the user's queue.
final class BookWriter {
    private let queue: DatabaseQueue
    private let file: BookFile
    private let identity: [UInt64]
    private let normalizer: Normalizer
    private var statements: WriteStatements?

    init(queue: DatabaseQueue, file: BookFile, normalizer: Normalizer) throws(StoreError) {
        guard let identity = file.identity() else { throw .unavailable(reason: "the file is gone") }
        self.queue = queue
        self.file = file
        self.identity = identity
        self.normalizer = normalizer
    }

    func close() {
        // Before the connection: SQLite closes none that has statements.
        statements = nil
        try? queue.close()
    }

    func apply(_ changes: [ContactChange], at seconds: Int64) throws(ChangeError) {
        do {
            try transaction { statements in
                let time = Timestamp.text(seconds: seconds)
                for (index, change) in changes.enumerated() { try apply(change, index, time, statements) }
            }
        } catch let error as ChangeError {
            throw error
        } catch {
            throw .store(StoreError(error))
        }
    }

    /// Makes keys and words anew where they were made by other rules.
    func rebuildForms() throws(StoreError) {
        do {
            let made = try queue.read { db in try String.fetchOne(db, sql: "SELECT forms FROM book") }
            guard made != normalizer.version else { return }
            try transaction { statements in
                // By number, so that no cursor is open on what is being written.
                var last = Int64.min
                while let (record, stored) = try statements.next(after: last) {
                    last = record
                    guard let contact = Contact(stored) else {
                        throw StoreError.damaged(reason: "a contact cannot be read")
                    }
                    try statements.removeForms(record)
                    try statements.writeForms(record, contact, normalizer)
                    try statements.writeKeys(record, contact, normalizer)
                }
                try statements.recordForms(normalizer.version)
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// Empties the log into the file, so that what was deleted is nowhere any more. Waits for nobody: a reader in the
    /// way leaves it for the next time.
    func checkpoint() throws(StoreError) {
        do {
            _ = try queue.writeWithoutTransaction { db in try db.checkpoint(.truncate) }
        } catch {
            throw StoreError(error)
        }
    }

    private func transaction(_ body: (WriteStatements) throws -> Void) throws {
        // What is written to a file without a name would be acknowledged and lost.
        guard file.identity() == identity else { throw StoreError.unavailable(reason: "the file was replaced") }
        try queue.write { db in
            let statements = try self.statements ?? WriteStatements(db)
            self.statements = statements
            try body(statements)
        }
    }

    private func apply(_ change: ContactChange, _ index: Int, _ time: String, _ statements: WriteStatements) throws {
        switch change {
        case .add(let record, var contact):
            contact.creationDate = time
            contact.modificationDate = time
            contact.imageDataAvailable = !contact.imageData.isEmpty
            var identifiers = ValueIdentifiers()
            identifiers.assign(to: &contact)
            try statements.insert(record.rawValue, contact, identifiers, normalizer)
            try statements.writeForms(record.rawValue, contact, normalizer)
            if contact.imageDataAvailable { try statements.writeImage(record.rawValue, contact.imageData) }
        case .update(let record, let patch, let keys):
            guard let (stored, highest) = try statements.contact(record.rawValue) else {
                throw ChangeError.recordDoesNotExist(index: index)
            }
            guard let former = Contact(stored), var identifiers = ValueIdentifiers(bytes: highest) else {
                throw StoreError.damaged(reason: "a contact cannot be read")
            }
            let keys = keys.subtracting(Self.ownKeys)
            var contact = former.applying(patch, keys: keys)
            // Who may read the date but not the notes must not see by it that these were edited.
            if !keys.isSubset(of: .named) { contact.modificationDate = time }
            if keys.contains(.imageData) { contact.imageDataAvailable = !patch.imageData.isEmpty }
            identifiers.assign(to: &contact, replacing: former)
            try statements.update(record.rawValue, contact, identifiers)
            if !keys.isDisjoint(with: CollationKey.keys) {
                try statements.writeKeys(record.rawValue, contact, normalizer)
            }
            if !keys.isDisjoint(with: WriteStatements.formKeys) {
                try statements.removeForms(record.rawValue)
                try statements.writeForms(record.rawValue, contact, normalizer)
            }
            if keys.contains(.imageData) { try statements.writeImage(record.rawValue, patch.imageData) }
        case .delete(let record):
            guard try statements.delete(record.rawValue) else { throw ChangeError.recordDoesNotExist(index: index) }
        }
    }

    /// Nobody writes these but the book itself.
    private static let ownKeys = ContactKeySet([
        .creationDate, .modificationDate, .imageDataAvailable, .thumbnailImageData,
    ])
}
