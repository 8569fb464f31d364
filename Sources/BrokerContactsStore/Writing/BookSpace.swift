import BrokerModel
import BrokerSQLite

/// What a save adds: a function of what its author writes and sees.
struct SpaceUse {
    /// The bytes that it adds, less those that it removes.
    private(set) var growth: Int64 = 0
    /// Whether it does more than remove. Even a shorter text may have more words, and so larger search tables.
    private(set) var adds = false
    private let bytesPerChange: Int64

    init(bytesPerChange: Int64) { self.bytesPerChange = bytesPerChange }

    /// - Parameters:
    ///   - bytes: of the new content.
    ///   - removed: of the content that it replaces.
    mutating func add(_ bytes: Int = 0, removing removed: Int = 0) {
        adds = true
        growth += bytesPerChange + Int64(bytes - removed)
    }

    mutating func remove(_ bytes: Int) { growth -= Int64(bytes) }
}

/// Refuses saves that need more space than ``SpaceBounds`` allow. The writing connection owns it.
///
/// What it tells an app without full access must not reveal anything about contacts that the app cannot see:
/// - The app's own allowance counts what the app wrote and removed of the values that it sees. Hidden values, and how
///   SQLite stores them, have no effect.
/// - The size of the whole book does depend on hidden contacts. So for such an app the book is full at a random point
///   in the last sixteenth of the bound, and once one of them found it full, none can try again for a while.
struct BookSpace {
    private let bounds: SpaceBounds
    /// How far below the bound the book is full for apps without full access. It changes with each refusal.
    private var reserve: Int64
    /// When an app without full access last found the book full, in seconds since 1970.
    private var refusedAt: Int64?

    init(_ bounds: SpaceBounds) {
        self.bounds = bounds
        reserve = Self.reserve(bounds)
    }

    private static func reserve(_ bounds: SpaceBounds) -> Int64 { .random(in: 0...max(0, bounds.book / 16)) }

    /// Checks a save after its changes and within its transaction, which is rolled back if this throws. A save that
    /// only removes is always allowed, so that a full book can be emptied.
    ///
    /// - Parameter before: the bytes in use before the save.
    mutating func check(
        _ use: SpaceUse, by author: ChangeAuthor, _ access: AuthorAccess, before: Int64, at seconds: Int64,
        _ db: Database
    ) throws {
        let size = try db.bytesInUse()
        let enlarges = use.adds && (use.growth > 0 || size > before)
        switch access {
        case .full:
            guard enlarges, size > bounds.book else { return }
            throw ChangeError.bookFull(size: size, most: bounds.book)
        case .limited:
            try charge(use.growth, to: author.app, at: seconds, db)
            let isPaused = refusedAt.map { (0..<bounds.pause).contains(seconds - $0) } ?? false
            guard isPaused ? use.adds : enlarges && size > bounds.book - reserve else { return }
            if !isPaused {
                refusedAt = seconds
                reserve = Self.reserve(bounds)
            }
            throw ChangeError.bookFull(size: nil, most: bounds.book)
        }
    }

    /// Adds the growth to what the app has used of its allowance. That falls evenly with time.
    private func charge(_ growth: Int64, to app: [UInt8], at seconds: Int64, _ db: Database) throws {
        guard growth != 0 else { return }
        let select = try db.statement("SELECT used, time FROM allowance WHERE app = ?")
        let former = try select.bind(1, app).first { (used: $0.integer(0), time: $0.integer(1)) }
        // The clock may have been set back.
        let elapsed = former.map { min(max(0, seconds - $0.time), bounds.refillTime) } ?? 0
        let refill = Int64(Double(elapsed) / Double(bounds.refillTime) * Double(bounds.app))
        let used = max(0, (former?.used ?? 0) - refill) + growth
        guard growth < 0 || used <= bounds.app else { throw ChangeError.allowanceUsed(most: bounds.app) }
        if former == nil {
            // Allowances that are available in full need no row.
            try db.statement("DELETE FROM allowance WHERE time <= ?").bind(1, seconds - bounds.refillTime).run()
        }
        // Without a refill the time stays, or many small saves would stop the refill.
        let time = refill > 0 ? seconds : former?.time ?? seconds
        try db.statement("INSERT OR REPLACE INTO allowance (app, used, time) VALUES (?, ?, ?)")
            .bind(1, app).bind(2, max(0, used)).bind(3, time).run()
    }
}

extension Connection<StoreError> {
    /// The bytes in use in the file, with the changes of the open transaction. Free pages do not count: later saves
    /// use them.
    func bytesInUse() throws(StoreError) -> Int64 {
        let number = { (name: String) throws(StoreError) in
            try self.statement("PRAGMA \(name)").first { $0.integer(0) } ?? 0
        }
        return try max(0, number("page_count") - number("freelist_count")) * number("page_size")
    }
}

/// The size of a book, for the status.
public enum BookSize {
    /// Returns the bytes in use in the file of a user's book; `nil` if there is no book. It may be open meanwhile. Reads
    /// a file, so not for the event loop.
    ///
    /// - Parameter folder: the user's folder.
    public static func read(folder: String) throws(StoreError) -> Int64? {
        let file = BookFile(folder: folder)
        guard try file.isBook() else { return nil }
        return try BookConnection.reading(file).bytesInUse()
    }
}
