import BrokerAccessControl
import BrokerModel

extension AccessStore {
    /// Whether there are changes to commit.
    public var hasUncommitted: Bool {
        audit.hasUncommitted || owners.hasUnwritten || silences.hasUnwritten || unconfirmed.hasUnwritten
            || changed.hasUnwritten
            || declarations.hasUnwritten || connections.hasUnwritten || outboxMarks.hasUnwritten || !unwritten.isEmpty
            || !undelivered.isEmpty
            || !batch.grants.isEmpty || !batch.identifiers.isEmpty || counters != writtenCounters
    }

    /// Writes the batch as one transaction. Returns before the transaction is synced; see ``walSync``.
    ///
    /// - Throws: if the batch could not be written. The store then rolls grants, identifier keys, intents and
    ///   outbox marks back to their state after the last commit, except that access which the batch removed
    ///   stays removed until somebody grants it again. Silences, unconfirmed contacts and purges are kept for
    ///   the next commit, and so are ``AuditEvent/revocation`` and count records. The broker must then reply
    ///   that the store is unavailable.
    public func commit() throws(AccessStoreError) { try commit(withAllUses: false) }

    /// Checks whether the files were removed while the store is open. Does not block.
    public func checkFiles() throws(AccessStoreError) { try file.check() }

    func commit(withAllUses: Bool) throws(AccessStoreError) {
        guard hasUncommitted else { return }
        redeliver()
        var anchors = false
        do throws(AccessStoreError) {
            let writer = try file.openWriter()
            if let failure = audit.pseudonyms.failure { throw failure }
            try checkFiles()
            // Runs before the transaction, because it may make a pseudonym key, which the transaction then
            // writes.
            let rows = try audit.rows()
            try writer.transaction { () throws(AccessStoreError) in
                try audit.write(rows, writer)
                // First deletes the rows of purged users. The rows written below were added after the purge,
                // so they must not be deleted.
                try owners.write(writer.connection)
                try writeGrants(writer.connection)
                try writeIntents(writer.connection)
                try outboxMarks.write(writer.connection)
                try audit.pseudonyms.write(writer.connection)
                try silences.write(writer.connection)
                try unconfirmed.write(writer.connection)
                try changed.write(writer.connection)
                try declarations.write(writer.connection)
                try connections.write(writer.connection)
                if withAllUses || usages.areDue { try usages.write(writer.connection) }
                anchors = withAllUses || mustAnchor
                if anchors { try writer.write(counters, audit.end, forwarded: audit.forwarded) }
            }
        } catch {
            rollBack()
            throw error
        }
        if anchors {
            anchor = Anchor(
                counters: counters, end: audit.end.sequence, forwarded: audit.forwarded,
                time: audit.records.last?.time ?? anchor.time)
        }
        settle()
    }

    /// Whether this commit writes the row of counters. If only the audit has grown, a commit writes the
    /// row only if ``anchorInterval`` has passed or ``mostUnanchored`` records were added. Skipping the row
    /// saves one page per commit. After a crash the records themselves show the end of the chain.
    private var mustAnchor: Bool {
        guard counters == anchor.counters, (audit.forwarded == nil) == (anchor.forwarded == nil),
            audit.end.sequence - anchor.end < Self.mostUnanchored
        else { return true }
        // A clock that was set back counts as an elapsed interval.
        let time = audit.records.last?.time ?? anchor.time
        return !(0..<Self.anchorInterval).contains(time - anchor.time)
    }

    /// In microseconds.
    private static let anchorInterval: Int64 = 100_000
    /// The maximum number of records that the next start may have to read again after a crash.
    private static let mostUnanchored: Int64 = 1_024

    /// Updates memory after the batch was committed.
    private func settle() {
        usages.count(audit.records)
        commits += 1
        writtenCounters = counters
        outboxMarks.committed()
        undelivered.removeAll()
        audit.committed()
        owners.committed()
        silences.committed()
        unconfirmed.committed()
        changed.committed()
        declarations.committed()
        connections.committed()
        unwritten = Unwritten()
        batch.clear()
    }

    /// Rolls the batch back in memory after a failed commit.
    private func rollBack() {
        for (principal, before) in batch.grants {
            switch (before, held[principal]) {
            case (nil, let now?) where now.grant.access != .denied: held[principal] = nil
            // A denial stays if its reset fails; otherwise the app could ask again.
            case (let before?, nil) where before.grant.access == .denied: held[principal] = before
            case (nil, _), (_?, nil): break
            case (let before?, let now?):
                var grant = before.grant.narrowed(to: now.grant)
                guard grant != before.grant else {
                    held[principal] = before
                    break
                }
                grant.revision = nextRevision()
                // The changes to the set cannot be reconstructed step by step, so the history starts empty.
                held[principal] = StoredGrant(
                    grant: grant, displayName: before.displayName, history: SetHistory(epoch: grant.revision),
                    decision: StoredGrant.newDecision())
            }
            mark(principal, .whole)
        }
        for owner in batch.identifiers { identifierKeys[owner] = nil }
        for (id, before) in batch.intents { intents[id] = before }
        unwritten.intents.removeAll()
        outboxMarks.rolledBack()
        audit.rolledBack()
        batch = Batch()
    }
}

/// The row of the table `state`, as it was last written.
struct Anchor {
    var counters: Counters
    /// The sequence number of the last audit record.
    var end: Int64
    /// See ``AuditLog/forwarded``.
    var forwarded: Int64?
    /// The time of the last audit record in that commit, in microseconds since 1970.
    var time: Int64
}
