import BrokerAccessControl
import BrokerSQLite

/// The user whose data is stored under a UID.
struct Owner: Hashable {
    /// The user's name when data was first stored.
    let name: String
    /// Whether a purge has begun: the grants are deleted, and the book is being removed.
    var isPurged = false
}

extension AccessStore {
    /// The name of the user whose data is stored under this UID; `nil` if no data is stored or the name is
    /// unknown.
    public func ownerName(of uid: UInt32) -> String? { owners[uid]?.name }

    /// Records the owner of a UID when the first data is stored for it.
    func noteOwner(of uid: UInt32) {
        // If the name is not known yet, a later call records it.
        guard owners[uid] == nil, let name = userNames[uid] else { return }
        owners[uid] = Owner(name: name)
        unwritten.owners.insert(uid)
    }

    /// Deletes everything stored for a user except the audit: grants, identifier keys, intents, silences,
    /// unconfirmed contacts, declared folders, the outbox mark and the key of the contacts' pseudonyms.
    ///
    /// The same transaction records that the book must be deleted too. After a crash, the next start can
    /// therefore finish the purge.
    ///
    /// - Returns: the number of deleted grants.
    @discardableResult
    public func beginPurge(of uid: UInt32) -> Int {
        // First reapply saves that a failed commit rolled back, so that the audit records them before the
        // book is deleted.
        redeliver()
        noteDecision()
        let principals = principals(of: uid)
        for principal in principals { held[principal] = nil }
        for principal in identifierKeys.keys where principal.uid == uid { identifierKeys[principal] = nil }
        for (id, intent) in intents where intent.uid == uid { intents[id] = nil }
        for principal in silenced.keys where principal.uid == uid { silenced[principal] = nil }
        unconfirmed[uid] = nil
        unwritten.unconfirmed.remove(uid)
        declared[uid] = nil
        unwritten.declared.remove(uid)
        for app in usages.keys where app.uid == uid { usages[app] = nil }
        unwritten.silences = unwritten.silences.filter { $0.uid != uid }
        unwritten.grants = unwritten.grants.filter { $0.key.uid != uid }
        unwritten.pseudonyms.remove(uid)
        pseudonyms[uid] = nil
        // A rollback of the batch must not restore any of this data.
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

    /// Ends the purge after the book was deleted. The UID may then get a new owner.
    public func endPurge(of uid: UInt32) {
        guard owners[uid]?.isPurged == true else { return }
        owners[uid] = nil
        pseudonyms[uid] = nil
        unwritten.owners.insert(uid)
    }

    /// Users whose purge has begun and not ended, for example because a crash interrupted it.
    public var openPurges: [UInt32] { owners.filter(\.value.isPurged).keys.sorted() }

    // MARK: Rows

    func writeOwners(_ connection: Database) throws(AccessStoreError) {
        for uid in unwritten.purges {
            for table in [
                "principal", "saveIntent", "auditKey", "silence", "unconfirmed", "outboxMark", "declaredFolder",
            ] {
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
