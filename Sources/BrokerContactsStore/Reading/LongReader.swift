import BrokerNormalization
import Synchronization

/// The connection for reads that are too long for the loop: they keep neither the loop nor a save waiting, and see the book as
/// it was when they began. It is opened when it is first needed.
final class LongReader: Sendable {
    private let file: BookFile
    private let locale: String
    private let region: String
    private let saves: SaveCount
    private let lists: KeptLists
    private let bound = ReadBound()
    private let damagedCards: DamagedCards
    private let reader: Mutex<BookReader?>
    /// Held while the log is emptied: that waits for reads to end, and others must not begin meanwhile.
    private let beginning = Mutex(())

    /// KiB. Room for what leads to the rows of a million contacts, which are looked up in no order; given back soon.
    private static let cache = 16_384

    init(
        file: BookFile, locale: String, region: String, saves: SaveCount, lists: KeptLists,
        damagedCards: DamagedCards
    ) {
        self.file = file
        self.locale = locale
        self.region = region
        self.saves = saves
        self.lists = lists
        self.damagedCards = damagedCards
        reader = Mutex(nil)
    }

    func read<Result: Sendable>(_ body: (BookReader) throws(StoreError) -> Result) throws(StoreError) -> Result {
        beginning.withLock { _ in }
        do throws(StoreError) {
            return try reader.withLock { reader throws(StoreError) in
                guard !bound.isClosed else { throw ContactsStore.closed }
                if let reader { return try body(reader) }
                let new = try makeReader()
                // Kept also where the read fails: opening it was no part of that.
                defer { reader = new }
                return try body(new)
            }
        } catch {
            throw bound.isClosed ? ContactsStore.closed : error
        }
    }

    private func makeReader() throws(StoreError) -> BookReader {
        guard let normalizer = Normalizer(locale: locale, region: region) else {
            throw .unavailable(reason: "ICU's data are missing")
        }
        return BookReader(
            database: try BookConnection.reading(file, cache: Self.cache), normalizer: normalizer, saves: saves,
            lists: lists, bound: bound, damagedCards: damagedCards)
    }

    /// Runs while no read is on its way.
    func between<Result: Sendable>(_ body: () -> Result) -> Result { reader.withLock { _ in body() } }

    /// Lets the read that is on its way go on, and has others wait until `body` is done.
    func pause(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        try beginning.withLock { _ throws(StoreError) in try body() }
    }

    /// Gives back what it has, unless it is being used.
    func rest() {
        _ = reader.withLockIfAvailable {
            $0?.close()
            $0 = nil
        }
    }

    /// Ends the read that is on its way, and every later one.
    func close() {
        bound.close()
        reader.withLock {
            $0?.close()
            $0 = nil
        }
    }
}
