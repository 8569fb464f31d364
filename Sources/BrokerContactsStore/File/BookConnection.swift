import BrokerSQLite

/// Opens connections to a book.
enum BookConnection {
    /// Checks over a read-only connection that a book is complete, of a supported version and the owner's.
    static func check(_ file: BookFile, owner: StoreOwner) throws(StoreError) {
        let database = try reading(file)
        let version = try database.integer("PRAGMA user_version") ?? 0
        guard version <= Int64(Schema.version), try !Schema.migrator.hasBeenSuperseded(database) else {
            throw .newerSchema
        }
        let objects = try PreparedStatement("SELECT name FROM sqlite_schema", on: database).all { $0.text(0) }
        guard Set(Schema.objects(of: version)).isSubset(of: objects) else {
            throw .damaged(reason: "tables are missing")
        }
        let row = try PreparedStatement("SELECT uid, userName FROM book", on: database)
        guard try row.step() else { throw .damaged(reason: "no owner is recorded") }
        let found = StoreOwner(uid: UInt32(truncatingIfNeeded: row.integer(0)), name: row.text(1))
        guard found == owner else { throw .wrongOwner }
    }

    /// - Parameter cache: the size of the page cache, in KiB.
    static func reading(_ file: BookFile, cache: Int = 1_024) throws(StoreError) -> Database {
        // A writer never blocks a reader; recovery after a crash does, briefly.
        //
        // The contacts of one reply are far apart, so a page is rarely needed again while it is cached. A small cache
        // is therefore quicker, whatever the size of the book: one that fits into the processor's own cache.
        try Database(
            path: file.path, .readOnly, patience: 500,
            settings: """
                PRAGMA trusted_schema = OFF;
                PRAGMA cell_size_check = ON;
                PRAGMA cache_size = -\(cache);
                PRAGMA temp_store = MEMORY;
                """)
    }

    /// In KiB. Holds the interior pages for a million contacts, which a long read looks up in no order; soon
    /// released.
    static let longReadingCache = 16_384

    /// Pages in the log after which a save checkpoints it. Each such save waits for the disk, and pages that many
    /// saves change are written each time. So the log may grow to some 128 MB; it is checkpointed when no save has
    /// come for a while.
    private static let logPages = 32_768

    /// The page cache for saves, in KiB, released after them. A large save writes to all parts of an index.
    private static let writingCache = 32_768

    static func writing(_ file: BookFile) throws(StoreError) -> Database {
        let database = try Database(
            path: file.path, .readWrite, patience: 2_000,
            settings: """
                PRAGMA synchronous = FULL;
                PRAGMA journal_mode = WAL;
                PRAGMA wal_autocheckpoint = \(logPages);
                PRAGMA secure_delete = ON;
                PRAGMA foreign_keys = ON;
                PRAGMA trusted_schema = OFF;
                PRAGMA cell_size_check = ON;
                PRAGMA cache_size = -\(writingCache);
                PRAGMA temp_store = MEMORY;
                """)
        do {
            try Schema.migrator.migrate(database)
        } catch {
            throw StoreError(error)
        }
        return database
    }
}
