import BrokerBounds
import BrokerModel
import BrokerSQLite

/// What the author of a save may see. This determines which limits on space apply to the save.
public enum AuthorAccess: Hashable, Sendable {
    /// The author sees everything, as the person and the broker itself do. Only ``SpaceBounds/book``
    /// applies.
    case full
    /// The author sees only some contacts, or only these keys. The app's allowance, ``SpaceBounds/app``,
    /// applies too.
    case limited(seeing: ContactKeySet)
}

/// The space that a save needs. It depends only on values that the save's author writes or may see.
struct SpaceUse {
    /// The bytes that the save adds, minus the bytes that it removes.
    private(set) var growth: Int64 = 0
    /// Whether the save does anything other than remove. Even a shorter text counts as added, because it may
    /// have more words and therefore larger search tables.
    private(set) var adds = false
    private let bytesPerChange: Int64

    init(bytesPerChange: Int64) { self.bytesPerChange = bytesPerChange }

    /// - Parameters:
    ///   - bytes: the size of the new content.
    ///   - removed: the size of the content that it replaces.
    mutating func add(_ bytes: Int = 0, removing removed: Int = 0) {
        adds = true
        growth += bytesPerChange + Int64(bytes - removed)
    }

    mutating func remove(_ bytes: Int) { growth -= Int64(bytes) }
}

/// Refuses saves that need more space than ``SpaceBounds`` allows. ``BookWriter`` owns it.
///
/// A refusal must not tell an app without full access anything about contacts that the app cannot see:
/// - The app's allowance counts only values that the app writes or may see. Hidden values have no effect, and
///   neither does the size of SQLite's pages and indexes.
/// - The size of the whole book does depend on hidden contacts. For such an app, the book is therefore full
///   at a random point in the last sixteenth of the bound. When one such app finds the book full, none of
///   them can add anything for ``SpaceBounds/pause``.
struct BookSpace {
    let bounds: SpaceBounds
    /// For apps without full access, the book is full this many bytes below the bound. A new random value is
    /// chosen whenever such an app finds the book full.
    private var reserve: Int64
    /// When an app without full access last found the book full, in seconds since 1970.
    private var refusedAt: Int64?

    init(_ bounds: SpaceBounds) {
        self.bounds = bounds
        reserve = Self.reserve(bounds)
    }

    private static func reserve(_ bounds: SpaceBounds) -> Int64 { .random(in: 0...max(0, bounds.book / 16)) }

    /// Checks a save after it has made its changes, within its transaction. If this throws, the transaction
    /// is rolled back. A save that only removes is always allowed, because otherwise nobody could empty a
    /// full book.
    ///
    /// - Parameter before: the bytes in use before the save.
    mutating func check(
        _ use: SpaceUse, by author: ChangeAuthor, _ access: AuthorAccess, before: Int64, at seconds: Int64,
        _ db: Database
    ) throws {
        if case .limited = access { try charge(use.growth, to: author.app, at: seconds, db) }
        let size = try db.bytesInUse()
        try check(size, enlarges: use.adds && (use.growth > 0 || size > before), use, access, at: seconds)
    }

    /// Checks a save before it makes its changes. Refuses it if it only adds contacts, and the space that their
    /// photos need is already too much. ``check(_:by:_:before:at:_:)`` would refuse it too, but only after the
    /// photos are written, which delays other users.
    ///
    /// - Parameter before: the bytes in use before the save.
    mutating func checkPhotos(
        in changes: [ContactChange], by author: ChangeAuthor, _ access: AuthorAccess, before: Int64,
        at seconds: Int64, _ db: Database
    ) throws {
        var use = SpaceUse(bytesPerChange: bounds.change)
        var photos = 0
        for change in changes {
            guard case .add(_, let contact) = change else { return }
            use.add(contact.imageData.utf8.count)
            photos += contact.imageData.utf8.count
        }
        guard photos > 0 else { return }
        if case .limited = access { _ = try allowance(of: author.app, after: use.growth, at: seconds, db) }
        try check(before + Int64(photos), enlarges: true, use, access, at: seconds)
    }

    /// - Parameter size: the bytes in use after the save.
    private mutating func check(
        _ size: Int64, enlarges: Bool, _ use: SpaceUse, _ access: AuthorAccess, at seconds: Int64
    ) throws(ChangeError) {
        switch access {
        case .full:
            guard enlarges, size > bounds.book else { return }
            throw ChangeError.bookFull(size: size, most: bounds.book)
        case .limited:
            let isPaused = refusedAt.map { (0..<bounds.pause).contains(seconds - $0) } ?? false
            guard isPaused ? use.adds : enlarges && size > bounds.book - reserve else { return }
            if !isPaused {
                refusedAt = seconds
                reserve = Self.reserve(bounds)
            }
            throw ChangeError.bookFull(size: nil, most: bounds.book)
        }
    }

    /// Adds the growth to the used part of the app's allowance, a ``LeakyBucket`` in the table `allowance`.
    private func charge(_ growth: Int64, to app: [UInt8], at seconds: Int64, _ db: Database) throws {
        guard growth != 0 else { return }
        let (used, isNew) = try allowance(of: app, after: growth, at: seconds, db)
        if isNew {
            // A completely refilled allowance needs no row.
            try db.statement("DELETE FROM allowance WHERE time <= ?").bind(1, seconds - bounds.refillTime).run()
        }
        try db.statement("INSERT OR REPLACE INTO allowance (app, used, time) VALUES (?, ?, ?)")
            .bind(1, app).bind(2, used.level).bind(3, used.drainedAt).run()
    }

    /// Returns what the app has used of its allowance after it adds so many bytes, and whether it has no row.
    ///
    /// - Throws: ``ChangeError/allowanceUsed(most:)`` if it may not add them.
    private func allowance(
        of app: [UInt8], after growth: Int64, at seconds: Int64, _ db: Database
    ) throws -> (used: LeakyBucket, isNew: Bool) {
        let select = try db.statement("SELECT used, time FROM allowance WHERE app = ?")
        let former = try select.bind(1, app).first { LeakyBucket(level: $0.integer(0), at: $0.integer(1)) }
        let size = LeakyBucket.Size(amount: bounds.app, time: bounds.refillTime)
        var used = former ?? LeakyBucket(at: seconds)
        used.drain(size, now: seconds)
        used.add(growth)
        guard growth < 0 || used.wait(size) == 0 else { throw ChangeError.allowanceUsed(most: bounds.app) }
        return (used, former == nil)
    }
}

extension Connection<StoreError> {
    /// Returns the number of bytes in use in the file, including the changes of the open transaction. Free
    /// pages do not count, because later saves use them. Neither does the bin, which has bounds of its own.
    func bytesInUse() throws(StoreError) -> Int64 {
        let number = { (name: String) throws(StoreError) in
            try self.statement("PRAGMA \(name)").first { $0.integer(0) } ?? 0
        }
        let bin = try self.statement("SELECT sum(bytes) FROM bin").first { $0.integer(0) } ?? 0
        return try max(0, (number("page_count") - number("freelist_count")) * number("page_size") - bin)
    }
}

/// The size of a book, for the administrator's status report.
public enum BookSize {
    /// Returns the number of bytes in use in the file of a user's book, without its bin; `nil` if there is no book. The book
    /// may be open at the same time. Do not call this on the event loop, because it reads a file.
    ///
    /// - Parameter folder: the user's folder.
    public static func read(folder: String) throws(StoreError) -> Int64? {
        let file = BookFile(folder: folder)
        guard try file.isBook(mayBeOpen: true) else { return nil }
        let database = try BookConnection.reading(file)
        defer { database.close() }
        // The tables of a book of an earlier version are added when it is opened.
        guard try database.integer("PRAGMA user_version") == Int64(Schema.version) else { return nil }
        return try database.bytesInUse()
    }
}
