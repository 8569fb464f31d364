import GRDB

/// Opens connections to a book.
enum BookConnection {
    /// Looks at a book without being able to change it: whether it is whole, of our version and the owner's.
    static func check(_ file: BookFile, owner: StoreOwner) throws(StoreError) {
        do {
            let database = try reading(file)
            let found = try database.read { db in
                let version = try Int64.fetchOne(db, sql: "PRAGMA user_version") ?? 0
                guard version <= Int64(Schema.version), try !Schema.migrator.hasBeenSuperseded(db) else {
                    throw StoreError.newerSchema
                }
                let objects = try Set(
                    String.fetchAll(
                        db, sql: "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"))
                guard Schema.objects(of: version).isSubset(of: objects) else {
                    throw StoreError.damaged(reason: "tables are missing")
                }
                return try Row.fetchOne(db, sql: "SELECT uid, userName FROM book")
                    .map { StoreOwner(uid: UInt32(truncatingIfNeeded: $0[0] as Int64), name: $0[1]) }
            }
            try database.close()
            guard let found else { throw StoreError.damaged(reason: "no owner is recorded") }
            guard found == owner else { throw StoreError.wrongOwner }
        } catch {
            throw StoreError(error)
        }
    }

    static func reading(_ file: BookFile) throws(StoreError) -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.label = "book.read"
        // Statements are prepared while a read of several looks is open; GRDB would end the program for that.
        configuration.allowsUnsafeTransactions = true
        // A writer never keeps a reader waiting; recovery after a crash does, shortly.
        configuration.busyMode = .timeout(0.5)
        configuration.prepareDatabase { db in
            try db.execute(
                sql:
                    "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY"
            )
        }
        return try open(file, configuration)
    }

    /// Pages in the log after which a save empties it. Each such save waits for the file, and a page that many saves
    /// change is written to it each time; so the log may grow to some 64 MB, and is emptied when no save has come for a
    /// while.
    private static let logPages = 16_384

    static func writing(_ file: BookFile) throws(StoreError) -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "book.write"
        configuration.busyMode = .timeout(2)
        configuration.prepareDatabase { db in
            try db.execute(
                sql: """
                    PRAGMA journal_mode = WAL;
                    PRAGMA wal_autocheckpoint = \(logPages);
                    PRAGMA synchronous = FULL;
                    PRAGMA secure_delete = ON;
                    PRAGMA foreign_keys = ON;
                    PRAGMA trusted_schema = OFF;
                    PRAGMA cell_size_check = ON;
                    PRAGMA cache_size = -8192;
                    PRAGMA temp_store = MEMORY;
                    """)
        }
        let database = try open(file, configuration)
        do {
            try Schema.migrator.migrate(database)
        } catch {
            throw StoreError(error)
        }
        return database
    }

    private static func open(_ file: BookFile, _ configuration: Configuration) throws(StoreError) -> DatabaseQueue {
        do {
            return try DatabaseQueue(path: file.path, configuration: configuration)
        } catch {
            throw StoreError(error)
        }
    }
}
