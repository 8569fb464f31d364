import BrokerAccessControl
import BrokerAccessStore
import BrokerBounds
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// Appends audit records, and delays replies until the records of this event loop iteration are committed.
///
/// A reply that discloses contacts is sent only after its record is committed, so that a crash cannot hide a
/// disclosure. The records of one iteration are one transaction, whose cost many callers share. If
/// ``isDurable`` is set, a reply that discloses contacts to an app also waits for a sync. Commits made while
/// a sync runs share the next one.
package final class GroupCommit {
    /// Proof that the audit records of a reply are committed. Only this file can create it.
    package struct Recorded {
        fileprivate init() {}
    }

    private enum Item {
        case reply(Call, [UInt8])
        case disclosure(Call, DisclosedReply, continues: Bool, then: (() -> Void)?)
        case error(Call, VarlinkError)
        case work(committed: () -> Void, failed: () -> Void)

        var isDisclosedToApp: Bool {
            if case .disclosure(_, let reply, _, _) = self { reply.basis != nil } else { false }
        }
    }

    private let surroundings: Surroundings
    private let access: AccessStore
    private var loop: any Loop { surroundings.loop }
    /// The timer for closing deduplication windows and writing their counts.
    private var windowTimer: (any Scheduled)?
    private var items: [Item] = []
    private var isScheduled = false
    private var isClosed = false
    /// Whether replies that disclose contacts to an app wait for a sync.
    package var isDurable = false
    /// Gets the contacts of each disclosure under a grant.
    package var onDisclosure: ([RecordNumber], Principal) -> Void = { _, _ in }
    /// Gets the user after a commit with a record of changed or used access; `nil` after a new policy.
    package var onAccess: (UInt32?) -> Void = { _ in }
    /// The users of such records since the last commit.
    private var accessed: Set<UInt32?> = []
    /// Syncs committed data.
    package let sync: AccessSync
    private let feed: AuditFeed
    private let history: History
    /// Committed items for which no sync has been requested yet.
    private var unsynced: [Item] = []
    /// Committed items that wait for the sync requested last.
    private var syncing: [Item] = []
    private var isSyncing = false

    package init(
        surroundings: Surroundings, access: AccessStore, sync: AccessSync, feed: AuditFeed,
        history: History
    ) {
        self.surroundings = surroundings
        self.access = access
        self.sync = sync
        self.feed = feed
        self.history = history
    }

    /// Waits for the running sync. No reply is sent afterwards, and no callback runs. Closing the store commits the
    /// records so far.
    package func close() {
        sync.close()
        isClosed = true
    }

    // MARK: Records

    /// Appends an audit record; this iteration's commit includes it.
    package func record(
        _ event: AuditEvent, uid: UInt32, app: String = "", strength: IdentityStrength? = nil,
        _ fill: (inout AuditRecord) -> Void = { _ in }, detail: String? = nil
    ) {
        var record = AuditRecord(
            time: surroundings.now(), uid: uid, app: app, strength: strength, event: event, detail: detail)
        fill(&record)
        access.audit.append(record)
        switch event {
        case .grant, .revocation, .disclosure: accessed.insert(uid)
        case .policy: accessed.insert(nil)
        default: break
        }
        scheduleWindowEnd()
        commitSoon()
    }

    package func record(
        _ event: AuditEvent, of caller: Caller, _ fill: (inout AuditRecord) -> Void = { _ in }, detail: String? = nil
    ) {
        record(event, uid: caller.uid, app: caller.app, strength: caller.strength, fill, detail: detail)
    }

    package func record(
        _ event: AuditEvent, of principal: Principal, _ fill: (inout AuditRecord) -> Void = { _ in },
        detail: String? = nil
    ) {
        record(event, uid: principal.uid, app: principal.app, strength: principal.strength, fill, detail: detail)
    }

    /// Records a change to a grant, and names the contacts that joined or left the granted set. The record of
    /// a later disclosure of the whole set names only the grant's revision. The records written here show
    /// which contacts belong to that revision.
    package func record(
        _ event: AuditEvent, of principal: Principal, naming records: Set<RecordNumber>,
        _ fill: (inout AuditRecord) -> Void
    ) {
        for (place, part) in parts(records.sorted()).enumerated() {
            record(event, of: principal) {
                fill(&$0)
                guard !part.isEmpty else { return }
                $0.contacts = Array(part)
                guard place > 0 else { return }
                ($0.count, $0.detail) = (part.count, "continued")
            }
        }
    }

    /// Splits contacts into parts of bounded size, one per record. Without contacts, the result is one empty
    /// part.
    private func parts(_ records: [RecordNumber]) -> [ArraySlice<RecordNumber>] {
        let size = surroundings.limits.contactsPerAuditRecord
        return stride(from: 0, to: max(records.count, 1), by: size).map {
            records[$0..<min($0 + size, records.count)]
        }
    }

    // MARK: Sending

    /// Records a disclosure, and sends the reply after the commit. If the grant is revoked first, the reply
    /// is withdrawn. Contact data leaves the broker only through this method.
    ///
    /// - Parameter then: continues a list; runs once the reply is handed to the connection.
    package func disclose(
        _ reply: DisclosedReply, to call: Call, _ session: CallerSession, continues: Bool = false,
        then: (() -> Void)? = nil
    ) {
        for disclosed in reply.disclosed { record(disclosed, of: reply, session) }
        if let basis = reply.basis { session.disclosed(under: basis.principal) }
        items.append(.disclosure(call, reply, continues: continues, then: then))
        commitSoon()
    }

    private func record(_ disclosed: DisclosedReply.Record, of reply: DisclosedReply, _ session: CallerSession) {
        let event = reply.basis == nil ? AuditEvent.agentSearch : .disclosure
        let fill = { (record: inout AuditRecord) in
            if reply.basis != nil { record.keys = [] }
            record.revision = reply.basis?.revision
        }
        switch disclosed {
        case .count(let count):
            record(
                event, of: session.caller,
                {
                    fill(&$0)
                    $0.count = count
                }, detail: reply.detail)
        case .contacts(let records, let keys, let isWhole):
            if let basis = reply.basis, basis.revision != nil { onDisclosure(records, basis.principal) }
            for part in parts(records) {
                record(
                    event, of: session.caller,
                    {
                        fill(&$0)
                        $0.keys = keys
                        $0.count = part.count
                        $0.contacts = isWhole ? nil : Array(part)
                        $0.part = isWhole ? part.hashValue : nil
                    }, detail: reply.detail)
            }
        }
    }

    /// Sends a reply that discloses no contact, after the commit.
    package func reply(_ parameters: [UInt8], to call: Call) {
        items.append(.reply(call, parameters))
        commitSoon()
    }

    package func fail(_ error: VarlinkError, _ call: Call) {
        items.append(.error(call, error))
        commitSoon()
    }

    /// Runs one of the two callbacks after the commit. If `committed` runs, all changes to the access store
    /// so far are committed. If the commit failed, new and wider grants were rolled back, and the next commit
    /// applies the effects of saves again.
    package func work(committed: @escaping () -> Void = {}, failed: @escaping () -> Void = {}) {
        items.append(.work(committed: committed, failed: failed))
        commitSoon()
    }

    /// Replies to an administrator after all changes so far are committed and synced.
    ///
    /// - Parameter error: the error to send instead of the reply; `nil` if the operation succeeded.
    package func replyOnDisk(_ call: Call, error: VarlinkError? = nil, _ write: @escaping (inout JSONWriter) -> Void) {
        let failed = { call.fail(Self.notWritten) }
        work(
            committed: { [sync] in
                sync.onDisk { isOnDisk in
                    guard isOnDisk else { return failed() }
                    if let error { return call.fail(error) }
                    call.reply { write(&$0) }
                }
            }, failed: failed)
    }

    /// The error of an administrator's change that was not written.
    package static let notWritten = AdminError.invalidValue(
        "state", reason: "the access database cannot be written; revoked access stays revoked only until a restart")

    /// Commits pending records at once. Call this before reading committed data.
    package func catchUp() {
        if isScheduled { flush() }
    }

    /// Withdraws queued replies that disclose contacts under a grant of this principal. Call this after
    /// the grant was revoked or narrowed.
    ///
    /// - Returns: how many replies were withdrawn.
    package func withdraw(_ principal: Principal, _ error: VarlinkError) -> Int {
        Self.withdraw(&items, principal, error) + Self.withdraw(&unsynced, principal, error)
            + Self.withdraw(&syncing, principal, error)
    }

    private static func withdraw(_ items: inout [Item], _ principal: Principal, _ error: VarlinkError) -> Int {
        var count = 0
        for (index, item) in items.enumerated() {
            guard case .disclosure(let call, let reply, _, _) = item, reply.basis?.principal == principal else {
                continue
            }
            items[index] = .error(call, error)
            count += 1
        }
        return count
    }

    /// Schedules the commit of this event loop iteration.
    package func commitSoon() {
        guard !isScheduled else { return }
        isScheduled = true
        let bound = LoopBound(self, loop: loop)
        loop.execute { bound.value.flush() }
    }

    package func flush() {
        isScheduled = false
        let items = self.items
        self.items = []
        guard !isClosed else { return }
        let setsMove = access.willRedeliver
        defer {
            for uid in accessed { onAccess(uid) }
            accessed = []
        }
        do throws(AccessStoreError) {
            if access.hasUncommitted {
                try access.commit()
                if setsMove { history.movedOfAll() }
                sync.schedule(within: surroundings.limits.syncInterval)
                feed.committed()
            } else {
                // There is nothing new to commit. A deduplicated disclosure relies on its earlier record, so
                // the files must still exist.
                try access.checkFiles()
            }
        } catch {
            if case .removed = error { sync.fail(error) }
            surroundings.log("cannot write audit records, so their calls are refused: \(error)")
            // New and wider grants of this iteration were rolled back. The effects of saves return with the
            // next successful commit.
            history.movedOfAll()
            refuse(items)
            return
        }
        for item in items {
            if isDurable, item.isDisclosedToApp { unsynced.append(item) } else { send(item) }
        }
        if !unsynced.isEmpty { waitForDisk() }
    }

    /// Sends one reply or runs one callback. Call this only after the commit.
    private func send(_ item: Item) {
        switch item {
        case .disclosure(let call, _, _, _) where sync.hasFailed && item.isDisclosedToApp:
            call.fail(ContactsError.storeUnavailable)
        case .disclosure(let call, let reply, let continues, let then):
            reply.send(to: call, continues: continues, Recorded())
            then?()
        case .reply(let call, let parameters): call.reply(parameters)
        case .error(let call, let error): call.fail(error)
        case .work(let committed, _): committed()
        }
    }

    /// Requests a sync for the items that wait for one. Items that arrive during this sync wait for the next
    /// one.
    private func waitForDisk() {
        guard !isSyncing else { return }
        isSyncing = true
        syncing = unsynced
        unsynced = []
        sync.onDisk { [weak self] isOnDisk in
            guard let self else { return }
            let done = syncing
            syncing = []
            isSyncing = false
            if isOnDisk { for item in done { send(item) } } else { refuse(done) }
            if !unsynced.isEmpty { waitForDisk() }
        }
    }

    /// Refuses the items whose audit records could not be committed or synced.
    private func refuse(_ items: [Item]) {
        for item in items {
            switch item {
            case .reply(let call, _), .disclosure(let call, _, _, _), .error(let call, _):
                call.fail(ContactsError.storeUnavailable)
            case .work(_, let failed): failed()
            }
        }
    }

    // MARK: Deduplication

    /// Schedules the end of open deduplication windows.
    private func scheduleWindowEnd() {
        guard windowTimer == nil, let end = access.audit.nextWindowEnd else { return }
        // Because of the lower bound, windows that end shortly after each other are closed together. The
        // upper bound limits the delay if somebody changes the clock.
        let wait = min(max(Self.shortestWait, end - surroundings.now()), Self.longestWait)
        windowTimer = loop.later(after: .microseconds(wait)) { [self] in closeWindows() }
    }

    private static let shortestWait: Int64 = 1_000_000
    private static let longestWait: Int64 = 60_000_000

    private func closeWindows() {
        windowTimer = nil
        access.audit.closeWindows(at: surroundings.now())
        if access.hasUncommitted { commitSoon() }
        scheduleWindowEnd()
    }
}
