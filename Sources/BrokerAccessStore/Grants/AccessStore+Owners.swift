import BrokerAccessControl
import BrokerSQLite

/// Whose a user number is, and the end of everything that was kept for it.
struct Owner: Hashable {
    /// The user's name when something was first kept.
    let name: String
    /// What was decided is gone, and the book is being taken away.
    var isPurged = false
}

extension AccessStore {
    /// For whom something is kept under this number; `nil` where nothing is, or nobody's name was noted.
    public func ownerName(of uid: UInt32) -> String? { owners[uid]?.name }

    /// Notes whose the number is, with the first thing that is kept for it.
    func noteOwner(of uid: UInt32) {
        // Where nobody's name is known yet, it is noted with the next thing that is kept.
        guard owners[uid] == nil, let name = userNames[uid] else { return }
        owners[uid] = Owner(name: name)
        unwritten.owners.insert(uid)
    }

    /// Forgets everything that was decided for a user: grants, identifiers, saves that are on their way, and what their
    /// contacts are called in the audit. The audit itself keeps its records.
    ///
    /// It is one transaction with a note that the book is to go too, so that the next start goes on where a crash came between.
    ///
    /// - Returns: how many grants there were.
    @discardableResult
    public func beginPurge(of uid: UInt32) -> Int {
        // What is in the book is on record before it goes.
        redeliver()
        noteDecision()
        let principals = held.keys.filter { $0.uid == uid }
        for principal in principals { held[principal] = nil }
        for principal in identifierKeys.keys where principal.uid == uid { identifierKeys[principal] = nil }
        for (id, intent) in intents where intent.uid == uid { intents[id] = nil }
        for principal in silenced.keys where principal.uid == uid { silenced[principal] = nil }
        for app in usages.keys where app.uid == uid { usages[app] = nil }
        unwritten.silences = unwritten.silences.filter { $0.uid != uid }
        unwritten.grants = unwritten.grants.filter { $0.key.uid != uid }
        unwritten.pseudonyms.remove(uid)
        pseudonyms[uid] = nil
        // Nothing of it comes back if the batch fails.
        batch.grants = batch.grants.filter { $0.key.uid != uid }
        batch.identifiers = batch.identifiers.filter { $0.uid != uid }
        batch.intents = batch.intents.filter { $0.value?.uid != uid }
        outboxMarks[uid] = nil
        batch.outboxMarks[uid] = nil
        unwritten.marks.remove(uid)
        owners[uid] = Owner(name: owners[uid]?.name ?? userNames[uid] ?? "\(uid)", isPurged: true)
        unwritten.owners.insert(uid)
        unwritten.purges.insert(uid)
        return principals.count
    }

    /// The book is gone too: the number is free for whoever comes next.
    public func endPurge(of uid: UInt32) {
        guard owners[uid]?.isPurged == true else { return }
        owners[uid] = nil
        pseudonyms[uid] = nil
        unwritten.owners.insert(uid)
    }

    /// Users whose purge a crash, or a disk that took nothing, cut short.
    public var openPurges: [UInt32] { owners.filter(\.value.isPurged).keys.sorted() }

    // MARK: Rows

    func writeOwners(_ connection: Database) throws(AccessStoreError) {
        for uid in unwritten.purges {
            for table in ["principal", "saveIntent", "auditKey", "silence", "outboxMark"] {
                try connection.statement("DELETE FROM \(table) WHERE uid = ?").bind(1, Int64(uid)).run()
            }
        }
        for uid in unwritten.owners {
            guard let owner = owners[uid] else {
                try connection.statement("DELETE FROM owner WHERE uid = ?").bind(1, Int64(uid)).run()
                continue
            }
            try connection.statement(
                """
                INSERT INTO owner (uid, name, purged) VALUES (?1, ?2, ?3)
                ON CONFLICT DO UPDATE SET name = excluded.name, purged = excluded.purged
                """
            )
            .bind(1, Int64(uid)).bind(2, owner.name).bind(3, Int64(owner.isPurged ? 1 : 0)).run()
        }
    }
}
