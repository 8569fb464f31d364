import BrokerAccessControl
import BrokerBounds
import BrokerModel
import BrokerSQLite

extension AccessStore {
    /// Returns `count` record numbers that were never used. The first one is `now`, or the number after the
    /// last used one if that is larger.
    ///
    /// Because the numbers depend on the time, none is reused even after somebody restores an older copy of
    /// the file.
    ///
    /// - Parameter now: microseconds since 1970.
    public func takeRecordNumbers(_ count: Int, now: Int64) -> [RecordNumber] {
        guard count > 0 else { return [] }
        let first = max(now, counters.recordNumber + 1)
        counters.recordNumber = first + Int64(count) - 1
        return (first...counters.recordNumber).map { RecordNumber($0) }
    }

    /// Begins a save and returns its entry for the outbox of the user's book. The store changes nothing until
    /// ``endSave(_:change:)`` is called.
    ///
    /// Call this only while no other save of the user is in progress, and after all entries of the outbox
    /// were taken over.
    ///
    /// - Parameter now: microseconds since 1970.
    public func beginSave(
        _ contents: SaveContents, by principal: Principal, now: Int64
    ) throws(AccessStoreError) -> BegunSave {
        guard undelivered.count < StoreLimits.undeliveredSaves else {
            throw .unavailable(reason: "saves have not been recorded for too long")
        }
        let uid = principal.uid
        let last = max(outboxMark(of: uid), undelivered.last { $0.notice.uid == uid }?.notice.number ?? 0)
        let held = held[principal]
        let notice = SaveNotice(
            number: last + 1, uid: uid, strength: principal.strength, app: principal.app, time: now,
            count: contents.count, detail: contents.detail, adds: contents.adds, deletes: contents.deletes,
            contacts: contents.contacts, lastNumber: counters.recordNumber,
            decision: principal.binding == .persistent && !contents.adds.isEmpty ? held?.decision : nil,
            isKeptToSingle: contents.isKeptToSingle)
        guard let entry = notice.encoded() else { throw .unavailable(reason: "libcrypto could not hash") }
        return BegunSave(
            notice: notice, principal: principal, epoch: held?.history.epoch, entry: entry,
            takenOver: onDisk.outboxMarks[uid]?.number ?? 0, synced: onDisk.position)
    }

    /// Ends a save that is in the book: widens the app's set, removes deleted contacts from all sets, and
    /// adds the audit records. These changes join the batch. If the commit fails, later commits apply them
    /// again until one succeeds.
    ///
    /// - Parameter change: the number of the book's last change.
    /// - Returns: `false` if the decision about the app has changed since the save began. A crash before
    ///   the next sync would then leave the new contacts out of the app's set, so wait for ``walSync`` before
    ///   you reply to the app.
    @discardableResult
    public func endSave(_ save: BegunSave, change: Int64) -> Bool {
        let decision = held[save.principal]?.decision
        deliver(Delivery(notice: save.notice, change: change, now: (save.principal, save.epoch)))
        return save.notice.decision == nil || save.notice.decision == decision
    }

    /// Takes over an outbox entry that was left in a book when the broker crashed or exited. Skips entries
    /// that were taken over before. The changes join the batch.
    ///
    /// The new contacts join the app's set only if no decision about the app was made since the save began: a
    /// reset, narrowed or replaced grant stays as it is. The app may then be unable to see the contacts that
    /// it added; the person sees them.
    public func takeOver(
        _ entry: [UInt8], number: Int64, change: Int64, of uid: UInt32, now: Int64, afterCrash: Bool = true
    ) {
        let isWaiting = undelivered.contains { $0.notice.uid == uid && $0.notice.number == number }
        guard number > outboxMark(of: uid), !isWaiting else { return }
        if var notice = SaveNotice(entry, uid: uid, number: number) {
            if afterCrash { notice.detail = notice.detail.map { $0 + ", " + Self.beforeCrash } ?? Self.beforeCrash }
            return deliver(Delivery(notice: notice, change: change, now: nil))
        }
        // A save certainly happened, but its app and contacts are unknown, so no set is widened.
        redeliver()
        // Its record numbers are unknown too. One save uses fewer numbers than are skipped here.
        counters.recordNumber = max(counters.recordNumber, now) + 1_000_000
        audit.append(AuditRecord(time: now, uid: uid, event: .save, detail: "unreadable, " + Self.beforeCrash))
        mark(number, change: change, of: uid)
    }

    /// Whether the effects of a save are still uncommitted; every commit retries them.
    public var hasUndelivered: Bool { !undelivered.isEmpty }

    /// Whether a failed commit rolled saves back. The next commit then reapplies them, which changes granted
    /// sets.
    public var willRedeliver: Bool { !undelivered.isEmpty && !batch.hasDelivered }

    /// The number of the last entry that was taken over from the outbox of the user's book; 0 if none was.
    public func outboxMark(of uid: UInt32) -> Int64 { outboxMarks[uid]?.number ?? 0 }

    /// The number of the last change in the user's book after the last save that was taken over; 0 if none was. The book
    /// had synced that change, so a book whose last change is earlier has lost saves.
    public func lastChange(of uid: UInt32) -> Int64 { outboxMarks[uid]?.change ?? 0 }

    private static let beforeCrash = "before a crash"

    // MARK: Taking over

    private func deliver(_ delivery: Delivery) {
        redeliver()
        undelivered.append(delivery)
        batch.hasDelivered = true
        apply(delivery)
    }

    /// Applies again, in order, the saves that a failed commit rolled back.
    func redeliver() {
        guard willRedeliver else { return }
        batch.hasDelivered = true
        for delivery in undelivered { apply(delivery) }
    }

    private func apply(_ delivery: Delivery) {
        let notice = delivery.notice
        // The book's record numbers are never reused, even if the clock was set back.
        counters.recordNumber = max(counters.recordNumber, notice.lastNumber)
        let moment = SetMoment(change: delivery.change, time: notice.time / 1_000_000)
        if !owners.isPurged(notice.uid) {
            owners.note(notice.uid)
            widen(delivery, at: moment)
        }
        drop(Set(notice.deletes), uid: notice.uid, at: moment)
        for first in stride(from: 0, to: max(notice.contacts.count, 1), by: contactsPerRecord) {
            let part = Array(notice.contacts.dropFirst(first).prefix(contactsPerRecord))
            audit.append(
                AuditRecord(
                    time: notice.time, uid: notice.uid, app: notice.app, strength: notice.strength, event: .save,
                    count: notice.contacts.isEmpty ? notice.count : part.count, contacts: part, detail: notice.detail))
        }
        mark(notice.number, change: delivery.change, of: notice.uid)
    }

    private func widen(_ delivery: Delivery, at moment: SetMoment) {
        let notice = delivery.notice
        let principal: Principal
        if let now = delivery.now {
            // The epoch identifies the grant, even if the person has added or removed contacts since.
            guard let epoch = now.epoch, held[now.principal]?.history.epoch == epoch else { return }
            principal = now.principal
        } else {
            principal = Principal(uid: notice.uid, strength: notice.strength, app: notice.app)
            guard let decision = notice.decision, held[principal]?.decision == decision else { return }
        }
        widen(principal, with: Set(notice.adds), at: moment)
        if notice.isKeptToSingle { addOwn(Set(notice.adds), to: principal, at: moment) }
    }

    private func mark(_ number: Int64, change: Int64, of uid: UInt32) {
        // Nothing new is stored for a user who is being purged.
        guard !owners.isPurged(uid) else { return }
        outboxMarks.set(OutboxMark(number: max(outboxMark(of: uid), number), change: change), of: uid)
    }

    // MARK: Intents of earlier versions

    /// Intents that an earlier version stored here and a crash left open, oldest first.
    public func openIntents() -> [SaveIntent] { intents.values.sorted { $0.id < $1.id } }

    /// Ends a save that a crash interrupted: contacts that are not in the book leave the granted sets.
    ///
    /// - Parameter existing: the records of ``SaveIntent/adds`` that are in the book.
    public func resolveSave(_ intent: Int64, existing: Set<RecordNumber>, at moment: SetMoment) {
        guard let open = intents[intent] else { return }
        unwiden(Set(open.adds).subtracting(existing), uid: open.uid, at: moment)
        if batch.intents[intent] == nil { batch.intents[intent] = .some(intents[intent]) }
        intents[intent] = nil
        unwritten.intents.insert(intent)
    }
}

extension AccessStore {
    /// The state after the last commit; see ``noteOnDisk(_:)``.
    public var committed: Committed {
        Committed(
            commits: commits, outboxMarks: outboxMarks.written, position: audit.last,
            revision: writtenCounters.revision)
    }

    /// Records that this committed state was synced.
    public func noteOnDisk(_ committed: Committed) {
        if committed.commits > onDisk.commits { onDisk = committed }
    }

    /// Whether the last decision or new key is not synced yet. A crash could then lose the decision but keep
    /// a save that relies on it.
    public var hasDecisionsOffDisk: Bool { lastDecision > onDisk.commits }

    /// Marks the next commit as the one that contains a decision or a new key. Call this for every decision
    /// and every new key.
    func noteDecision() { lastDecision = commits + 1 }
}
