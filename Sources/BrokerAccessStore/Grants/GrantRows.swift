import BrokerAccessControl
import BrokerModel
import BrokerSQLite

/// Writes the rows of a grant, within the transaction of a commit.
enum GrantRows {
    static func write(
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
                decidedThrough, askedKeys, purposeHash, contactsRead, lastReadAt, changes)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
            ON CONFLICT DO UPDATE SET level = excluded.level, keys = excluded.keys, expires = excluded.expires,
                revision = excluded.revision, decidedBy = excluded.decidedBy, decidedAt = excluded.decidedAt,
                lastUsedAt = excluded.lastUsedAt, uses = excluded.uses, epoch = excluded.epoch,
                decision = excluded.decision, decidedThrough = excluded.decidedThrough,
                askedKeys = excluded.askedKeys, purposeHash = excluded.purposeHash,
                contactsRead = excluded.contactsRead, lastReadAt = excluded.lastReadAt,
                changes = excluded.changes
            """
        )
        .bind(1, id).bind(2, level).bind(3, Int64(bitPattern: grant.keys.rawValue)).bind(4, expires)
        .bind(5, grant.revision).bind(6, grant.decidedBy.rawValue).bind(7, grant.decidedAt)
        .bind(8, usage.lastUsedAt).bind(9, Int64(usage.uses)).bind(10, held.history.epoch)
        .bind(11, held.decision).bind(12, grant.decidedThrough)
        .bind(13, Int64(bitPattern: grant.asked.rawValue)).bind(14, grant.purposeHash)
        .bind(15, Int64(usage.contacts)).bind(16, usage.lastReadAt).bind(17, grant.changes.rawValue)
        .run()
    }

    static func write(
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

    static func write(
        _ change: SetChange, _ groups: GrantedGroups, of id: Int64, _ connection: Database
    ) throws(AccessStoreError) {
        let insert = try connection.statement("INSERT INTO groupShare (principal, kind, record) VALUES (?, ?, ?)")
        let write = { (kind: GroupShareKind, records: Set<RecordNumber>) throws(AccessStoreError) in
            for record in records.sorted() {
                try insert.bind(1, id).bind(2, kind.rawValue).bind(3, record.rawValue).run()
            }
        }
        // A group may also leave a grant whose set stays the same.
        guard case .rows(let added, let removed) = change, !groups.all.isEmpty else {
            try connection.statement("DELETE FROM groupShare WHERE principal = ?").bind(1, id).run()
            try write(.group, groups.all)
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
        // The book says which of them are gone.
        try write(.group, groups.all)
        try write(.joined, groups.joined.intersection(moved))
        try write(.withheld, groups.withheld.intersection(moved))
    }

    /// Writes the events that the file lacks, and deletes from the file the events that memory lacks.
    static func write(
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
}

/// What a row of the table `groupShare` names.
enum GroupShareKind: Int64 {
    case group = 0
    case joined = 1
    case withheld = 2
}
