import BrokerSQLite

extension Schema {
    static func registerLanguage(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("20: language") { db in
            try db.execute(
                """
                PRAGMA user_version = 20;

                -- The owner's language, whose alphabet determines the order of names; NULL: that of the settings or the locale.
                ALTER TABLE book ADD COLUMN language TEXT;
                """)
        }
    }
}
