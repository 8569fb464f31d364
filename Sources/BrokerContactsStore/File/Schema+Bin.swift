import BrokerSQLite

extension Schema {
    /// Migration 21.
    static func addBin(_ db: Database) throws {
        try db.execute(
            """
            PRAGMA user_version = 21;

            -- For how many days the bin keeps what a save changed; NULL: the default. binSaves: the number of its last save.
            ALTER TABLE book ADD COLUMN binDays INTEGER;
            ALTER TABLE book ADD COLUMN binSaves INTEGER NOT NULL DEFAULT 0;

            -- sole: 1 if only the app that added the record has changed it. Of older records that is not known.
            ALTER TABLE contact ADD COLUMN sole INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE contactGroup ADD COLUMN sole INTEGER NOT NULL DEFAULT 0;

            -- The size of the bin's rows, by the portion that they take space from: 0 apps that other programs can
            -- imitate, 1 other apps, 2 the person.
            CREATE TABLE bin (
                portion  INTEGER NOT NULL PRIMARY KEY,
                bytes    INTEGER NOT NULL
            ) STRICT;
            INSERT INTO bin VALUES (0, 0), (1, 0), (2, 0);

            -- The saves of which the bin has something. kind: 0 a save, 1 one that put back, 2 a restored backup. time:
            -- seconds since 1970. mark: as author.app. app and strength: as the audit names them; empty for the person.
            -- The counts are of contacts.
            CREATE TABLE binSave (
                number    INTEGER NOT NULL PRIMARY KEY,
                kind      INTEGER NOT NULL,
                time      INTEGER NOT NULL,
                portion   INTEGER NOT NULL,
                bytes     INTEGER NOT NULL,
                mark      BLOB NOT NULL,
                app       TEXT NOT NULL,
                strength  TEXT NOT NULL,
                added     INTEGER NOT NULL,
                changed   INTEGER NOT NULL,
                deleted   INTEGER NOT NULL
            ) STRICT;
            CREATE INDEX binSaveByTime ON binSave (time);

            -- What was before a save, in the order in which it was changed. rank: 0 only the app that added the record has
            -- changed it; 1 the same author changed the subject before; 2 neither. subject: what record and member are. existed: 0 if there was nothing. former: the container of a contact or a
            -- group, the first card of a link, the person's own card, or whether a member was confirmed. flags of a
            -- contact: 1 unsure, 2 the save deletes it; of a group: 1 confirmed. name: of a group or a container. maker:
            -- of a contact; the owner of a group. stored and the columns after it: as in the contact's tables; NULL in a
            -- contact that existed: it was pushed out.
            CREATE TABLE binItem (
                number         INTEGER NOT NULL PRIMARY KEY,
                save           INTEGER NOT NULL,
                portion        INTEGER NOT NULL,
                rank           INTEGER NOT NULL,
                subject        INTEGER NOT NULL,
                record         INTEGER NOT NULL,
                member         INTEGER NOT NULL,
                existed        INTEGER NOT NULL,
                bytes          INTEGER NOT NULL,
                former         INTEGER,
                flags          INTEGER NOT NULL DEFAULT 0,
                name           TEXT,
                maker          BLOB,
                identifiers    BLOB,
                stored         BLOB,
                checksum       INTEGER,
                apart          INTEGER,
                apartStored    BLOB,
                apartChecksum  INTEGER
            ) STRICT;
            CREATE INDEX binItemBySubject ON binItem (subject, record, member);
            CREATE INDEX binItemBySave ON binItem (save);
            CREATE INDEX binItemByRank ON binItem (portion, rank) WHERE rank < 2;

            -- The photo that the contact of a row in binItem had. A contact without a row here had the photo of its next
            -- row, or has it still.
            CREATE TABLE binPhoto (
                item                INTEGER NOT NULL PRIMARY KEY,
                imageData           BLOB,
                thumbnailImageData  BLOB
            ) STRICT;
            """)
    }
}
