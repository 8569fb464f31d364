import BrokerAccessControl

extension AccessStore {
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
        silences.purge(uid)
        unconfirmed.purge(uid)
        changed.purge(uid)
        declarations.purge(uid)
        connections.purge(uid)
        usages.purge(uid)
        unwritten.grants = unwritten.grants.filter { $0.key.uid != uid }
        audit.pseudonyms.purge(uid)
        // A rollback of the batch must not restore any of this data.
        batch.grants = batch.grants.filter { $0.key.uid != uid }
        batch.identifiers = batch.identifiers.filter { $0.uid != uid }
        batch.intents = batch.intents.filter { $0.value?.uid != uid }
        outboxMarks.purge(uid)
        owners.beginPurge(of: uid)
        return principals.count
    }

    /// Ends the purge after the book was deleted. The UID may then get a new owner.
    public func endPurge(of uid: UInt32) {
        guard owners.isPurged(uid) else { return }
        owners.endPurge(of: uid)
        audit.pseudonyms.purge(uid)
    }
}
