import BrokerSQLite
import CBrokerSQLite
import Glibc

/// The tables of the access database and the migrations between versions.
///
/// A migration that has shipped is never edited. The version is SQLite's `user_version`; `application_id`
/// distinguishes this file from other SQLite databases.
enum Schema {
    /// "CBRA".
    static let application: Int64 = 0x4342_5241

    static var version: Int { steps.count }

    private static let steps = [
        """
        -- Exactly one row, with the counters. auditSequence may be a few records behind the audit.
        CREATE TABLE state (
            id            INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            auditSequence INTEGER NOT NULL,
            auditHead     BLOB    NOT NULL CHECK (length(auditHead) = 32),
            revision      INTEGER NOT NULL,
            recordNumber  INTEGER NOT NULL,
            intent        INTEGER NOT NULL
        ) STRICT;
        INSERT INTO state VALUES (1, 0, zeroblob(32), 0, 0, 0);

        -- One row for each user and app. The row exists as long as the app has a grant or an identifier key.
        CREATE TABLE principal (
            id            INTEGER NOT NULL PRIMARY KEY,
            uid           INTEGER NOT NULL,
            strength      TEXT    NOT NULL,
            app           TEXT    NOT NULL,
            displayName   TEXT    NOT NULL,
            identifierKey BLOB    CHECK (length(identifierKey) = 16),
            UNIQUE (uid, strength, app)
        ) STRICT;

        -- keys: a bit set. Times: seconds since 1970. expires: NULL if the grant lasts until it is revoked. epoch: the
        -- revision at which the history of the granted set begins. setEvent contains every later change of the set.
        CREATE TABLE appGrant (
            principal     INTEGER NOT NULL PRIMARY KEY REFERENCES principal ON DELETE CASCADE,
            level         TEXT    NOT NULL CHECK (level IN ('denied', 'limited', 'full')),
            keys          INTEGER NOT NULL,
            expires       INTEGER,
            revision      INTEGER NOT NULL,
            decidedBy     TEXT    NOT NULL,
            decidedAt     INTEGER NOT NULL,
            lastUsedAt    INTEGER,
            uses          INTEGER NOT NULL DEFAULT 0,
            epoch         INTEGER NOT NULL
        ) STRICT;

        -- The granted set of a limited grant.
        CREATE TABLE grantedContact (
            principal     INTEGER NOT NULL REFERENCES appGrant ON DELETE CASCADE,
            contact       INTEGER NOT NULL,
            PRIMARY KEY (principal, contact)
        ) STRICT, WITHOUT ROWID;

        -- Changes of granted sets. change: the last change of the book at that time.
        CREATE TABLE setEvent (
            principal     INTEGER NOT NULL REFERENCES appGrant ON DELETE CASCADE,
            revision      INTEGER NOT NULL,
            contact       INTEGER NOT NULL,
            kind          INTEGER NOT NULL,
            change        INTEGER NOT NULL,
            time          INTEGER NOT NULL,
            PRIMARY KEY (principal, revision, contact)
        ) STRICT, WITHOUT ROWID;

        -- Intents. adds: the record numbers of the contacts to add, 8 bytes each, little-endian.
        CREATE TABLE saveIntent (
            id            INTEGER NOT NULL PRIMARY KEY,
            uid           INTEGER NOT NULL,
            strength      TEXT    NOT NULL,
            app           TEXT    NOT NULL,
            adds          BLOB    NOT NULL
        ) STRICT;

        -- The key from which the pseudonyms of a user's contacts in the audit are derived.
        CREATE TABLE auditKey (
            uid           INTEGER NOT NULL PRIMARY KEY,
            key           BLOB    NOT NULL CHECK (length(key) = 16)
        ) STRICT;

        -- time: microseconds since 1970. contacts: pseudonyms of 16 bytes each. hash: see AuditChain.
        -- There is no other index, because each would add a page to every commit that a reply waits for.
        CREATE TABLE audit (
            sequence      INTEGER NOT NULL PRIMARY KEY,
            time          INTEGER NOT NULL,
            uid           INTEGER NOT NULL,
            app           TEXT    NOT NULL,
            strength      TEXT,
            event         TEXT    NOT NULL,
            status        TEXT,
            keys          INTEGER,
            count         INTEGER,
            contacts      BLOB,
            revision      INTEGER,
            repeats       INTEGER,
            detail        TEXT,
            hash          BLOB    NOT NULL CHECK (length(hash) = 32)
        ) STRICT;
        CREATE TRIGGER auditKeepsWords BEFORE UPDATE ON audit
            BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
        CREATE TRIGGER auditKeepsRecords BEFORE DELETE ON audit
            BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
        """,
        """
        -- The callers in the audit. Records store only the caller's id. The caller's fields would take up most of each
        -- record, and a reply waits until its record is written. A record's hash still covers its caller.
        CREATE TABLE auditCaller (
            id            INTEGER NOT NULL PRIMARY KEY,
            uid           INTEGER NOT NULL,
            strength      TEXT,
            app           TEXT    NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX auditCallerIsOne ON auditCaller (app, uid, coalesce(strength, ''));
        INSERT INTO auditCaller (uid, strength, app) SELECT DISTINCT uid, strength, app FROM audit;

        CREATE TABLE auditRecord (
            sequence      INTEGER NOT NULL PRIMARY KEY,
            time          INTEGER NOT NULL,
            caller        INTEGER NOT NULL,
            event         TEXT    NOT NULL,
            status        TEXT,
            keys          INTEGER,
            count         INTEGER,
            contacts      BLOB,
            revision      INTEGER,
            repeats       INTEGER,
            detail        TEXT,
            hash          BLOB    NOT NULL CHECK (length(hash) = 32)
        ) STRICT;
        INSERT INTO auditRecord
            SELECT sequence, time, auditCaller.id, event, status, keys, count, contacts, revision, repeats, detail, hash
            FROM audit JOIN auditCaller ON auditCaller.uid = audit.uid AND auditCaller.app = audit.app
                AND auditCaller.strength IS audit.strength
            ORDER BY sequence;
        DROP TABLE audit;
        ALTER TABLE auditRecord RENAME TO audit;
        CREATE TRIGGER auditKeepsWords BEFORE UPDATE ON audit
            BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
        CREATE TRIGGER auditKeepsRecords BEFORE DELETE ON audit
            BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
        CREATE TRIGGER auditCallerKeepsWords BEFORE UPDATE ON auditCaller
            BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
        CREATE TRIGGER auditCallerKeepsRecords BEFORE DELETE ON auditCaller
            BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
        """,
        """
        -- The user's name at the time when data was first stored for the UID. purged: 1 while the user's book is being
        -- deleted, after the grants were deleted.
        CREATE TABLE owner (
            uid           INTEGER NOT NULL PRIMARY KEY,
            name          TEXT    NOT NULL,
            purged        INTEGER NOT NULL DEFAULT 0 CHECK (purged IN (0, 1))
        ) STRICT;
        """,
        """
        -- Apps for which the person chose "never ask again". since: seconds since 1970.
        CREATE TABLE silence (
            uid           INTEGER NOT NULL,
            strength      TEXT    NOT NULL,
            app           TEXT    NOT NULL,
            since         INTEGER NOT NULL,
            PRIMARY KEY (uid, strength, app)
        ) STRICT, WITHOUT ROWID;
        """,
        """
        -- number: the last outbox entry of a user's book whose data is in this database. The transaction that stores the
        -- data also writes the number.
        CREATE TABLE outboxMark (
            uid           INTEGER NOT NULL PRIMARY KEY,
            number        INTEGER NOT NULL
        ) STRICT;
        -- A random number that each grant change by the person or the administrator renews.
        ALTER TABLE appGrant ADD COLUMN decision INTEGER NOT NULL DEFAULT 0;
        """,
        """
        -- From this version on, a file beside the database names the last synced record (SyncedPosition). If that file
        -- is missing, records were lost.
        """,
        """
        -- Contacts that were disclosed without a password to apps that the user's other programs can impersonate.
        -- time: when an app last got the contact this way, in seconds since 1970. Entries are deleted after a day.
        CREATE TABLE unconfirmed (
            uid           INTEGER NOT NULL,
            contact       INTEGER NOT NULL,
            time          INTEGER NOT NULL,
            PRIMARY KEY (uid, contact)
        ) STRICT, WITHOUT ROWID;
        """,
        """
        -- The agent that sent the person's answer and whether a password was given, in words.
        ALTER TABLE appGrant ADD COLUMN decidedThrough TEXT;
        """,
        """
        -- The sealed segments of the audit (AuditSegment). Times: microseconds since 1970.
        CREATE TABLE auditSegment (
            last          INTEGER NOT NULL PRIMARY KEY,
            lastHash      BLOB    NOT NULL CHECK (length(lastHash) = 32),
            begins        INTEGER NOT NULL,
            ends          INTEGER NOT NULL,
            bytes         INTEGER NOT NULL
        ) STRICT;
        -- At most one row: the last removal by retention (AuditRemoval). Records up to last may be deleted, no others.
        CREATE TABLE auditRemoval (
            id            INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            last          INTEGER NOT NULL,
            lastHash      BLOB    NOT NULL CHECK (length(lastHash) = 32),
            first         INTEGER NOT NULL,
            begins        INTEGER NOT NULL,
            ends          INTEGER NOT NULL,
            time          INTEGER NOT NULL,
            record        INTEGER NOT NULL CHECK (record > last)
        ) STRICT;
        DROP TRIGGER IF EXISTS auditKeepsRecords;
        CREATE TRIGGER auditKeepsRecords BEFORE DELETE ON audit
            WHEN old.sequence > coalesce((SELECT last FROM auditRemoval), 0)
            BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
        """,
        """
        -- The contact groups of a limited grant. kind: 0 for a group, 1 for a contact of the granted set that joined as
        -- a member of a group, 2 for a member that was revoked singly.
        CREATE TABLE groupShare (
            principal     INTEGER NOT NULL REFERENCES appGrant ON DELETE CASCADE,
            kind          INTEGER NOT NULL CHECK (kind IN (0, 1, 2)),
            record        INTEGER NOT NULL,
            PRIMARY KEY (principal, kind, record)
        ) STRICT, WITHOUT ROWID;
        """,
        """
        -- The keys that the app has asked for by name, a bit set.
        ALTER TABLE appGrant ADD COLUMN askedKeys INTEGER NOT NULL DEFAULT 0;
        """,
        """
        -- A hash of the purpose that the app gave at the prompt which the person answered last.
        ALTER TABLE appGrant ADD COLUMN purposeHash TEXT;
        """,
        """
        -- The folders that the person declared (DeclaredFolder). inode: the 64 bits of an unsigned number. ends: seconds
        -- since 1970.
        CREATE TABLE declaredFolder (
            uid                INTEGER NOT NULL,
            path               TEXT    NOT NULL,
            deviceMajor        INTEGER NOT NULL,
            deviceMinor        INTEGER NOT NULL,
            inode              INTEGER NOT NULL,
            createdSeconds     INTEGER NOT NULL,
            createdNanoseconds INTEGER NOT NULL,
            ends               INTEGER NOT NULL,
            PRIMARY KEY (uid, path)
        ) STRICT, WITHOUT ROWID;
        """,
        """
        -- The last audit record that a second place took (AuditForwarder); NULL if there never was one.
        ALTER TABLE state ADD COLUMN forwarded INTEGER;
        -- The number of the book's last change after that save. A book whose last change is earlier has lost saves.
        ALTER TABLE outboxMark ADD COLUMN change INTEGER NOT NULL DEFAULT 0;
        """,
        """
        -- The contacts in the app's replies since this version, and when the last of these replies was, in seconds since 1970.
        ALTER TABLE appGrant ADD COLUMN contactsRead INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE appGrant ADD COLUMN lastReadAt INTEGER;
        """,
        """
        -- What the app may change (ChangeRight). Before this version, an app that could read all ordinary keys (these bits)
        -- could also delete the contacts that it saw, and every other app could change them.
        ALTER TABLE appGrant ADD COLUMN changes TEXT NOT NULL DEFAULT 'none';
        UPDATE appGrant SET changes = iif(keys & 3489660927 = 3489660927, 'all', 'edit') WHERE level <> 'denied';
        """,
        """
        -- Contacts that such apps, as in unconfirmed, changed or deleted without a password.
        CREATE TABLE changedContact (
            uid           INTEGER NOT NULL,
            contact       INTEGER NOT NULL,
            time          INTEGER NOT NULL,
            PRIMARY KEY (uid, contact)
        ) STRICT, WITHOUT ROWID;
        """,
        """
        -- The connections of programs that speak CardDAV (CardDAVConnection). madeAt and lapsedAt: seconds since 1970.
        CREATE TABLE cardDAVConnection (
            uid           INTEGER NOT NULL,
            name          TEXT    NOT NULL,
            identifier    TEXT    NOT NULL,
            passwordHash  BLOB    NOT NULL CHECK (length(passwordHash) = 32),
            madeAt        INTEGER NOT NULL,
            lapsedAt      INTEGER,
            PRIMARY KEY (uid, name)
        ) STRICT, WITHOUT ROWID;
        """,
    ]

    /// The first version with a ``SyncedPosition`` file.
    static let keepsPosition = 6

    /// Checks that the file is an intact access database and not from a later version. Does not change the
    /// file.
    ///
    /// The check does not read the audit, which can be long. Verification reads the audit in steps.
    ///
    /// - Returns: the version of the file; 0 if it is empty.
    static func inspect(path: String) throws(AccessStoreError) -> Int {
        // Opening a WAL database creates a log beside it, which a read-only connection cannot remove. If no
        // log exists, the file is therefore opened as immutable.
        let connection = try Database.open(path, access(path + "-wal", F_OK) == 0 ? .readOnly : .immutable)
        let version = try connection.integer("PRAGMA user_version") ?? 0
        let application = try connection.integer("PRAGMA application_id") ?? 0
        if version == 0, application == 0, try connection.integer("SELECT count(*) FROM sqlite_schema") == 0 {
            return 0
        }
        guard application == Self.application else { throw .damaged(reason: "this is not an access database") }
        guard version <= Self.version else { throw .newerSchema }
        var tables = ["state", "principal", "appGrant", "grantedContact", "setEvent", "saveIntent", "auditKey"]
        if version >= 3 { tables.append("owner") }
        if version >= 4 { tables.append("silence") }
        if version >= 5 { tables.append("outboxMark") }
        if version >= 7 { tables.append("unconfirmed") }
        if version >= 9 { tables += ["auditSegment", "auditRemoval"] }
        if version >= 10 { tables.append("groupShare") }
        if version >= 13 { tables.append("declaredFolder") }
        if version >= 17 { tables.append("changedContact") }
        if version >= 18 { tables.append("cardDAVConnection") }
        for table in tables {
            let report = try PreparedStatement("PRAGMA quick_check(\(table))", on: connection)
            while try report.step() {
                let line = report.textOrNil(0) ?? ""
                // A row that violates a CHECK does not count as damage: a grant that cannot be read is
                // denied.
                guard line == "ok" || line.hasPrefix("CHECK constraint failed") else {
                    throw .damaged(reason: "\(table): \(line)")
                }
            }
        }
        guard try connection.integer("SELECT count(*) FROM state") == 1 else {
            throw .damaged(reason: "the counters are missing")
        }
        return Int(version)
    }

    /// Creates an empty access database.
    static func create(_ path: String) throws(AccessStoreError) {
        do {
            // Small pages, because a commit writes and checksums whole pages.
            try Database.create(path, settings: "PRAGMA page_size = 1024") { try apply(steps[...], to: $0) }
        } catch {
            throw error as? AccessStoreError ?? .unavailable(reason: "\(error)")
        }
    }

    static func migrate(_ connection: Database) throws(AccessStoreError) {
        let version = Int(try connection.integer("PRAGMA user_version") ?? 0)
        guard version < steps.count else { return }
        try connection.execute("BEGIN IMMEDIATE")
        try apply(steps[version...], to: connection)
        try connection.execute("COMMIT")
    }

    private static func apply(_ steps: ArraySlice<String>, to connection: Database) throws(AccessStoreError) {
        for step in steps { try connection.execute(step) }
        try connection.execute("PRAGMA application_id = \(application); PRAGMA user_version = \(version)")
    }
}
