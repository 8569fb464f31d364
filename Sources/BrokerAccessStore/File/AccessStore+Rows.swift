import BrokerAccessControl
import BrokerModel
import BrokerSQLite

/// Writes the changed rows. All functions here run within the transaction of a commit.
extension AccessStore {
    func writeGrants(_ connection: Database) throws(AccessStoreError) {
        for (principal, change) in unwritten.grants { try writeGrant(of: principal, change, connection) }
    }

    private func writeGrant(
        of principal: Principal, _ change: SetChange, _ connection: Database
    ) throws(AccessStoreError) {
        let held = held[principal].flatMap { $0.grant.outlivesDaemon ? $0 : nil }
        let key = identifierKeys[principal]?.bytes
        guard held != nil || key != nil else {
            try connection.statement("DELETE FROM principal WHERE uid = ? AND strength = ? AND app = ?")
                .bind(1, Int64(principal.uid)).bind(2, principal.strength.rawValue).bind(3, principal.app).run()
            return
        }
        let upsert = try connection.statement(
            """
            INSERT INTO principal (uid, strength, app, displayName, identifierKey) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT DO UPDATE SET displayName = excluded.displayName, identifierKey = excluded.identifierKey
            RETURNING id
            """)
        upsert.bind(1, Int64(principal.uid)).bind(2, principal.strength.rawValue).bind(3, principal.app)
            .bind(4, held?.displayName ?? "").bind(5, key)
        guard let id = try upsert.all({ $0.integer(0) }).last else {
            throw .unavailable(reason: "a principal could not be written")
        }
        guard let held else {
            try connection.statement("DELETE FROM appGrant WHERE principal = ?").bind(1, id).run()
            return
        }
        try write(held, usages[principal] ?? Usage(), of: id, connection)
        usages[principal]?.unwritten = 0
        try write(change, held.grant, of: id, connection)
        try write(change, held.grant.groups, of: id, connection)
        try write(held.history, of: id, connection)
    }

    private func write(
        _ held: StoredGrant, _ usage: Usage, of id: Int64, _ connection: Database
    ) throws(AccessStoreError) {
        let grant = held.grant
        var expires: Int64?
        if case .untilTime(let end) = grant.lifetime { expires = end }
        let level: String
        switch grant.access {
        case .denied: level = "denied"
        case .limited: level = "limited"
        case .full: level = "full"
        }
        try connection.statement(
            """
            INSERT INTO appGrant
                (principal, level, keys, expires, revision, decidedBy, decidedAt, lastUsedAt, uses, epoch, decision,
                decidedThrough, askedKeys, purposeHash, contactsRead, lastReadAt)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
            ON CONFLICT DO UPDATE SET level = excluded.level, keys = excluded.keys, expires = excluded.expires,
                revision = excluded.revision, decidedBy = excluded.decidedBy, decidedAt = excluded.decidedAt,
                lastUsedAt = excluded.lastUsedAt, uses = excluded.uses, epoch = excluded.epoch,
                decision = excluded.decision, decidedThrough = excluded.decidedThrough,
                askedKeys = excluded.askedKeys, purposeHash = excluded.purposeHash,
                contactsRead = excluded.contactsRead, lastReadAt = excluded.lastReadAt
            """
        )
        .bind(1, id).bind(2, level).bind(3, Int64(bitPattern: grant.keys.rawValue)).bind(4, expires)
        .bind(5, grant.revision).bind(6, grant.decidedBy.rawValue).bind(7, grant.decidedAt)
        .bind(8, usage.lastUsedAt).bind(9, Int64(usage.uses)).bind(10, held.history.epoch)
        .bind(11, held.decision).bind(12, grant.decidedThrough)
        .bind(13, Int64(bitPattern: grant.asked.rawValue)).bind(14, grant.purposeHash)
        .bind(15, Int64(usage.contacts)).bind(16, usage.lastReadAt).run()
    }

    private func write(
        _ change: SetChange, _ grant: Grant, of id: Int64, _ connection: Database
    ) throws(AccessStoreError) {
        let insert = try connection.statement(
            "INSERT INTO grantedContact (principal, contact) VALUES (?, ?) ON CONFLICT DO NOTHING")
        switch change {
        case .rows(let added, let removed):
            let delete = try connection.statement("DELETE FROM grantedContact WHERE principal = ? AND contact = ?")
            for record in removed { try delete.bind(1, id).bind(2, record.rawValue).run() }
            for record in added { try insert.bind(1, id).bind(2, record.rawValue).run() }
        case .whole:
            try connection.statement("DELETE FROM grantedContact WHERE principal = ?").bind(1, id).run()
            var records = grant.own
            if case .limited(let set) = grant.access { records = set }
            // Sorted, because neighbouring rows share a page.
            for record in records.sorted() { try insert.bind(1, id).bind(2, record.rawValue).run() }
        }
    }

    private func write(
        _ change: SetChange, _ groups: GrantedGroups, of id: Int64, _ connection: Database
    ) throws(AccessStoreError) {
        let insert = try connection.statement("INSERT INTO groupShare (principal, kind, record) VALUES (?, ?, ?)")
        let write = { (kind: GroupShareKind, records: Set<RecordNumber>) throws(AccessStoreError) in
            for record in records.sorted() {
                try insert.bind(1, id).bind(2, kind.rawValue).bind(3, record.rawValue).run()
            }
        }
        // A group may also leave a grant whose set stays the same.
        guard case .rows(let added, let removed) = change, !groups.records.isEmpty else {
            try connection.statement("DELETE FROM groupShare WHERE principal = ?").bind(1, id).run()
            try write(.group, groups.records)
            try write(.joined, groups.joined)
            return try write(.withheld, groups.withheld)
        }
        let moved = added.union(removed)
        try connection.statement("DELETE FROM groupShare WHERE principal = ? AND kind = ?")
            .bind(1, id).bind(2, GroupShareKind.group.rawValue).run()
        let delete = try connection.statement("DELETE FROM groupShare WHERE principal = ? AND kind > ? AND record = ?")
        for record in moved {
            try delete.bind(1, id).bind(2, GroupShareKind.group.rawValue).bind(3, record.rawValue).run()
        }
        try write(.group, groups.records)
        try write(.joined, groups.joined.intersection(moved))
        try write(.withheld, groups.withheld.intersection(moved))
    }

    /// Writes the events that the file lacks, and deletes from the file the events that memory lacks.
    private func write(
        _ history: SetHistory, of id: Int64, _ connection: Database
    ) throws(AccessStoreError) {
        try connection.statement("DELETE FROM setEvent WHERE principal = ? AND revision < ?")
            .bind(1, id).bind(2, history.events.first?.revision ?? Int64.max).run()
        let written =
            try connection.statement("SELECT max(revision) FROM setEvent WHERE principal = ?").bind(1, id)
            .first { $0.integerOrNil(0) } ?? 0
        let insert = try connection.statement(
            "INSERT INTO setEvent (principal, revision, contact, kind, change, time) VALUES (?, ?, ?, ?, ?, ?)")
        for event in history.events.reversed() {
            // The events of one revision are always written together.
            guard event.revision > written else { break }
            try insert.bind(1, id).bind(2, event.revision).bind(3, event.record.rawValue)
                .bind(4, event.kind.rawValue).bind(5, event.change).bind(6, event.time).run()
        }
    }

    /// Deletes resolved intents. This version of the broker creates no intents.
    func writeIntents(_ connection: Database) throws(AccessStoreError) {
        for id in unwritten.intents where intents[id] == nil {
            try connection.statement("DELETE FROM saveIntent WHERE id = ?").bind(1, id).run()
        }
    }

    func writePseudonyms(_ connection: Database) throws(AccessStoreError) {
        for uid in unwritten.pseudonyms {
            try connection.statement("INSERT INTO auditKey (uid, key) VALUES (?, ?)")
                .bind(1, Int64(uid)).bind(2, pseudonyms[uid]?.key).run()
        }
    }

    /// Writes the use counts of all apps with unwritten uses.
    func writeUses(_ connection: Database) throws(AccessStoreError) {
        hasUnwrittenUses = false
        for (app, usage) in usages where usage.unwritten > 0 {
            try connection.statement(
                """
                UPDATE appGrant SET lastUsedAt = ?4, uses = ?5, contactsRead = ?6, lastReadAt = ?7
                WHERE principal = (SELECT id FROM principal WHERE uid = ?1 AND strength = ?2 AND app = ?3)
                """
            )
            .bind(1, Int64(app.uid)).bind(2, app.strength.rawValue).bind(3, app.app).bind(4, usage.lastUsedAt)
            .bind(5, Int64(usage.uses)).bind(6, Int64(usage.contacts)).bind(7, usage.lastReadAt).run()
            usages[app]?.unwritten = 0
        }
    }
}

/// What a row of the table `groupShare` names.
enum GroupShareKind: Int64 {
    case group = 0
    case joined = 1
    case withheld = 2
}

extension Grant {
    /// Whether the grant is bound to neither a session nor a process, and therefore outlives the daemon.
    fileprivate var outlivesDaemon: Bool {
        switch lifetime {
        case .untilRevoked, .untilTime: true
        case .session, .process: false
        }
    }
}
