import BrokerModel
import BrokerNormalization
import BrokerSQLite

/// The writing connection. It belongs to the user's queue.
final class BookWriter {
    let database: Database
    private let file: BookFile
    private let identity: [UInt64]
    private let maker: FormMaker
    private var normalizer: Normalizer { maker.normalizer }
    /// What another thread makes forms with while a large save is written.
    private let otherMaker: ContactsAhead.Maker
    /// The contacts that the save adds, where there are many.
    private var ahead: ContactsAhead.Iterator?
    private var statements: WriteStatements?
    private var groups: GroupStatements?
    private var history: HistoryStatements?
    private var linking: Linking?
    private var containers: ContainerStatements?
    private var outbox: OutboxStatements?
    /// As they are in the file.
    private(set) var links = BookLinks()
    /// The order in which beginnings of names are kept: the owner's.
    private var ordering = BookSettings().sortOrder

    /// - Parameter otherMaker: of the same locale and region.
    init(
        database: Database, file: BookFile, normalizer: Normalizer, otherMaker: ContactsAhead.Maker
    ) throws(StoreError) {
        guard let identity = file.identity() else { throw .unavailable(reason: "the file is gone") }
        self.database = database
        self.file = file
        self.identity = identity
        maker = FormMaker(normalizer)
        self.otherMaker = otherMaker
    }

    func close() {
        // Before the connection: SQLite keeps it open while it has statements.
        statements = nil
        groups = nil
        history = nil
        linking = nil
        containers = nil
        outbox = nil
        database.close()
    }

    @discardableResult
    func apply(
        _ changes: [ContactChange], by author: ChangeAuthor = .nobody, at seconds: Int64, isEvidence: Bool = false,
        telling entry: OutgoingEntry? = nil, ready: ReadyContacts? = nil
    ) throws(ChangeError) -> [BookChange] {
        do {
            var made: [BookChange] = []
            var links = links
            let time = Timestamp.text(seconds: seconds)
            let ahead = ready?.take(for: changes, at: seconds) ?? ContactsAhead(changes, at: seconds, otherMaker)
            self.ahead = ahead.map { ContactsAhead.Iterator($0, maker) }
            defer {
                ahead?.stop()
                self.ahead = nil
            }
            try transaction { db, statements in
                let written = db.totalChangesCount
                let history = try self.history ?? HistoryStatements(db)
                self.history = history
                var log = ChangeLog(after: try history.last(), by: author, at: seconds)
                let linking = try self.linking ?? Linking(db, normalizer)
                self.linking = linking
                linking.begin(links, isEvidence: isEvidence)
                for (index, change) in changes.enumerated() {
                    switch change {
                    case .group(let change):
                        let groups = try self.groups ?? GroupStatements(db)
                        self.groups = groups
                        try groups.apply(change, index, &log)
                    case .container(let change):
                        let containers = try self.containers ?? ContainerStatements(db)
                        self.containers = containers
                        try containers.apply(change, index)
                    case .link(let change):
                        try linking.apply(change, index)
                    case .thumbnail(let record, let thumbnail, let photo):
                        // The modification date tells of what somebody has edited, and stays.
                        if try statements.writeThumbnail(record.rawValue, thumbnail, of: photo) {
                            log.note(.updateContact, record, keys: ContactKeySet(.thumbnailImageData))
                        }
                    case .add, .update, .delete:
                        try apply(change, index, author, time, statements, &log)
                    }
                }
                try statements.finishForms()
                links = try linking.finish(&log)
                try history.write(log.changes, by: author, at: seconds)
                made = log.changes
                // What changes nothing leaves nothing that would have to agree with it.
                if let entry, db.totalChangesCount > written {
                    try outbox(db).write(entry, change: try made.last?.number ?? history.last())
                }
            }
            self.links = links
            return made
        } catch let error as ChangeError {
            throw error
        } catch {
            throw .store(StoreError(error))
        }
    }

    private func outbox(_ db: Database) throws -> OutboxStatements {
        let statements = try outbox ?? OutboxStatements(db)
        outbox = statements
        return statements
    }

    /// What is in the outbox.
    func outboxEntries() throws(StoreError) -> [OutboxEntry] {
        do {
            return try OutboxStatements.all(database)
        } catch {
            throw StoreError(error)
        }
    }

    /// To be called before anything is written.
    func readOrdering() throws(StoreError) { ordering = try settings().sortOrder }

    func readLinks() throws(StoreError) {
        do {
            links = try Linking.links(database)
        } catch {
            throw StoreError(error)
        }
    }

    /// What the owner prefers. What cannot be read is as if never said.
    func settings() throws(StoreError) -> BookSettings {
        var settings = BookSettings()
        let row = try PreparedStatement("SELECT sortOrder, displayOrder, countryCode FROM book", on: database)
        guard try row.step() else { return settings }
        let order = { (column: Int32) in
            row.isNull(column) ? nil : UInt8(exactly: row.integer(column)).flatMap(ContactOrder.init)
        }
        settings.sortOrder = order(0) ?? settings.sortOrder
        settings.displayOrder = order(1) ?? settings.displayOrder
        settings.countryCode = row.isNull(2) ? settings.countryCode : row.text(2)
        return settings
    }

    /// How many contacts there are.
    func size() throws(StoreError) -> Int {
        try Int(database.integer(ReadSQL.countAll) ?? 0)
    }

    func set(_ settings: BookSettings) throws(StoreError) {
        do {
            try transaction { db, statements in
                if settings.sortOrder != ordering { try statements.reorderBeginnings(settings.sortOrder) }
                let update = try PreparedStatement(
                    "UPDATE book SET sortOrder = ?, displayOrder = ?, countryCode = ?", on: db)
                update.bind([
                    .integer(Int64(settings.sortOrder.rawValue)), .integer(Int64(settings.displayOrder.rawValue)),
                    .text(settings.countryCode),
                ])
                try update.run()
            }
            ordering = settings.sortOrder
        } catch {
            // What they write by must be what is in the file.
            statements = nil
            throw StoreError(error)
        }
    }

    /// Makes keys and words anew where they were made by other rules.
    func rebuildForms() throws(StoreError) {
        do {
            let made = try database.text("SELECT forms FROM book")
            guard made != normalizer.version else { return }
            try transaction { _, statements in
                try statements.removeAllForms()
                // By number, so that no cursor is open on what is being written.
                var last = Int64.min
                while let (record, stored) = try statements.next(after: last) {
                    last = record
                    // A damaged card is left out of every answer, so nobody has to find it.
                    guard let contact = stored.flatMap({ Contact($0) }) else { continue }
                    let forms = maker.forms(of: contact)
                    try statements.writeKeys(record, forms.names)
                    try statements.writeForms(record, forms)
                }
                try statements.finishForms()
                try statements.recordForms(normalizer.version)
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// Empties the log into the file, so that what was deleted is nowhere any more. Waits for nobody: a reader in the
    /// way leaves it for the next time.
    func checkpoint() throws(StoreError) { try database.checkpoint() }

    /// Pages that were read or written: the file's, and the next save reads those that it needs.
    func rest() {
        statements?.rest()
        maker.rest()
        otherMaker.rest()
        database.releaseMemory()
    }

    private func transaction(_ body: (Database, WriteStatements) throws -> Void) throws {
        // What is written to a file without a name would be acknowledged and lost.
        guard file.identity() == identity else { throw StoreError.unavailable(reason: "the file was replaced") }
        try database.write { db in
            let statements = try self.statements ?? WriteStatements(db, ordering: ordering)
            self.statements = statements
            statements.beginForms()
            try body(db, statements)
        }
    }

    private func apply(
        _ change: ContactChange, _ index: Int, _ author: ChangeAuthor, _ time: String, _ statements: WriteStatements,
        _ log: inout ChangeLog
    ) throws {
        switch change {
        case .add(let record, let contact):
            let made = ahead?.next() ?? NewContact(contact, at: time, maker)
            try statements.insert(record.rawValue, made, maker: author.app)
            if !contact.imageData.isEmpty { try statements.writeImage(record.rawValue, contact.imageData) }
            try linking?.added(record)
            log.note(.addContact, record)
        case .update(let record, let patch, let keys):
            guard let (stored, highest) = try statements.contact(record.rawValue) else {
                throw ChangeError.recordDoesNotExist(index: index)
            }
            guard let former = Contact(stored), var identifiers = ValueIdentifiers(bytes: highest) else {
                throw StoreError.damagedCard(record: record.rawValue)
            }
            let keys = keys.subtracting(Self.ownKeys)
            var contact = former.applying(patch, keys: keys)
            if keys.contains(.imageData) { contact.imageDataAvailable = !patch.imageData.isEmpty }
            identifiers.assign(to: &contact, replacing: former)
            var changed = StoredContact(contact).keysDiffering(from: stored)
            if keys.contains(.imageData), contact.imageDataAvailable || former.imageDataAvailable {
                changed.formUnion(.images)
            }
            // What says what was there already changes nothing, not even the date.
            guard !changed.isEmpty else { return }
            // Who may read the date but not the notes must not see by it that these were edited.
            if !changed.isSubset(of: .named) { contact.modificationDate = time }
            log.note(.updateContact, record, keys: changed)
            if !changed.isDisjoint(with: BookLinks.evidenceKeys) {
                try linking?.willUpdate(record, from: former, to: contact)
            }
            try statements.update(record.rawValue, contact, identifiers)
            if !keys.isDisjoint(with: FormMaker.keys.union(CollationKey.keys)) {
                let forms = maker.forms(of: contact)
                try statements.removeForms(record.rawValue)
                if !keys.isDisjoint(with: CollationKey.keys) { try statements.writeKeys(record.rawValue, forms.names) }
                try statements.writeForms(record.rawValue, forms)
            }
            if keys.contains(.imageData) { try statements.writeImage(record.rawValue, patch.imageData) }
        case .delete(let record):
            try linking?.willDelete(record)
            guard try statements.delete(record.rawValue) else {
                throw ChangeError.recordDoesNotExist(index: index)
            }
            log.note(.deleteContact, record)
        case .group, .link, .container, .thumbnail:
            preconditionFailure("changes of groups, links, containers and thumbnails have statements of their own")
        }
    }

    /// Nobody writes these but the book itself.
    private static let ownKeys = ContactKeySet([
        .creationDate, .modificationDate, .imageDataAvailable, .thumbnailImageData,
    ])
}
