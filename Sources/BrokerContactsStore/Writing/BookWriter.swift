import BrokerBounds
import BrokerModel
import BrokerNormalization
import BrokerSQLite

/// The writing connection. Only the user's queue uses it.
final class BookWriter {
    let database: Database
    private let file: BookFile
    private let identity: [UInt64]
    let maker: FormMaker
    /// Makes forms on another thread during a large save.
    private let otherMaker: ContactsAhead.Maker
    /// The locale whose alphabet determines the order if the owner has set no language.
    private let defaultLocale: String
    /// The links as stored in the file.
    var links = BookLinks()
    /// The order in which name beginnings are indexed, which is the owner's preferred sort order.
    var ordering = BookSettings().sortOrder
    var space: BookSpace
    var binSpace: BinSpace
    /// Whether text has left the bin in the last save.
    var leavesText = false

    /// - Parameter otherMaker: must have the same region as `normalizer`.
    init(
        database: Database, file: BookFile, normalizer: Normalizer, otherMaker: ContactsAhead.Maker,
        space: SpaceBounds
    ) throws(StoreError) {
        guard let identity = file.identity() else { throw .unavailable(reason: "the file is gone") }
        self.database = database
        self.file = file
        self.identity = identity
        maker = FormMaker(normalizer)
        self.otherMaker = otherMaker
        defaultLocale = normalizer.locale
        self.space = BookSpace(space)
        binSpace = BinSpace(space)
    }

    func close() { database.close() }

    /// Loads settings and links. Rebuilds the sort keys, search terms and links by evidence if they were made with a
    /// different version of the normalization rules. If they were made for a different language only, keeps them until
    /// ``useLanguage()``. Call this before any write.
    func prepare() throws {
        ordering = try settings().sortOrder
        try loadLinks()
        guard try useStoredLocale() != maker.normalizer.version else { return }
        use(locale: try wantedLocale())
        let former = links
        try transaction { db in
            try ContactWriter(db, ordering: ordering).remakeForms(maker)
            try Linking.remake(db, maker.normalizer)
            try loadLinks()
            let seconds = try db.integer("SELECT unixepoch()") ?? 0
            var log = ChangeLog(after: try db.lastChange(), by: .nobody, at: seconds)
            Linking.note(Set(former.all.records + links.all.records).sorted(), from: former, to: links, &log)
            try log.write(db)
        }
    }

    // MARK: The language

    /// The locale whose alphabet determines the order now.
    var locale: String { maker.normalizer.locale }

    /// Makes further sort keys for the language of the stored ones. Returns the version of those.
    @discardableResult
    func useStoredLocale() throws -> String {
        let forms = try database.text("SELECT forms FROM book") ?? ""
        if let locale = Normalizer.locale(ofVersion: forms) { use(locale: locale) }
        return forms
    }

    private func wantedLocale() throws -> String {
        let language = try settings().language
        return language.isEmpty ? defaultLocale : Normalizer.icuName(ofLocale: language)
    }

    private func use(locale: String) {
        maker.normalizer.use(locale: locale)
    }

    /// Rebuilds the sort keys if they were made for another language than the owner's. Reads go on meanwhile, by the
    /// former keys.
    func useLanguage() throws {
        let (former, wanted) = (locale, try wantedLocale())
        guard wanted != former else { return }
        use(locale: wanted)
        do {
            try transaction { try ContactWriter($0, ordering: ordering).remakeKeys(maker) }
        } catch {
            use(locale: former)
            throw error
        }
    }

    func loadLinks() throws(StoreError) {
        links = BookLinks(
            all: try LinkTables.all(database, "link"), byHand: try LinkTables.all(database, "handLink"))
    }

    @discardableResult
    func apply(
        _ changes: [ContactChange], by author: ChangeAuthor = .nobody, at seconds: Int64, isEvidence: Bool = false,
        access: AuthorAccess = .full, terms: SaveTerms = SaveTerms(), of app: SaveAuthor = .person,
        outbox entry: OutgoingEntry? = nil
    ) throws -> [BookChange] {
        let ahead = ContactsAhead(changes, at: seconds, locale: locale, otherMaker)
        defer { ahead?.stop() }
        let made: [BookChange]
        (made, links) = try transaction { db in
            let contacts = ContactWriter(db, ordering: ordering)
            for condition in terms.conditions { try contacts.check(condition, links) }
            if let seen = terms.unchangedSince { try check(changes, areUnchangedSince: seen) }
            if let seen = terms.me, try db.statement("SELECT me FROM book").first({ $0.record(0) }) != seen {
                throw ChangeError.changedMeanwhile
            }
            let (written, size) = (db.totalChangesCount, try db.bytesInUse())
            try space.checkPhotos(in: changes, by: author, access, before: size, at: seconds, db)
            let bin = try BinWriter(
                db, of: app, by: author, isLimited: access != .full, isIrreversible: terms.isIrreversible,
                in: terms.group, at: seconds, space.bounds)
            let save = try BookSave(
                db, contacts,
                Linking(db, maker.normalizer, links, isEvidence: isEvidence, bin), maker, ahead, by: author, access,
                keeping: terms.kept, at: seconds, perChange: space.bounds.change, bin)
            for (index, change) in changes.enumerated() { try save.apply(change, index) }
            let links = try save.finish()
            if try bin?.finish(save.changes, &binSpace) == true { leavesText = true }
            // A save that changes nothing needs no outbox entry.
            if let entry, db.totalChangesCount > written { try write(entry) }
            if let group = terms.takesBackAll { try BinRows(db: db).noteTakenBack(group, by: author.app) }
            try space.check(save.use, by: author, access, before: size, at: seconds, db)
            return (save.changes, links)
        }
        return made
    }

    /// Whether the write-ahead log has reached its bound and must be checkpointed.
    var isLogLong: Bool { file.logSize >= space.bounds.log }

    // MARK: The outbox

    /// Runs in the save's transaction, so the book has both the entry and the changes, or neither.
    func write(_ entry: OutgoingEntry) throws {
        try database.statement("DELETE FROM outbox WHERE number <= ?").bind(1, entry.takenOver).run()
        try database.statement("INSERT INTO outbox (number, change, entry) VALUES (?, ?, ?)")
            .bind(1, entry.number).bind(2, database.lastChange()).bind(3, entry.bytes).run()
        try database.statement("UPDATE book SET auditSequence = ?, auditHash = ?")
            .bind(1, entry.anchor.sequence).bind(2, entry.anchor.hash).run()
    }

    /// Returns the entries in the order in which they were written.
    func outboxEntries() throws -> [OutboxEntry] {
        try PreparedStatement("SELECT number, change, entry FROM outbox ORDER BY number", on: database).all {
            OutboxEntry(number: $0.integer(0), change: $0.integer(1), bytes: $0.bytes(2))
        }
    }

    /// See ``ContactsStore/photographed(limit:)``.
    func photographed(limit: Int) throws -> [RecordNumber] {
        try PreparedStatement("SELECT record FROM photographed ORDER BY record LIMIT ?", on: database)
            .bind(1, Int64(limit)).all { RecordNumber($0.integer(0)) }
    }

    // MARK: Settings

    /// Reads the owner's preferences. Unreadable values get their defaults.
    func settings() throws(StoreError) -> BookSettings {
        var settings = BookSettings()
        let row = try PreparedStatement(
            "SELECT sortOrder, displayOrder, countryCode, language FROM book", on: database)
        guard try row.step() else { return settings }
        let order = { (column: Int32) in
            row.integerOrNil(column).flatMap(UInt8.init(exactly:)).flatMap(ContactOrder.init)
        }
        settings.sortOrder = order(0) ?? settings.sortOrder
        settings.displayOrder = order(1) ?? settings.displayOrder
        settings.countryCode = row.textOrNil(2) ?? settings.countryCode
        settings.language = row.textOrNil(3) ?? settings.language
        return settings
    }

    func set(_ settings: BookSettings) throws {
        try transaction { db in
            if settings.sortOrder != ordering {
                try ContactWriter(db, ordering: settings.sortOrder).remakeBeginnings()
            }
            try db.statement("UPDATE book SET sortOrder = ?, displayOrder = ?, countryCode = ?, language = ?")
                .bind(1, Int64(settings.sortOrder.rawValue)).bind(2, Int64(settings.displayOrder.rawValue))
                .bind(3, settings.countryCode).bind(4, settings.language).run()
        }
        ordering = settings.sortOrder
    }

    /// Releases the memory that saves used. The next save reads its pages from the file again.
    func releaseMemory() {
        maker.releaseMemory()
        otherMaker.releaseMemory()
        database.releaseMemory()
    }

    func transaction<Result>(_ body: (Database) throws -> Result) throws -> Result {
        // A save to an unlinked file would be acknowledged and then lost.
        guard file.identity() == identity else { throw StoreError.unavailable(reason: "the file was replaced") }
        return try database.write(body)
    }
}
