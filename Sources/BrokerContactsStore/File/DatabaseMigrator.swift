import BrokerSQLite

/// Migrates a book to the current version.
///
/// The table `grdb_migrations` lists the applied migrations by name. Its name comes from the library GRDB,
/// which created the first books.
struct DatabaseMigrator {
    private var migrations: [(name: String, body: (Database) throws -> Void)] = []

    mutating func registerMigration(_ name: String, _ body: @escaping (Database) throws -> Void) {
        migrations.append((name, body))
    }

    /// Applies the missing migrations in order, in one transaction.
    func migrate(_ database: Database) throws {
        guard try !Self.made(database).isSuperset(of: migrations.map(\.name)) else { return }
        try database.write(apply)
    }

    /// The same in the caller's transaction.
    func apply(to db: Database) throws {
        try db.execute("CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        // Another connection may have applied migrations meanwhile.
        let made = try Self.made(db)
        for migration in migrations where !made.contains(migration.name) {
            try migration.body(db)
            try PreparedStatement("INSERT INTO grdb_migrations (identifier) VALUES (?)", on: db)
                .bind(1, migration.name).run()
        }
    }

    /// Whether the book has migrations that this version does not know.
    func hasBeenSuperseded(_ database: Database) throws(StoreError) -> Bool {
        try !Self.made(database).isSubset(of: Set(migrations.map(\.name)))
    }

    private static func made(_ database: Database) throws(StoreError) -> Set<String> {
        let table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'grdb_migrations'"
        guard try database.integer(table) != nil else { return [] }
        return try Set(PreparedStatement("SELECT identifier FROM grdb_migrations", on: database).all { $0.text(0) })
    }
}
