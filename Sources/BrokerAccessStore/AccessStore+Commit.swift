import BrokerAccessControl
import BrokerModel

extension AccessStore {
    /// Something is to be committed.
    public var hasUncommitted: Bool {
        !batch.records.isEmpty || !unwritten.isEmpty || !undelivered.isEmpty || !batch.grants.isEmpty
            || !batch.identifiers.isEmpty || batch.failure != nil || counters != writtenCounters
    }

    /// Writes the batch as one transaction. Returns before the disk has it; see ``walSync``.
    ///
    /// - Throws: nothing of the batch counts then, and memory is as after the last commit, with two exceptions that are
    ///   on the safe side: whatever the batch took away stays away until somebody gives it anew, and its
    ///   ``AuditEvent/revocation`` records and counts stay for the next batch. Answer that the store is unavailable.
    public func commit() throws(AccessStoreError) { try commit(withAllUses: false) }

    /// Finds out whether the files were removed under this store. Waits for nothing.
    public func checkFiles() throws(AccessStoreError) {
        guard !walSync.isRemoved else { throw .removed(path: folder.database) }
    }

    /// Uses of one app that may be missing from the file.
    private static let mostUnwrittenUses = 64
    /// Records of revocations kept while nothing can be written.
    private static let mostKeptRecords = 1_024

    func commit(withAllUses: Bool) throws(AccessStoreError) {
        guard hasUncommitted else { return }
        redeliver()
        var anchors = false
        do throws(AccessStoreError) {
            let writer = try openWriter()
            if let failure = batch.failure { throw failure }
            try checkFiles()
            // Before the transaction, since it may make a key that belongs into it.
            let rows = try auditRows()
            try writer.transaction { () throws(AccessStoreError) in
                try write(rows, writer)
                // Before what may have been decided anew since.
                try writeOwners(writer.connection)
                try writeGrants(writer.connection)
                try writeIntents(writer.connection)
                try writeMarks(writer.connection)
                try writePseudonyms(writer.connection)
                try writeSilences(writer.connection)
                if withAllUses || hasUnwrittenUses { try writeUses(writer.connection) }
                anchors = withAllUses || mustAnchor
                if anchors { try writer.write(counters) }
            }
        } catch {
            takeBack()
            throw error
        }
        if anchors { anchor = (counters, batch.records.last?.time ?? anchor.time) }
        settle()
    }

    /// Whether the row of counters is to be written. Where only the audit has grown it follows now and then: after a crash
    /// the records themselves say how far it went, and a page less in each commit is a reply that comes sooner.
    private var mustAnchor: Bool {
        let written = anchor.counters
        guard counters.revision == written.revision, counters.recordNumber == written.recordNumber,
            counters.intent == written.intent,
            counters.auditSequence - written.auditSequence < Self.mostUnanchored
        else { return true }
        // A clock that was set back counts as time that has passed.
        let time = batch.records.last?.time ?? anchor.time
        return !(0..<Self.anchorInterval).contains(time - anchor.time)
    }

    /// Microseconds.
    private static let anchorInterval: Int64 = 100_000
    /// Records that the next start may have to look at again.
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

    /// The batch is in the file.
    private func settle() {
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
            // A count stands for its repeats; the first one has a record of its own.
            usages.values[place].uses += record.repeats ?? 1
            usages.values[place].unwritten += record.repeats ?? 1
            usages.values[place].lastUsedAt = max(
                usages.values[place].lastUsedAt ?? .min, record.time / 1_000_000)
            hasUnwrittenUses = hasUnwrittenUses || usages.values[place].unwritten >= Self.mostUnwrittenUses
        }
    }

    /// The batch is not in the file.
    private func takeBack() {
        counters.auditSequence = writtenCounters.auditSequence
        counters.auditHead = writtenCounters.auditHead
        for (principal, before) in batch.grants {
            switch (before, held[principal]) {
            case (nil, let now?) where now.grant.access != .denied: held[principal] = nil
            // What was denied stays so when a reset fails: otherwise the app could ask again.
            case (let before?, nil) where before.grant.access == .denied: held[principal] = before
            case (nil, _), (_?, nil): break
            case (let before?, let now?):
                var grant = before.grant.narrowed(to: now.grant)
                guard grant != before.grant else {
                    held[principal] = before
                    break
                }
                grant.revision = nextRevision()
                // What became of the set can no longer be told step by step.
                held[principal] = HeldGrant(
                    grant: grant, displayName: before.displayName, history: SetHistory(epoch: grant.revision),
                    decision: HeldGrant.newDecision())
            }
            mark(principal, .whole)
        }
        for owner in batch.identifiers { identifierKeys[owner] = nil }
        for (id, before) in batch.intents { intents[id] = before }
        unwritten.intents.removeAll()
        for (uid, before) in batch.outboxMarks { outboxMarks[uid] = before }
        unwritten.marks.removeAll()
        // What repeats a record that was not written would be told without one.
        ledger.takenBack()
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
