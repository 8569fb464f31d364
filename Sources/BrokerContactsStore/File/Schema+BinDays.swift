import BrokerSQLite

extension Schema {
    /// Migration 22.
    static func addBinDays(_ db: Database) throws {
        try db.execute(
            """
            PRAGMA user_version = 22;

            -- binDaysNext: as binDays, which it replaces at binDaysAt, in seconds since 1970. binDaysAt NULL: nothing does. In
            -- binItem.flags of a contact, 4 is new: the person removed the content.
            ALTER TABLE book ADD COLUMN binDaysNext INTEGER;
            ALTER TABLE book ADD COLUMN binDaysAt INTEGER;
            """)
    }
}
