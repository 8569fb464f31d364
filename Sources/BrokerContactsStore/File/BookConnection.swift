import BrokerSQLite

/// Opens connections to a book.
enum BookConnection {
    /// Checks that a book is complete, has a supported version and belongs to the owner. Opens it read-only, but first
    /// ends a rollback journal, because nobody knows the content of the file before that.
    static func check(_ file: BookFile, owner: StoreOwner) throws(StoreError) {
        try Database.endRollbackJournal(of: file.path)
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
        // A writer never blocks a reader, but recovery after a crash briefly does. A reader therefore waits
        // until recovery ends, for at most 500 ms.
        //
        // The contacts of one reply are far apart, so a page is rarely needed again while it is cached. A
        // small cache that fits into the processor's own cache is therefore faster for books of any size.
        try Database(
            path: file.path, .readOnly, patience: 500,
            settings: """
                PRAGMA trusted_schema = OFF;
                PRAGMA cell_size_check = ON;
                PRAGMA cache_size = -\(cache);
                PRAGMA temp_store = MEMORY;
                """)
    }

    /// The page cache for long reads, in KiB. It has room for the interior pages of a million contacts,
    /// because a long read looks up contacts in random order. It is released soon after the read.
    static let longReadingCache = 16_384

    /// The page cache for saves, in KiB. It is large because a large save writes to all parts of an index. It
    /// is released soon after the save.
    private static let writingCache = 32_768

    /// Opens the connection for saves. SQLite's automatic checkpoint is off, because it would let the log
    /// grow without bound while reads overlap.
    /// ``ContactsStore/apply(_:by:at:isEvidence:access:terms:of:outbox:)`` checkpoints the log instead.
    static func writing(_ file: BookFile) throws(StoreError) -> Database {
        let database = try Database(
            path: file.path, .readWrite, patience: 2_000,
            settings: """
                PRAGMA synchronous = FULL;
                PRAGMA wal_autocheckpoint = 0;
                PRAGMA secure_delete = ON;
                PRAGMA foreign_keys = ON;
                PRAGMA trusted_schema = OFF;
                PRAGMA cell_size_check = ON;
                PRAGMA cache_size = -\(writingCache);
                PRAGMA temp_store = MEMORY;
                """)
        do {
            try database.useLog()
            try Schema.migrator.migrate(database)
        } catch {
            throw StoreError(error)
        }
        return database
    }
}
