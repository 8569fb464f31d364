import BrokerSQLite

/// The tables of a book. A migration that has shipped is never edited.
enum Schema {
    /// The application identifier in the file's header: "CBct", for a contactbroker address book.
    static let applicationIdentifier: UInt32 = 0x4342_6374
    /// In the file's header, the number of applied migrations.
    static let version: UInt32 = 23
    /// The first version with an ``AuditAnchor``.
    static let hasAnchor: Int64 = 10
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: contacts") { db in
            try db.execute(
                """
                PRAGMA application_id = \(applicationIdentifier);
                PRAGMA user_version = 1;

                -- The owner, the version of the rules that keys and words were made by, and the owner's preferences.
                CREATE TABLE book (
                    only          INTEGER NOT NULL PRIMARY KEY CHECK (only = 1),
                    uid           INTEGER NOT NULL,
                    userName      TEXT NOT NULL,
                    firstUse      INTEGER NOT NULL,
                    forms         TEXT NOT NULL,
                    lastChange    INTEGER NOT NULL DEFAULT 0,
                    me            INTEGER REFERENCES contact ON DELETE SET NULL,
                    sortOrder     INTEGER,
                    displayOrder  INTEGER,
                    countryCode   TEXT
                ) STRICT;

                -- identifiers: the highest value identifier used in each key. The long column is last, so that reading
                -- the others does not read past it.
                CREATE TABLE contact (
                    record         INTEGER NOT NULL PRIMARY KEY,
                    givenNameKey   BLOB NOT NULL,
                    familyNameKey  BLOB NOT NULL,
                    identifiers    BLOB NOT NULL,
                    stored         BLOB NOT NULL
                ) STRICT;
                CREATE INDEX contactByGivenName ON contact (givenNameKey, record);
                CREATE INDEX contactByFamilyName ON contact (familyNameKey, record);

                -- Base64, as it is sent.
                CREATE TABLE image (
                    record              INTEGER NOT NULL PRIMARY KEY REFERENCES contact ON DELETE CASCADE,
                    imageData           BLOB,
                    thumbnailImageData  BLOB
                ) STRICT;

                -- Tables for searches. The primary key begins with the record, for callers that may see only some
                -- records; the index begins with the value, for callers that may see all. key: the property's number.
                CREATE TABLE word (
                    record  INTEGER NOT NULL REFERENCES contact ON DELETE CASCADE,
                    word    TEXT NOT NULL,
                    key     INTEGER NOT NULL,
                    PRIMARY KEY (record, word, key)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX wordByWord ON word (word, key, record);

                CREATE TABLE email (
                    record   INTEGER NOT NULL REFERENCES contact ON DELETE CASCADE,
                    address  TEXT NOT NULL,
                    PRIMARY KEY (record, address)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX emailByAddress ON email (address, record);

                -- digits: as typed, in reverse order. national, country and extension: compared to match numbers;
                -- country 0 is unknown.
                CREATE TABLE phone (
                    record     INTEGER NOT NULL REFERENCES contact ON DELETE CASCADE,
                    national   TEXT NOT NULL,
                    country    INTEGER NOT NULL,
                    extension  TEXT NOT NULL,
                    digits     TEXT NOT NULL,
                    PRIMARY KEY (record, national, country, extension, digits)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX phoneByNational ON phone (national, country, extension, record);

                -- owner: the app that created the group.
                CREATE TABLE contactGroup (
                    record  INTEGER NOT NULL PRIMARY KEY,
                    name    TEXT NOT NULL,
                    owner   BLOB NOT NULL
                ) STRICT;
                CREATE INDEX groupByOwner ON contactGroup (owner, record);

                CREATE TABLE member (
                    parent   INTEGER NOT NULL REFERENCES contactGroup ON DELETE CASCADE,
                    contact  INTEGER NOT NULL REFERENCES contact ON DELETE CASCADE,
                    PRIMARY KEY (parent, contact)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX memberByContact ON member (contact, parent);

                CREATE TABLE subgroup (
                    parent  INTEGER NOT NULL REFERENCES contactGroup ON DELETE CASCADE,
                    child   INTEGER NOT NULL REFERENCES contactGroup ON DELETE CASCADE,
                    PRIMARY KEY (parent, child)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX subgroupByChild ON subgroup (child, parent);

                -- Authors of changes. app: a value derived from the app's own key. name: the app's name for the author.
                CREATE TABLE author (
                    id    INTEGER NOT NULL PRIMARY KEY,
                    app   BLOB NOT NULL,
                    name  TEXT NOT NULL,
                    UNIQUE (app, name)
                ) STRICT;

                -- The change history. time: seconds since 1970. keys: those whose values changed. owner: the app that
                -- created all groups concerned. Records may be deleted, and the author is no foreign key either: to
                -- delete an author, SQLite would search the whole table.
                CREATE TABLE change (
                    number  INTEGER NOT NULL PRIMARY KEY,
                    time    INTEGER NOT NULL,
                    kind    INTEGER NOT NULL,
                    record  INTEGER NOT NULL,
                    member  INTEGER,
                    keys    INTEGER NOT NULL,
                    owner   BLOB,
                    author  INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX changeByRecord ON change (record);
                CREATE INDEX changeByOwner ON change (owner) WHERE owner IS NOT NULL;
                """)
        }
        migrator.registerMigration("2: beginnings") { db in
            try db.execute(
                """
                PRAGMA user_version = 2;

                -- The first three letters of each word in a contact's names, in name order, so that the first matches
                -- are adjacent. ordering: 1 given name first, 2 family name first. keys: a bit for each property that
                -- has such a word, by number. record is no foreign key: to delete a contact, SQLite would search the
                -- whole table.
                CREATE TABLE beginning (
                    ordering  INTEGER NOT NULL,
                    letters   TEXT NOT NULL,
                    nameKey   BLOB NOT NULL,
                    record    INTEGER NOT NULL,
                    keys      INTEGER NOT NULL,
                    PRIMARY KEY (ordering, letters, nameKey, record)
                ) STRICT, WITHOUT ROWID;

                -- No version, so that the search tables are rebuilt.
                UPDATE book SET forms = '';
                """)
        }
        migrator.registerMigration("3: makers") { db in
            try db.execute(
                """
                PRAGMA user_version = 3;

                -- The app that added a contact: a value derived from its own key, or empty if unknown.
                ALTER TABLE contact ADD COLUMN maker BLOB NOT NULL DEFAULT x'';
                """)
        }
        migrator.registerMigration("4: links") { db in
            try db.execute(
                """
                PRAGMA user_version = 4;

                -- Linked cards. first: the lowest record number in the set. Cards that are not linked have no row.
                CREATE TABLE link (
                    record  INTEGER NOT NULL PRIMARY KEY REFERENCES contact ON DELETE CASCADE,
                    first   INTEGER NOT NULL
                ) STRICT;
                """)
        }
        migrator.registerMigration("5: containers") { db in
            try db.execute(
                """
                PRAGMA user_version = 5;

                -- Containers other than the one that every book has, which is NULL below.
                CREATE TABLE container (
                    record  INTEGER NOT NULL PRIMARY KEY,
                    name    TEXT NOT NULL
                ) STRICT;
                ALTER TABLE contact ADD COLUMN container INTEGER REFERENCES container;
                ALTER TABLE contactGroup ADD COLUMN container INTEGER REFERENCES container;
                CREATE INDEX contactByContainer ON contact (container) WHERE container IS NOT NULL;
                CREATE INDEX groupByContainer ON contactGroup (container) WHERE container IS NOT NULL;
                """)
        }
        migrator.registerMigration("6: beginnings in one order") { db in
            try db.execute(
                """
                PRAGMA user_version = 6;

                -- From this version on, beginnings are stored only in the order that the owner prefers: with both
                -- orders they were half of what a new contact wrote. No version, so that they are rebuilt.
                UPDATE book SET forms = '';
                """)
        }
        migrator.registerMigration("7: outbox") { db in
            try db.execute(
                """
                PRAGMA user_version = 7;

                -- What the access database must take over from each save. A later save deletes an entry once it is
                -- certain that it was taken over. change: the book's last change with that save.
                CREATE TABLE outbox (
                    number  INTEGER NOT NULL PRIMARY KEY,
                    change  INTEGER NOT NULL,
                    entry   BLOB NOT NULL
                ) STRICT;
                """)
        }
        migrator.registerMigration("8: links by evidence") { db in
            try db.execute(
                """
                PRAGMA user_version = 8;

                -- Links made explicitly. The table link now also contains links that follow from evidence.
                CREATE TABLE handLink (
                    record  INTEGER NOT NULL PRIMARY KEY REFERENCES contact ON DELETE CASCADE,
                    first   INTEGER NOT NULL
                ) STRICT;
                INSERT INTO handLink SELECT record, first FROM link;

                -- Cards that must not be linked, whatever they have in common. Each pair is stored both ways, so that
                -- all rows of a card are adjacent.
                CREATE TABLE unlike (
                    record  INTEGER NOT NULL REFERENCES contact ON DELETE CASCADE,
                    other   INTEGER NOT NULL,
                    PRIMARY KEY (record, other)
                ) STRICT, WITHOUT ROWID;

                -- Cards that are no evidence for links, because an app that does not see every card wrote their values.
                -- For cards from before this version that is unknown.
                CREATE TABLE unsure (
                    record  INTEGER NOT NULL PRIMARY KEY REFERENCES contact ON DELETE CASCADE
                ) STRICT;
                INSERT INTO unsure SELECT record FROM contact;
                """)
        }
        migrator.registerMigration("9: changes of all groups") { db in
            try db.execute(
                """
                PRAGMA user_version = 9;

                -- For limited apps that may see the groups of other apps.
                CREATE INDEX changeOfGroups ON change (number) WHERE \(isOfGroups);
                CREATE INDEX changeByMember ON change (member) WHERE \(isOfMembers);
                """)
        }
        migrator.registerMigration("10: audit anchor") { db in
            try db.execute(
                """
                PRAGMA user_version = 10;

                -- The last audit record that was synced at the last save: its sequence number and its hash.
                ALTER TABLE book ADD COLUMN auditSequence INTEGER;
                ALTER TABLE book ADD COLUMN auditHash BLOB;
                """)
        }
        migrator.registerMigration("11: checksums") { db in
            try db.execute(
                """
                PRAGMA user_version = 11;

                -- XXH3 of the card, with its record number as the seed. NULL: it was damaged before this version.
                ALTER TABLE contact ADD COLUMN checksum INTEGER;
                """)
            try CardChecksum.addToAll(db)
        }
        migrator.registerMigration("12: allowances") { db in
            try db.execute(
                """
                PRAGMA user_version = 12;

                -- What apps without full access have added: used bytes at a time, in seconds since 1970. app: a value
                -- derived from the app's own key.
                CREATE TABLE allowance (
                    app   BLOB NOT NULL PRIMARY KEY,
                    used  INTEGER NOT NULL,
                    time  INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                """)
        }
        migrator.registerMigration("13: words by key") { db in
            try db.execute(
                """
                PRAGMA user_version = 13;

                -- The key comes before the word, so that a search reads only words of keys that the caller may read. Its
                -- time would otherwise reveal matches in other keys. 0: a word of family and given name together.
                DROP TABLE word;
                CREATE TABLE word (
                    record  INTEGER NOT NULL REFERENCES contact ON DELETE CASCADE,
                    key     INTEGER NOT NULL,
                    word    TEXT NOT NULL,
                    PRIMARY KEY (record, key, word)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX wordByKey ON word (key, word, record);

                -- Without keys: only callers that may read all names use this table.
                DROP TABLE beginning;
                CREATE TABLE beginning (
                    ordering  INTEGER NOT NULL,
                    letters   TEXT NOT NULL,
                    nameKey   BLOB NOT NULL,
                    record    INTEGER NOT NULL,
                    PRIMARY KEY (ordering, letters, nameKey, record)
                ) STRICT, WITHOUT ROWID;

                -- No version, so that the search tables are rebuilt.
                UPDATE book SET forms = '';
                """)
        }
        migrator.registerMigration("14: parts of cards") { db in
            try db.execute(
                """
                PRAGMA user_version = 14;

                -- The keys of a card that may be large and that few apps may read, as in contact.stored. apart in contact: a bit
                -- for each key that the card has there, by number.
                CREATE TABLE apart (
                    record    INTEGER NOT NULL PRIMARY KEY REFERENCES contact ON DELETE CASCADE,
                    stored    BLOB NOT NULL,
                    checksum  INTEGER NOT NULL
                ) STRICT;
                ALTER TABLE contact ADD COLUMN apart INTEGER NOT NULL DEFAULT 0;
                """)
            try StoredCard.moveApart(db)
        }
        migrator.registerMigration("15: members of shared groups") { db in
            try db.execute(
                """
                PRAGMA user_version = 15;

                -- confirmed: 1 if an app with access to every card added the member. Only such a member is shared with
                -- the apps that have the group. Who added the older members is not known.
                ALTER TABLE member ADD COLUMN confirmed INTEGER NOT NULL DEFAULT 0;
                """)
        }
        migrator.registerMigration("16: links between containers") { db in
            try db.execute(
                """
                PRAGMA user_version = 16;

                -- From this version on, evidence links no cards of one container. No version, so that the links are
                -- derived again.
                UPDATE book SET forms = '';
                """)
        }
        migrator.registerMigration("17: photos that wait") { db in
            try db.execute(
                """
                PRAGMA user_version = 17;

                -- The contacts whose photo waits for a thumbnail.
                CREATE TABLE photographed (
                    record  INTEGER NOT NULL PRIMARY KEY REFERENCES image ON DELETE CASCADE
                ) STRICT;
                INSERT INTO photographed SELECT record FROM image WHERE imageData IS NOT NULL AND thumbnailImageData IS NULL;
                """)
        }
        migrator.registerMigration("18: names of groups") { db in
            try db.execute(
                """
                PRAGMA user_version = 18;

                -- confirmed: 1 if an app with access to every card gave the group its name. Who named the older groups is
                -- not known. Their names count, unless only another group of the same name has confirmed members.
                ALTER TABLE contactGroup ADD COLUMN confirmed INTEGER NOT NULL DEFAULT 0;
                UPDATE contactGroup SET confirmed = 1 WHERE record IN (SELECT parent FROM member WHERE confirmed = 1)
                OR name NOT IN (SELECT name FROM contactGroup JOIN member ON parent = record WHERE member.confirmed = 1);
                """)
        }
        migrator.registerMigration("19: UIDs") { db in
            try db.execute(
                """
                PRAGMA user_version = 19;

                -- The UIDs among the extra properties in apart, as in contact.stored. More apps may read them, and the time
                -- of a read must not reveal the rest. Bit 61 of apart in contact: the card has a row here.
                CREATE TABLE uid (
                    record    INTEGER NOT NULL PRIMARY KEY REFERENCES contact ON DELETE CASCADE,
                    stored    BLOB NOT NULL,
                    checksum  INTEGER NOT NULL
                ) STRICT;
                """)
            try StoredCard.addUIDs(db)
        }
        migrator.registerMigration("20: language") { db in
            try db.execute(
                """
                PRAGMA user_version = 20;

                -- The owner's language, whose alphabet determines the order of names; NULL: that of the settings or the locale.
                ALTER TABLE book ADD COLUMN language TEXT;
                """)
        }
        migrator.registerMigration("21: bin", addBin)
        migrator.registerMigration("22: days of the bin", addBinDays)
        migrator.registerMigration("23: groups of saves", addSaveGroups)
        return migrator
    }
}
