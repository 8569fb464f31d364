import BrokerSQLite

extension Schema {
    /// Migration 23.
    static func addSaveGroups(_ db: Database) throws {
        try db.execute(
            """
            PRAGMA user_version = 23;

            -- groupToken, label and takesBack: as SaveGroup has them; NULL if the save is in no group. takenBack: 1 if the
            -- group was taken back. partial: 1 if some of the save's rows have left the bin.
            ALTER TABLE binSave ADD COLUMN groupToken TEXT;
            ALTER TABLE binSave ADD COLUMN label TEXT;
            ALTER TABLE binSave ADD COLUMN takesBack TEXT;
            ALTER TABLE binSave ADD COLUMN takenBack INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE binSave ADD COLUMN partial INTEGER NOT NULL DEFAULT 0;
            CREATE INDEX binSaveByGroup ON binSave (mark, groupToken) WHERE groupToken IS NOT NULL;
            """)
    }
}
