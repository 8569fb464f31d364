import BrokerBounds
import BrokerModel
import BrokerNormalization
import BrokerSQLite
import CBrokerLinux
import Synchronization

/// One user's book: a folder with an SQLite database.
///
/// The event loop reads through one connection, and the user's queue writes through another. SQLite's
/// write-ahead log lets both work at once, so a save never blocks a read. A third connection serves long
/// reads. Each connection serves one call at a time.
public final class ContactsStore: Sendable {
    let reader: Mutex<BookReader?>
    let writer: Mutex<BookWriter?>
    /// For reads that are too long for the event loop; see ``ReadingManner/onWorker``.
    let longReads: LongReader
    let kept: Mutex<Kept>
    let saves: SaveCount
    private let lists: KeptLists
    private let visibleLinks = VisibleLinks()
    let stepsOnLoop: Int

    /// Values that are cached because they are read often.
    struct Kept {
        var settings: BookSettings
        var lastChange: Int64
        /// The number of contacts in the book. Before ``prepare()``, the number added since the book was
        /// opened, minus the number deleted.
        var size: Int
        var isSizeKnown = false
        var links: BookLinks
        /// The order whose name beginnings are indexed; `nil` while that order changes.
        var beginnings: ContactOrder?
        var effort = SearchEffort()
        /// The locale whose alphabet determines the order now.
        var locale: String
        /// Whether text has left the bin since the last checkpoint.
        var leavesText = false

        /// Notes a save and the links after it.
        mutating func note(_ made: [BookChange], _ links: BookLinks) {
            guard let last = made.last else { return }
            lastChange = last.number
            size += made.count { $0.kind == .addContact } - made.count { $0.kind == .deleteContact }
            self.links = links
        }
    }

    private init(
        reader: sending BookReader, writer: sending BookWriter, longReads: LongReader,
        kept: sending Kept, saves: SaveCount, lists: KeptLists, stepsOnLoop: Int
    ) {
        self.longReads = longReads
        self.stepsOnLoop = stepsOnLoop
        self.reader = Mutex(reader)
        self.writer = Mutex(writer)
        self.kept = Mutex(kept)
        self.saves = saves
        self.lists = lists
    }

    deinit { close() }

    /// Opens the book or creates it. Returns `nil` if there is no book and `creating` is false. Do not call
    /// this on the event loop.
    ///
    /// Leaves a rejected file unchanged.
    ///
    /// - Parameters:
    ///   - folder: the user's folder. The folder gets mode 0700 and the database file 0600; the umask has no
    ///     effect.
    ///   - locale: the locale whose alphabet determines the sort order (`de_DE`) unless the owner set a language; `""`
    ///     selects the root collation. If the book has another order, ``prepare()`` sorts it again.
    ///   - region: the region of phone numbers without a country code (`DE`); `""` if unknown.
    ///   - stepsOnLoop: the maximum number of SQLite virtual machine steps in a ``ReadingManner/bounded``
    ///     read; 0 disables such reads.
    ///   - timeOnLoop: the maximum duration of such a read, in nanoseconds.
    ///   - space: the limits on the size of the book.
    ///   - onDamage: called on any thread when reads find damaged cards, at most once a minute.
    public static func open(
        folder: String, owner: StoreOwner, creating: Bool, locale: String = "", region: String = "",
        stepsOnLoop: Int = 24_000, timeOnLoop: Int64 = .max, space: SpaceBounds = SpaceBounds(),
        onDamage: @escaping @Sendable (DamagedCard) -> Void
    ) throws(StoreError) -> ContactsStore? {
        let forms = { @Sendable () throws(StoreError) -> sending Normalizer in
            guard let forms = Normalizer(locale: locale, region: region) else {
                throw .unavailable(reason: "ICU's data are missing")
            }
            return forms
        }
        let (readerForms, writerForms) = (try forms(), try forms())
        let file = BookFile(folder: folder)
        if try !file.isBook() {
            guard creating else { return nil }
            try file.create(owner: owner, forms: writerForms.version)
        } else {
            try BookConnection.check(file, owner: owner)
        }
        try file.tighten()
        let writer = try BookWriter(
            database: BookConnection.writing(file), file: file, normalizer: writerForms,
            otherMaker: ContactsAhead.Maker(region: region),
            space: space)
        do {
            try writer.prepare()
            let saves = SaveCount()
            let lists = KeptLists()
            let damagedCards = DamagedCards(report: onDamage)
            let reader = BookReader(
                database: try BookConnection.reading(file), normalizer: readerForms, saves: saves, lists: lists,
                bound: ReadBound(most: stepsOnLoop, longest: timeOnLoop), damagedCards: damagedCards)
            let longReads = LongReader { bound throws(StoreError) in
                BookReader(
                    database: try BookConnection.reading(file, cache: BookConnection.longReadingCache),
                    normalizer: try forms(), saves: saves, lists: lists, bound: bound, damagedCards: damagedCards)
            }
            let settings = try writer.settings()
            let kept = Kept(
                settings: settings, lastChange: try writer.database.lastChange(), size: 0, links: writer.links,
                beginnings: settings.sortOrder, locale: writer.locale)
            return ContactsStore(
                reader: reader, writer: writer, longReads: longReads, kept: kept, saves: saves,
                lists: lists, stepsOnLoop: stepsOnLoop)
        } catch {
            writer.close()
            throw StoreError(error)
        }
    }

    /// Loads the data for normalization before the first search or save in any book needs them. This takes
    /// about 100 ms. Do not call this on the event loop.
    public static func prepareForms() { Normalizer.prepare() }

    /// Counts the contacts, then checkpoints the write-ahead log. Afterwards, ``count(_:_:)`` returns the
    /// size of the whole book without reading it, and ``search(_:_:)`` rejects a bounded search of a large
    /// book before it begins. Call this on the user's queue.
    public func prepare() {
        // Without the count, searches and counts are slower but still correct.
        guard let size = try? write({ try $0.database.integer(ReadSQL.countAll) }) else { return }
        kept.withLock {
            $0.size = Int(size)
            $0.isSizeKnown = true
        }
        // If the order cannot be changed now, it stays until the book is opened again.
        try? useLanguage()
        try? checkpoint()
        // Counting has read every page of an index into memory.
        releaseMemory()
    }

    /// The number of contacts.
    var size: Int { kept.withLock { $0.size } }

    /// Forces a query plan, for tests.
    func setEffort(_ effort: SearchEffort) { kept.withLock { $0.effort = effort } }

    /// Passes the contacts that match a query to `body`, in order. `body` runs after the read, so it may be
    /// slow.
    public func fetch(
        _ query: ContactQuery, _ body: (RecordNumber, StoredContact, ContactImages?) -> Void
    ) throws(StoreError) -> FetchEnd {
        let (rows, end) = try fetch(unified: query)
        for row in rows { body(row.record, row.contact, row.images) }
        return end
    }

    /// Returns the contacts that match a query, in order, each with the contacts unified with it
    /// (``ContactQuery/unifies``).
    public func fetch(
        unified query: ContactQuery, _ manner: ReadingManner = .whole
    ) throws(StoreError) -> (rows: [FetchedContact], end: FetchEnd) {
        let isLong = manner == .bounded && query.isLong(size: size)
        if manner == .bounded, stepsOnLoop == 0 || isLong && !isKept(query) { throw .takesLong }
        let links = links(for: query)
        let page = try read(manner) { reader in
            // Read under the reader's lock, because ``set(_:)`` clears `beginnings` under the same lock
            // before it changes the order.
            let known = kept.withLock {
                KnownOfBook(links: links, beginnings: $0.beginnings, effort: $0.effort, mayNotSort: isLong)
            }
            return try reader.fetch(query, known)
        }
        return (page.rows, FetchEnd(last: page.last, hasMore: page.hasMore))
    }

    /// Whether the query's sorted contacts are cached.
    private func isKept(_ query: ContactQuery) -> Bool {
        query.predicate == nil && lists.has(query.keptSubject(query.scope), query.order)
    }

    /// Takes a snapshot of the book. All following reads on the event loop's connection share it, until
    /// ``release()`` or the next save. SQLite locks the database once for all of them. A read always includes
    /// everything that was saved before it began.
    ///
    /// A checkpoint waits for the release and fails if it waits too long, so call ``release()`` soon. No
    /// snapshot is taken during a checkpoint.
    ///
    /// - Returns: whether a new snapshot was taken. If so, call ``release()`` later.
    public func holdSnapshot() throws(StoreError) -> Bool {
        try read { try $0.holdSnapshot() }
    }

    /// Ends the snapshot that ``holdSnapshot()`` took.
    public func release() { reader.withLock { $0?.release() } }

    /// Returns the total number of contacts that match a query. Ignores the query's cursor, limits and
    /// images.
    public func count(_ query: ContactQuery, _ manner: ReadingManner = .whole) throws(StoreError) -> Int {
        let links = links(for: query)
        let size = kept.withLock { $0.isSizeKnown ? $0.size : nil }
        // ``apply(_:by:at:isEvidence:access:terms:of:outbox:)`` updates the size before it returns.
        if query.scope == .all, query.predicate == nil, let size { return size - (links?.followers ?? 0) }
        if manner == .bounded, stepsOnLoop == 0 || query.isLong(size: 0) { throw .takesLong }
        return try read(manner) { try $0.count(query, links) }
    }

    /// Applies all changes in order, or none, and syncs them. Then checkpoints the write-ahead log if the log
    /// has reached its bound. Do not call this on the event loop.
    ///
    /// - Parameters:
    ///   - isEvidence: whether the new content may link cards. Only true if the author sees every card
    ///     completely.
    ///   - access: determines which limits on space apply to the save.
    ///   - app: who makes the save, for the bin.
    ///   - entry: the outbox entry, which is stored in the same transaction unless the changes have no
    ///     effect.
    /// - Returns: the new entries of the change history.
    @discardableResult
    public func apply(
        _ changes: [ContactChange], by author: ChangeAuthor = .nobody, at seconds: Int64, isEvidence: Bool = false,
        access: AuthorAccess = .full, terms: SaveTerms = SaveTerms(), of app: SaveAuthor = .person,
        outbox entry: OutgoingEntry? = nil
    ) throws(ChangeError) -> [BookChange] {
        try note { writer in
            try writer.apply(
                changes, by: author, at: seconds, isEvidence: isEvidence, access: access, terms: terms, of: app,
                outbox: entry)
        } changes: {
            $0
        }
    }

    /// Makes a save, and takes over its result in the cache.
    func note<Result: Sendable>(
        _ save: (BookWriter) throws -> Result, changes: (Result) -> [BookChange]
    ) throws(ChangeError) -> Result {
        let (made, links, isLogLong, leavesText) = try change { writer in
            writer.leavesText = false
            return (try save(writer), writer.links, writer.isLogLong, writer.leavesText)
        }
        kept.withLock {
            $0.note(changes(made), links)
            if leavesText { $0.leavesText = true }
        }
        // A failed checkpoint does not undo the save. The next save retries the checkpoint.
        if isLogLong { try? checkpoint() }
        return made
    }

    /// Returns the entries of the outbox in order. Do not call this on the event loop.
    public func outbox() throws(StoreError) -> [OutboxEntry] {
        try write { try $0.outboxEntries() }
    }

    /// The number of the book's last change, from the cache; 0 if there is none.
    public var lastChange: Int64 { kept.withLock { $0.lastChange } }

    /// Returns the links that unify the contacts of a query; `nil` if each card is its own contact.
    private func links(for query: ContactQuery) -> ContactLinks? {
        guard query.unifies else { return nil }
        let links = links(seeing: query.matchKeys, within: query.scope)
        return links.isEmpty ? nil : links
    }

    /// The links between cards as the person sees them, from the cache.
    public var links: ContactLinks { kept.withLock { $0.links.all } }

    /// Returns the links between cards as a reader of these keys sees them, from the cache. The links of a
    /// restricted scope contain only its cards.
    public func links(seeing keys: ContactKeySet, within scope: RecordScope) -> ContactLinks {
        let all = kept.withLock { $0.links.seeing(keys) }
        guard case .only(let records) = scope else { return all }
        return visibleLinks.links(all, within: records)
    }

    /// Returns the links as ``links(seeing:within:)`` does for all cards, and the number of the last change that they include.
    public func linksAtLastChange(seeing keys: ContactKeySet) -> (links: ContactLinks, change: Int64) {
        kept.withLock { ($0.links.seeing(keys), $0.lastChange) }
    }

    /// Checkpoints and truncates the write-ahead log, which removes deleted and replaced text from the log.
    /// Do not call this on the event loop.
    public func checkpoint() throws(StoreError) {
        saves.beginCheckpoint()
        defer { saves.endCheckpoint() }
        try longReads.pause { () throws(StoreError) in
            // What leaves the bin meanwhile needs another checkpoint.
            kept.withLock { $0.leavesText = false }
            do throws(StoreError) {
                try write { try $0.database.checkpoint() }
            } catch {
                kept.withLock { $0.leavesText = true }
                throw error
            }
        }
    }

    /// Releases the memory that saves and long reads use. Do not call this on the event loop.
    public func releaseMemory() {
        writer.withLock { $0?.releaseMemory() }
        longReads.releaseMemory()
        lists.releaseMemory()
        // The memory that SQLite frees lies in the middle of the heap, so the allocator keeps it. Without
        // this call, an idle broker keeps 97 MB instead of 36 MB after an import.
        clinux_return_memory()
    }

    /// Releases the memory that long reads use. Do not call this on the event loop.
    public func releaseReadMemory() {
        longReads.releaseMemory()
        lists.releaseMemory()
        clinux_return_memory()
    }

    /// Deletes a user's folder and the files in it. Does nothing if the folder does not exist. Do not call
    /// this on the event loop.
    public static func remove(folder: String) throws(StoreError) { try BookFile(folder: folder).remove() }

    /// Closes all connections to the book. Every later call that needs one throws
    /// ``StoreError/closed``.
    public func close() {
        longReads.close()
        reader.withLock {
            $0?.close()
            $0 = nil
        }
        // SQLite checkpoints the log when the last connection closes.
        writer.withLock {
            $0?.close()
            $0 = nil
        }
    }

    func write<Result: Sendable>(_ body: (BookWriter) throws -> Result) throws(StoreError) -> Result {
        try writer.withLock { writer throws(StoreError) in
            guard let writer else { throw .closed }
            defer { saves.add() }
            do { return try body(writer) } catch { throw StoreError(error) }
        }
    }

    /// The same for a change that can be refused.
    func change<Result: Sendable>(_ body: (BookWriter) throws -> Result) throws(ChangeError) -> Result {
        try writer.withLock { writer throws(ChangeError) in
            guard let writer else { throw .store(.closed) }
            defer { saves.add() }
            do {
                return try body(writer)
            } catch let error as ChangeError {
                throw error
            } catch {
                throw .store(StoreError(error))
            }
        }
    }

    func read<Result: Sendable>(
        _ manner: ReadingManner = .whole, _ body: (BookReader) throws -> Result
    ) throws(StoreError) -> Result {
        if manner == .onWorker { return try longReads.read(body) }
        return try reader.withLock { reader throws(StoreError) in
            guard let reader else { throw .closed }
            try reader.begin(isBounded: manner == .bounded)
            do { return try body(reader) } catch { throw reader.endFailed(error) }
        }
    }
}
