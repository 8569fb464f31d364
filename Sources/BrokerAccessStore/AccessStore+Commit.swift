import BrokerAccessControl
import BrokerModel

extension AccessStore {
    /// Whether there are changes to commit.
    public var hasUncommitted: Bool {
        !batch.records.isEmpty || !unwritten.isEmpty || !undelivered.isEmpty || !batch.grants.isEmpty
            || !batch.identifiers.isEmpty || batch.failure != nil || counters != writtenCounters
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
    public func checkFiles() throws(AccessStoreError) {
        guard !walSync.isRemoved else { throw .removed(path: folder.database) }
    }

    /// When one app has this many unwritten uses, the next commit writes the uses of all apps.
    private static let mostUnwrittenUses = 64
    /// The maximum number of revocation and count records that are kept while commits fail.
    private static let mostKeptRecords = 1_024

    func commit(withAllUses: Bool) throws(AccessStoreError) {
        guard hasUncommitted else { return }
        redeliver()
        var anchors = false
        do throws(AccessStoreError) {
            let writer = try openWriter()
            if let failure = batch.failure { throw failure }
            try checkFiles()
            // Runs before the transaction, because it may make a pseudonym key, which the transaction then
            // writes.
            let rows = try auditRows()
            try writer.transaction { () throws(AccessStoreError) in
                try write(rows, writer)
                try writeRemoval(writer.connection)
                // First deletes the rows of purged users. The rows written below were added after the purge,
                // so they must not be deleted.
                try writeOwners(writer.connection)
                try writeGrants(writer.connection)
                try writeIntents(writer.connection)
                try writeMarks(writer.connection)
                try writePseudonyms(writer.connection)
                try writeSilences(writer.connection)
                try writeUnconfirmed(writer.connection)
                try writeDeclared(writer.connection)
                if withAllUses || hasUnwrittenUses { try writeUses(writer.connection) }
                anchors = withAllUses || mustAnchor
                if anchors { try writer.write(counters, forwarded: forwarded) }
            }
        } catch {
            rollBack()
            throw error
        }
        if anchors { anchor = (counters, forwarded, batch.records.last?.time ?? anchor.time) }
        settle()
    }

    /// Whether this commit writes the row of counters. If only the audit has grown, a commit writes the
    /// row only if ``anchorInterval`` has passed or ``mostUnanchored`` records were added. Skipping the row
    /// saves one page per commit. After a crash the records themselves show the end of the chain.
    private var mustAnchor: Bool {
        let written = anchor.counters
        guard counters.revision == written.revision, counters.recordNumber == written.recordNumber,
            counters.intent == written.intent, (forwarded == nil) == (anchor.forwarded == nil),
            counters.auditSequence - written.auditSequence < Self.mostUnanchored
        else { return true }
        // A clock that was set back counts as an elapsed interval.
        let time = batch.records.last?.time ?? anchor.time
        return !(0..<Self.anchorInterval).contains(time - anchor.time)
    }

    /// In microseconds.
    private static let anchorInterval: Int64 = 100_000
    /// The maximum number of records that the next start may have to read again after a crash.
    private static let mostUnanchored: Int64 = 1_024

    private func auditRows() throws(AccessStoreError) -> [AuditRow<String>] {
        var sequence = writtenCounters.auditSequence
        var rows: [AuditRow<String>] = []
        rows.reserveCapacity(batch.records.count)
        for record in batch.records {
            sequence += 1
            let contacts = record.contacts.map { pseudonyms(of: $0, uid: record.uid) }
            if let failure = batch.failure { throw failure }
            rows.append(AuditRow(record, sequence: sequence, contacts: contacts ?? nil))
        }
        return rows
    }

    private func write(_ rows: [AuditRow<String>], _ writer: AccessWriter) throws(AccessStoreError) {
        for row in rows {
            let hash = try AuditChain.hash(row, after: counters.auditHead, &writer.canonical)
            try writer.write(row, hash: hash)
            counters.auditSequence = row.sequence
            counters.auditHead = hash
        }
    }

    /// Updates memory after the batch was committed.
    private func settle() {
        removal = batch.removal ?? removal
        countUses()
        commits += 1
        writtenCounters = counters
        writtenMarks = outboxMarks
        undelivered.removeAll()
        ledger.committed()
        unwritten = Unwritten()
        batch.clear()
    }

    private func countUses() {
        for record in batch.records where record.event == .disclosure {
            guard let strength = record.strength,
                let place = usages.index(forKey: Principal(uid: record.uid, strength: strength, app: record.app))
            else { continue }
            // A count covers only the repeats; the first disclosure has its own record.
            usages.values[place].uses += record.repeats ?? 1
            usages.values[place].unwritten += record.repeats ?? 1
            usages.values[place].lastUsedAt = max(
                usages.values[place].lastUsedAt ?? .min, record.time / 1_000_000)
            // The record of a number, such as that of CountContacts, has neither contacts nor keys.
            if let count = record.count, count > 0, record.contacts != nil || record.keys?.isEmpty == false {
                if record.repeats == nil { usages.values[place].contacts += count }
                usages.values[place].lastReadAt = max(
                    usages.values[place].lastReadAt ?? .min, record.time / 1_000_000)
            }
            hasUnwrittenUses = hasUnwrittenUses || usages.values[place].unwritten >= Self.mostUnwrittenUses
        }
    }

    /// Rolls the batch back in memory after a failed commit.
    private func rollBack() {
        counters.auditSequence = writtenCounters.auditSequence
        counters.auditHead = writtenCounters.auditHead
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
        for (uid, before) in batch.outboxMarks { outboxMarks[uid] = before }
        unwritten.marks.removeAll()
        // Removes the windows opened since the last commit. Their first records were not written, so a repeat
        // count would refer to a missing record.
        ledger.rolledBack()
        let kept =
            batch.records.filter { $0.event == .revocation } + batch.records.filter { $0.repeats != nil }
        batch = Batch()
        batch.records = Array(kept.prefix(Self.mostKeptRecords))
    }
}

extension AuditRow<String> {
    init(_ record: AuditRecord, sequence: Int64, contacts: [UInt8]?) {
        self.init(
            sequence: sequence, time: record.time, uid: Int64(record.uid), app: record.app,
            strength: record.strength?.rawValue, event: record.event.rawValue,
            status: record.status?.rawValue,
            keys: record.keys.map { Int64(bitPattern: $0.rawValue) }, count: record.count.map(Int64.init),
            contacts: contacts, revision: record.revision, repeats: record.repeats.map(Int64.init),
            detail: record.detail)
    }
}
