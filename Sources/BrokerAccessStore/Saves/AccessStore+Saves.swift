import BrokerAccessControl
import BrokerModel
import BrokerSQLite

/// A save on its way into a user's book.
public struct BegunSave: Sendable {
    let notice: SaveNotice
    let principal: Principal
    /// The grant's when the save began; see ``SetHistory/epoch``.
    let epoch: Int64?
    /// What goes into the book's outbox, and as what.
    public let entry: [UInt8]
    public var number: Int64 { notice.number }
    /// Entries up to this one are on the disk here.
    public let takenOver: Int64
    /// The last record that is on the disk.
    public let synced: AuditPosition
}

/// What a save is, for ``AccessStore/beginSave(_:by:now:)``.
public struct SaveContents: Sendable {
    /// Contacts that are new; a limited app's set is widened by them.
    public var adds: [RecordNumber] = []
    /// Contacts that leave the book, and every set.
    public var deletes: [RecordNumber] = []
    /// The contacts that the audit names.
    public var contacts: [RecordNumber] = []
    /// Changes made, where it is about no contacts.
    public var count = 0
    /// The policy keeps the app to single contacts, whatever it was granted: what it adds is its own.
    public var isKeptToSingle = false
    /// As in ``AuditRecord/detail``.
    public var detail: String?

    public init() {}
}

extension AccessStore {
    /// Record numbers that no record has ever had: the time in microseconds since 1970, or one more than the last.
    ///
    /// By the time, so that none is used again even after an older copy of the file was restored.
    public func takeRecordNumbers(_ count: Int, now: Int64) -> [RecordNumber] {
        guard count > 0 else { return [] }
        let first = max(now, counters.recordNumber + 1)
        counters.recordNumber = first + Int64(count) - 1
        return (first...counters.recordNumber).map { RecordNumber($0) }
    }

    /// Says what of a save is to stand in the outbox of the user's book. Nothing changes here before ``endSave(_:change:)``.
    ///
    /// One save of a user at a time, and only once everything in the outbox was taken over.
    ///
    /// - Parameter now: microseconds since 1970.
    public func beginSave(
        _ contents: SaveContents, by principal: Principal, now: Int64
    ) throws(AccessStoreError) -> BegunSave {
        guard undelivered.count < Self.mostUndelivered else {
            throw .unavailable(reason: "saves have not been recorded for too long")
        }
        let uid = principal.uid
        let last = max(outboxMarks[uid] ?? 0, undelivered.last { $0.notice.uid == uid }?.notice.number ?? 0)
        let held = held[principal]
        let notice = SaveNotice(
            number: last + 1, uid: uid, strength: principal.strength, app: principal.app, time: now,
            count: contents.count, detail: contents.detail, adds: contents.adds, deletes: contents.deletes,
            contacts: contents.contacts, lastNumber: counters.recordNumber,
            decision: principal.binding == .standing && !contents.adds.isEmpty ? held?.decision : nil,
            isKeptToSingle: contents.isKeptToSingle)
        guard let entry = notice.encoded() else { throw .unavailable(reason: "libcrypto could not hash") }
        return BegunSave(
            notice: notice, principal: principal, epoch: held?.history.epoch, entry: entry,
            takenOver: onDisk.outboxMarks[uid] ?? 0, synced: onDisk.position)
    }

    /// The save is in the book: the app's set is widened, what is gone leaves all sets, and it is on record. Joins the batch;
    /// where that cannot be committed it joins the next one, until it is.
    ///
    /// - Parameter change: the book's last change.
    /// - Returns: whether the grant is still as it was decided when the save began. If it is not, a crash before this is on
    ///   the disk would keep the new contacts out of the app's set: wait for ``walSync`` before the app is told.
    @discardableResult
    public func endSave(_ save: BegunSave, change: Int64) -> Bool {
        let decision = held[save.principal]?.decision
        deliver(Delivery(notice: save.notice, change: change, now: (save.principal, save.epoch)))
        return save.notice.decision == nil || save.notice.decision == decision
    }

    /// Takes over what a crash, or the broker's end, left in a book's outbox; what was taken over before is passed by. Joins the batch.
    ///
    /// The new contacts of a save join a set only if nobody has decided anew about that app since the save began: what was
    /// reset, narrowed or given otherwise stays as it is. Their app may then not see what it added; the person does.
    public func takeOver(
        _ entry: [UInt8], number: Int64, change: Int64, of uid: UInt32, now: Int64, afterCrash: Bool = true
    ) {
        let isWaiting = undelivered.contains { $0.notice.uid == uid && $0.notice.number == number }
        guard number > outboxMarks[uid] ?? 0, !isWaiting else { return }
        if var notice = SaveNotice(entry, uid: uid, number: number) {
            if afterCrash { notice.detail = notice.detail.map { $0 + ", " + Self.beforeCrash } ?? Self.beforeCrash }
            return deliver(Delivery(notice: notice, change: change, now: nil))
        }
        // That something was saved is certain, and it was not told to its app. Who and what is not known: nothing is given.
        redeliver()
        // Nor which numbers its records have: a save has fewer changes than this leaves out.
        counters.recordNumber = max(counters.recordNumber, now) + 1_000_000
        append(AuditRecord(time: now, uid: uid, event: .save, detail: "unreadable, " + Self.beforeCrash))
        mark(number, of: uid)
    }

    /// Whether what a save did is still to be committed; it is tried with every commit.
    public var hasUndelivered: Bool { !undelivered.isEmpty }

    /// A commit that failed took back what saves did, and the next one does it again: sets change with it.
    public var willRedeliver: Bool { !undelivered.isEmpty && !batch.hasDelivered }

    /// The last entry of a book's outbox that was taken over.
    public func outboxMark(of uid: UInt32) -> Int64 { outboxMarks[uid] ?? 0 }

    private static let beforeCrash = "before a crash"

    /// Saves that wait for a commit that can be made; past it there are no more.
    static let mostUndelivered = 1_024

    // MARK: Taking over

    private func deliver(_ delivery: Delivery) {
        redeliver()
        undelivered.append(delivery)
        batch.hasDelivered = true
        apply(delivery)
    }

    /// What a failed commit took back is done again, in its order.
    func redeliver() {
        guard willRedeliver else { return }
        batch.hasDelivered = true
        for delivery in undelivered { apply(delivery) }
    }

    private func apply(_ delivery: Delivery) {
        let notice = delivery.notice
        // Numbers that the book has are not given again, also where the clock went back.
        counters.recordNumber = max(counters.recordNumber, notice.lastNumber)
        let moment = SetMoment(change: delivery.change, time: notice.time / 1_000_000)
        if owners[notice.uid]?.isPurged != true {
            noteOwner(of: notice.uid)
            widen(delivery, at: moment)
        }
        forget(Set(notice.deletes), uid: notice.uid, at: moment)
        for first in stride(from: 0, to: max(notice.contacts.count, 1), by: contactsPerRecord) {
            let part = Array(notice.contacts.dropFirst(first).prefix(contactsPerRecord))
            append(
                AuditRecord(
                    time: notice.time, uid: notice.uid, app: notice.app, strength: notice.strength, event: .save,
                    count: notice.contacts.isEmpty ? notice.count : part.count, contacts: part, detail: notice.detail))
        }
        mark(notice.number, of: notice.uid)
    }

    private func widen(_ delivery: Delivery, at moment: SetMoment) {
        let notice = delivery.notice
        let principal: Principal
        if let now = delivery.now {
            // It goes on as the same grant, though the person may have given or taken a contact since.
            guard let epoch = now.epoch, held[now.principal]?.history.epoch == epoch else { return }
            principal = now.principal
        } else {
            principal = Principal(uid: notice.uid, strength: notice.strength, app: notice.app)
            guard let decision = notice.decision, held[principal]?.decision == decision else { return }
        }
        widen(principal, with: Set(notice.adds), at: moment)
        if notice.isKeptToSingle { addOwn(Set(notice.adds), to: principal, at: moment) }
    }

    private func mark(_ number: Int64, of uid: UInt32) {
        // Of a user who is being purged nothing new is kept.
        guard owners[uid]?.isPurged != true else { return }
        if batch.outboxMarks[uid] == nil { batch.outboxMarks[uid] = .some(outboxMarks[uid]) }
        outboxMarks[uid] = max(outboxMarks[uid] ?? 0, number)
        unwritten.marks.insert(uid)
    }

    func writeMarks(_ connection: Database) throws(AccessStoreError) {
        for uid in unwritten.marks {
            guard let number = outboxMarks[uid] else { continue }
            try connection.statement(
                "INSERT INTO outboxMark (uid, number) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET number = excluded.number"
            )
            .bind(1, Int64(uid)).bind(2, number).run()
        }
    }

    // MARK: Intents of earlier versions

    /// Saves without an end, oldest first: of a version that kept intents here, what a crash cut short.
    public func openIntents() -> [SaveIntent] { intents.values.sorted { $0.id < $1.id } }

    /// Ends a save that a crash cut short: what is not in the book leaves the sets again.
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

/// A save that is in the book, and not known to be committed here.
struct Delivery {
    let notice: SaveNotice
    /// The book's last change with it.
    let change: Int64
    /// Who saved, and the grant's epoch then; `nil` after a restart, when it stands in ``notice`` by what decision.
    let now: (principal: Principal, epoch: Int64?)?
}

/// How far the store has come.
public struct Committed: Sendable {
    /// Commits since it was opened.
    var commits = 0
    var outboxMarks: [UInt32: Int64] = [:]
    /// The last record.
    public internal(set) var position = AuditPosition.beginning
    /// The last revision of a grant.
    var revision: Int64 = 0
}

extension AccessStore {
    /// What is committed by now; see ``noteOnDisk(_:)``.
    public var committed: Committed {
        Committed(
            commits: commits, outboxMarks: writtenMarks, position: lastPosition, revision: writtenCounters.revision)
    }

    /// A sync that began when this was committed has ended well.
    public func noteOnDisk(_ committed: Committed) {
        if committed.commits > onDisk.commits { onDisk = committed }
    }

    /// Something was decided, or a key made, that the disk may not have yet: what is saved on the strength of it would
    /// outlive it.
    public var hasDecisionsOffDisk: Bool { lastDecision > onDisk.commits }

    /// To be called with each decision and each new key.
    func noteDecision() { lastDecision = commits + 1 }
}
