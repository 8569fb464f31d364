import BrokerSQLite

/// Opens connections to a book.
enum BookConnection {
    /// Looks at a book without being able to change it: whether it is whole, of our version and the owner's.
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

    /// - Parameter cache: KiB of pages that are kept.
    static func reading(_ file: BookFile, cache: Int = 1_024) throws(StoreError) -> Database {
        // A writer never keeps a reader waiting; recovery after a crash does, shortly.
        //
        // Contacts that are told together lie far apart, so that hardly a page is met again before its place in the cache is
        // needed. So a small cache is quicker, whatever the size of the book: as much of it as the processor's own holds.
        try Database(
            path: file.path, .readOnly, patience: 500,
            settings: """
                PRAGMA trusted_schema = OFF;
                PRAGMA cell_size_check = ON;
                PRAGMA cache_size = -\(cache);
                PRAGMA temp_store = MEMORY;
                """)
    }

    /// KiB. Room for what leads to the rows of a million contacts, which a long read looks up in no order; given back soon.
    static let longReadingCache = 16_384

    /// Pages in the log after which a save empties it. Each such save waits for the file, and a page that many saves
    /// change is written to it each time; so the log may grow to some 128 MB, and is emptied when no save has come for a
    /// while.
    private static let logPages = 32_768

    /// KiB of pages that a large save goes back to; given back when it rests. An index is written all over.
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
