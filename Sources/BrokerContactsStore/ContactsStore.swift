import BrokerModel
import BrokerNormalization
import BrokerSQLite
import CBrokerLinux
import Synchronization

/// One user's book: a folder with an SQLite database.
///
/// It has a connection for reading and one for writing over one write-ahead log, so that a save never keeps a read
/// waiting. Reads are for the loop and are bounded by what they ask for; writes are for the user's own queue. Each
/// connection serves one call at a time.
public final class ContactsStore: Sendable {
    private let reader: Mutex<BookReader?>
    private let writer: Mutex<BookWriter?>
    /// What is too long for the loop, see ``ReadingManner/beside``.
    let longReads: LongReader
    private let otherMaker: ContactsAhead.Maker
    private let kept: Mutex<Kept>
    private let saves: SaveCount
    private let lists: KeptLists
    let stepsOnLoop: Int

    /// What is asked for so often that it is kept in memory.
    private struct Kept {
        var settings: BookSettings
        var lastChange: Int64
        /// Contacts in the book; until ``prepare()`` those that were added since it was opened.
        var size: Int
        var isSizeKnown = false
        var links: BookLinks
        /// The order in which searches by the beginning of a name are quick; `nil` while it changes.
        var beginnings: ContactOrder?
        var effort = SearchEffort()
    }

    private init(
        reader: sending BookReader, writer: sending BookWriter, longReads: LongReader,
        otherMaker: ContactsAhead.Maker, kept: sending Kept, saves: SaveCount, lists: KeptLists, stepsOnLoop: Int
    ) {
        self.longReads = longReads
        self.otherMaker = otherMaker
        self.stepsOnLoop = stepsOnLoop
        self.reader = Mutex(reader)
        self.writer = Mutex(writer)
        self.kept = Mutex(kept)
        self.saves = saves
        self.lists = lists
    }

    deinit { close() }

    /// Opens the book, or makes it. `nil`: there is none and it was not to be made. Not for the loop.
    ///
    /// A file that is refused is left as it was.
    ///
    /// - Parameters:
    ///   - folder: the user's own; it is made with mode 0700, the file in it with 0600, whatever the umask.
    ///   - locale: whose alphabet decides the order (`de_DE`); `""` is the order that suits most.
    ///   - region: where phone numbers are dialled that are written without a country (`DE`); `""` is not known.
    ///   - stepsOnLoop: of SQLite's machine, that a ``ReadingManner/bounded`` read may take; 0: there is none that short.
    ///   - timeOnLoop: nanoseconds that it may take.
    ///   - onDamage: called from any thread when a read came across a damaged card: at once, and then once a minute at most.
    public static func open(
        folder: String, owner: StoreOwner, creating: Bool, locale: String = "", region: String = "",
        stepsOnLoop: Int = 24_000, timeOnLoop: Int64 = .max,
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
        let otherMaker = ContactsAhead.Maker(locale: locale, region: region)
        let writer = try BookWriter(
            database: BookConnection.writing(file), file: file, normalizer: writerForms, otherMaker: otherMaker)
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
                beginnings: settings.sortOrder)
            return ContactsStore(
                reader: reader, writer: writer, longReads: longReads, otherMaker: otherMaker, kept: kept, saves: saves,
                lists: lists, stepsOnLoop: stepsOnLoop)
        } catch {
            writer.close()
            throw StoreError(error)
        }
    }

    /// Reads what the first search or save in any book would otherwise wait for, some 100 ms. From any thread but the loop's.
    public static func prepareForms() { Normalizer.prepare() }

    /// Reads what makes searches quick. To be called where the book is written. Not for the loop.
    public func prepare() {
        // Without it searches are slower and no less right.
        guard let size = try? write({ try $0.database.integer(ReadSQL.countAll) }) else { return }
        kept.withLock {
            $0.size = Int(size)
            $0.isSizeKnown = true
        }
        try? checkpoint()
        // Counting has read every page of an index.
        rest()
    }

    /// How many contacts there are.
    var size: Int { kept.withLock { $0.size } }

    /// Has searches take other ways than they would.
    func setEffort(_ effort: SearchEffort) { kept.withLock { $0.effort = effort } }

    /// Gives the contacts of a query in its order. `body` is called after the read: it may take its time.
    public func fetch(
        _ query: ContactQuery, _ body: (RecordNumber, StoredContact, ContactImages?) -> Void
    ) throws(StoreError) -> FetchEnd {
        let (rows, end) = try fetch(unified: query)
        for row in rows { body(row.record, row.contact, row.images) }
        return end
    }

    /// The same, each contact with those that are one with it (``ContactQuery/unifies``).
    public func fetch(
        unified query: ContactQuery, _ manner: ReadingManner = .whole
    ) throws(StoreError) -> (rows: [FetchedContact], end: FetchEnd) {
        let isLong = manner == .bounded && query.isLong(size: size)
        if manner == .bounded, stepsOnLoop == 0 || isLong && !isKept(query) { throw .takesLong }
        let page = try read(manner) { reader in
            // Under the reader's lock: these are as the book is that is read.
            let known = kept.withLock {
                KnownOfBook(
                    links: Self.links($0, query), beginnings: $0.beginnings, effort: $0.effort, mayNotSort: isLong)
            }
            return try reader.fetch(query, known)
        }
        return (page.rows, FetchEnd(last: page.last, hasMore: page.hasMore))
    }

    /// Whether the query's contacts were put in order before.
    private func isKept(_ query: ContactQuery) -> Bool {
        query.predicate == nil && lists.has(query.keptSubject(query.scope), query.order)
    }

    /// Lets the reads that follow see one state of the book and take its lock once, until ``release()``, or until
    /// something is saved: what was saved before a read begins is part of its answer, as ever.
    ///
    /// A checkpoint waits for the release, so it must come soon. While one waits, nothing is held.
    ///
    /// - Returns: whether the state was not held before, and is to be released.
    public func hold() throws(StoreError) -> Bool {
        try read { try $0.hold() }
    }

    /// Ends what ``hold()`` began.
    public func release() { reader.withLock { $0?.release() } }

    /// How many contacts a query has in all; place, limits and images mean nothing.
    public func count(_ query: ContactQuery, _ manner: ReadingManner = .whole) throws(StoreError) -> Int {
        let (links, size) = kept.withLock { (Self.links($0, query), $0.isSizeKnown ? $0.size : nil) }
        // What was saved is counted before anybody is told that it was.
        if query.scope == .all, query.predicate == nil, let size { return size - (links?.followers ?? 0) }
        if manner == .bounded, stepsOnLoop == 0 || query.isLong(size: 0) { throw .takesLong }
        return try read(manner) { try $0.count(query, links) }
    }

    /// What the person's agent shows: contacts of which every word typed begins a word of the names, nickname,
    /// organisation or an e-mail address, or is part of a phone number. A text without words finds everybody.
    public func search(_ search: PersonSearch, _ manner: ReadingManner = .whole) throws(StoreError) -> PersonFound {
        // Everybody who is found is counted.
        let isLong = size > ContactQuery.mostOnLoop
        if manner == .bounded, isLong || stepsOnLoop == 0 { throw .takesLong }
        return try read(manner) { try $0.search(search) }
    }

    /// Bytes that the photos of these records would take in a reply: found without reading them, and beside the loop.
    public func photoSize(of records: Set<RecordNumber>, _ keys: ContactKeySet) throws(StoreError) -> Int {
        if keys.isDisjoint(with: .images) { return 0 }
        return try read(.beside) { try $0.photoSize(of: records, keys) }
    }

    /// Which of these records are there.
    public func existing(_ records: some Sequence<RecordNumber>) throws(StoreError) -> Set<RecordNumber> {
        try read { reader in
            try reader.inOneRead { try Set(records.filter { try reader.exists($0.rawValue) }) }
        }
    }

    /// Makes all changes in their order, or none, and returns once they are on the disk. Not for the loop.
    ///
    /// - Parameters:
    ///   - isEvidence: what is written may link cards: it comes from somebody who sees all of each card.
    ///   - entry: goes into the outbox with the changes, if they change anything.
    ///   - ready: of the same changes, where that was begun. It serves one save, in the second that it was made for; without it, and
    ///     in any other, they are made now.
    /// - Returns: what has become history with it.
    @discardableResult
    public func apply(
        _ changes: [ContactChange], by author: ChangeAuthor = .nobody, at seconds: Int64, isEvidence: Bool = false,
        telling entry: OutgoingEntry? = nil, ready: ReadyContacts? = nil
    ) throws(ChangeError) -> [BookChange] {
        let (made, links) = try writer.withLock { writer throws(ChangeError) in
            guard let writer else { throw .store(Self.closed) }
            defer { saves.add() }
            return (
                try writer.apply(
                    changes, by: author, at: seconds, isEvidence: isEvidence, telling: entry, ready: ready),
                writer.links
            )
        }
        if let last = made.last {
            let added = made.count { $0.kind == .addContact } - made.count { $0.kind == .deleteContact }
            kept.withLock {
                $0.lastChange = last.number
                $0.size += added
                $0.links = links
            }
        }
        return made
    }

    /// Begins to make the contacts ready that the changes add, on another thread. For the loop: it waits for nothing.
    ///
    /// It takes memory as the contacts do, several times over: for the next save of a user and no others.
    ///
    /// - Returns: what ``apply(_:by:at:isEvidence:telling:ready:)`` takes; `nil` where there are too few for that.
    public func makeReady(_ changes: [ContactChange], at seconds: Int64) -> ReadyContacts? {
        ContactsAhead(changes, at: seconds, otherMaker).map { ReadyContacts($0, at: seconds) }
    }

    /// What is in the outbox, in the order in which it was put there. Not for the loop.
    public func outbox() throws(StoreError) -> [OutboxEntry] {
        try write { try $0.outboxEntries() }
    }

    /// The number of the book's last change, from memory; 0 where there was none.
    public var lastChange: Int64 { kept.withLock { $0.lastChange } }

    private static func links(_ kept: Kept, _ query: ContactQuery) -> ContactLinks? {
        guard query.unifies else { return nil }
        let links = kept.links.seeing(query.matchKeys)
        return links.isEmpty ? nil : links
    }

    /// Which cards are linked, for the person, from memory.
    public var links: ContactLinks { kept.withLock { $0.links.all } }

    /// Which cards are linked for who may read these keys, from memory.
    public func links(seeing keys: ContactKeySet) -> ContactLinks { kept.withLock { $0.links.seeing(keys) } }

    /// The same, and the number of the last change by which they are so.
    public func linksAtLastChange(seeing keys: ContactKeySet) -> (links: ContactLinks, change: Int64) {
        kept.withLock { ($0.links.seeing(keys), $0.lastChange) }
    }

    /// What the owner prefers, from memory.
    public var settings: BookSettings { kept.withLock { $0.settings } }

    /// Writes down what the owner prefers, and returns once it is on the disk. Not for the loop.
    public func set(_ settings: BookSettings) throws(StoreError) {
        // With the readers' locks: a read that has begun is over before beginnings change.
        let former = longReads.between {
            reader.withLock { _ in
                kept.withLock { kept in
                    defer { if kept.beginnings != settings.sortOrder { kept.beginnings = nil } }
                    return kept.beginnings
                }
            }
        }
        do throws(StoreError) {
            try write { try $0.set(settings) }
        } catch {
            kept.withLock { $0.beginnings = former }
            throw error
        }
        kept.withLock {
            $0.settings = settings
            $0.beginnings = settings.sortOrder
        }
    }

    /// Empties the write-ahead log, so that deleted and edited text is in no file any more. Not for the loop.
    public func checkpoint() throws(StoreError) {
        saves.beginCheckpoint()
        defer { saves.endCheckpoint() }
        try longReads.pause { () throws(StoreError) in
            try write { try $0.database.checkpoint() }
        }
    }

    /// Gives back the memory that saves have taken; the next one takes it anew. Not for the loop.
    public func rest() {
        writer.withLock { $0?.rest() }
        longReads.rest()
        lists.rest()
        // What SQLite freed lies in the middle of the heap: without this an idle broker keeps 97 MB of an import, not 36.
        clinux_return_memory()
    }

    /// Gives back the memory that long reads have taken. Not for the loop.
    public func restReads() {
        longReads.rest()
        lists.rest()
        clinux_return_memory()
    }

    /// Removes a user's folder with the book in it and whatever else lies there, for good. None is as good as removed. Not
    /// for the loop.
    public static func remove(folder: String) throws(StoreError) { try BookFile(folder: folder).remove() }

    /// Closes the files. Every later call is ``StoreError/unavailable(reason:)``.
    public func close() {
        longReads.close()
        reader.withLock {
            $0?.close()
            $0 = nil
        }
        // The last connection to close empties the log into the file.
        writer.withLock {
            $0?.close()
            $0 = nil
        }
    }

    static let closed = StoreError.unavailable(reason: "the book was closed")

    func write<Result: Sendable>(_ body: (BookWriter) throws -> Result) throws(StoreError) -> Result {
        try writer.withLock { writer throws(StoreError) in
            guard let writer else { throw Self.closed }
            defer { saves.add() }
            do {
                return try body(writer)
            } catch {
                throw StoreError(error)
            }
        }
    }

    func read<Result: Sendable>(
        _ manner: ReadingManner = .whole, _ body: (BookReader) throws -> Result
    ) throws(StoreError) -> Result {
        if manner == .beside { return try longReads.read(body) }
        return try reader.withLock { reader throws(StoreError) in
            guard let reader else { throw Self.closed }
            try reader.begin(isBounded: manner == .bounded)
            do { return try body(reader) } catch { throw reader.endFailed(error) }
        }
    }
}
