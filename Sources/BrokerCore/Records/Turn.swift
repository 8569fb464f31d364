import BrokerAccessControl
import BrokerAccessStore
import BrokerInterface
import BrokerJSON
import BrokerModel
import BrokerVarlink

/// The audit's records, and what is to be sent in one turn of the loop, held back until the records of that turn are committed.
///
/// A reply that discloses leaves only after its record: a crash between the two must not hide a disclosure. The
/// records of one turn are one transaction, so that many callers share its cost. Where the audit is durable, it leaves only
/// once the record is on the disk: all turns that come while the disk is at work share the next sync.
final class Turn {
    /// Proof that what a reply tells is on record. Only this file can make one.
    struct Recorded {
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
    /// Writes the counts of repeats when their time has come.
    private var foldTimer: (any Scheduled)?
    private var items: [Item] = []
    private var isScheduled = false
    /// What discloses waits for the disk.
    var isDurable = false
    /// Puts onto the disk what is committed.
    let sync: AccessSync
    private let feed: AuditFeed
    private let history: History
    /// Committed, and not yet known to be on the disk.
    private var unsynced: [Item] = []
    /// The same, while the disk is at work on them.
    private var syncing: [Item] = []
    private var isSyncing = false

    init(
        surroundings: Surroundings, access: AccessStore, sync: AccessSync, feed: AuditFeed,
        history: History
    ) {
        self.surroundings = surroundings
        self.access = access
        self.sync = sync
        self.feed = feed
        self.history = history
    }

    // MARK: Records

    /// Appends an audit record; it is committed with this turn.
    func record(
        _ event: AuditEvent, uid: UInt32, app: String = "", strength: IdentityStrength? = nil,
        _ fill: (inout AuditRecord) -> Void = { _ in }, detail: String? = nil
    ) {
        var record = AuditRecord(
            time: surroundings.now(), uid: uid, app: app, strength: strength, event: event, detail: detail)
        fill(&record)
        access.append(record)
        scheduleFolds()
        commitSoon()
    }

    func record(
        _ event: AuditEvent, of caller: Caller, _ fill: (inout AuditRecord) -> Void = { _ in }, detail: String? = nil
    ) {
        record(event, uid: caller.uid, app: caller.app, strength: caller.strength, fill, detail: detail)
    }

    func record(
        _ event: AuditEvent, of principal: Principal, _ fill: (inout AuditRecord) -> Void = { _ in },
        detail: String? = nil
    ) {
        record(event, uid: principal.uid, app: principal.app, strength: principal.strength, fill, detail: detail)
    }

    /// What became of a grant, and by name the contacts that joined or left its set with that. A whole set is told under its revision
    /// alone: these records say what was in it.
    func record(
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

    /// Contacts for the record, in pieces that stay small; one piece at least, also of none.
    private func parts(_ records: [RecordNumber]) -> [ArraySlice<RecordNumber>] {
        let size = surroundings.limits.contactsPerAuditRecord
        return stride(from: 0, to: max(records.count, 1), by: size).map {
            records[$0..<min($0 + size, records.count)]
        }
    }

    // MARK: What is sent

    /// Puts on record what a reply tells, and sends it after the commit: the only way in which contact data leaves the broker. It is
    /// not sent where its basis is taken back by then.
    ///
    /// - Parameter then: runs after the reply was sent, where more is to come.
    func disclose(
        _ reply: DisclosedReply, to call: Call, _ session: CallerSession, continues: Bool = false,
        then: (() -> Void)? = nil
    ) {
        for told in reply.told { record(told, of: reply, session) }
        if let basis = reply.basis { session.disclosed(under: basis.principal) }
        items.append(.disclosure(call, reply, continues: continues, then: then))
        commitSoon()
    }

    private func record(_ told: DisclosedReply.Told, of reply: DisclosedReply, _ session: CallerSession) {
        let event = reply.basis == nil ? AuditEvent.agentSearch : .disclosure
        let fill = { (record: inout AuditRecord) in
            if reply.basis != nil { record.keys = [] }
            record.revision = reply.basis?.revision
        }
        switch told {
        case .count(let count):
            record(
                event, of: session.caller,
                {
                    fill(&$0)
                    $0.count = count
                }, detail: reply.detail)
        case .contacts(let records, let keys, let isWhole):
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

    /// Sends a reply that tells of no contact, after the commit.
    func reply(_ parameters: [UInt8], to call: Call) {
        items.append(.reply(call, parameters))
        commitSoon()
    }

    func fail(_ error: VarlinkError, _ call: Call) {
        items.append(.error(call, error))
        commitSoon()
    }

    /// Runs one of the two after the commit: what was appended to the access store until now is committed, or it is not
    /// and does not count.
    func work(committed: @escaping () -> Void = {}, failed: @escaping () -> Void = {}) {
        items.append(.work(committed: committed, failed: failed))
        commitSoon()
    }

    /// Replies to an administrator once what was done is committed and on the disk.
    ///
    /// - Parameter error: replied instead, where what was done was to find that something is wrong.
    func replyOnDisk(_ call: Call, error: VarlinkError? = nil, _ write: @escaping (inout JSONWriter) -> Void) {
        let failed = {
            call.fail(
                AdminError.invalidValue(
                    "state",
                    reason: "the access database cannot be written; what was taken back stays so until a restart"))
        }
        work(
            committed: { [sync] in
                sync.onDisk { isOnDisk in
                    guard isOnDisk else { return failed() }
                    if let error { return call.fail(error) }
                    call.reply { write(&$0) }
                }
            }, failed: failed)
    }

    /// Commits what waits for the end of this turn, for a caller that reads what is committed.
    func catchUp() {
        if isScheduled { flush() }
    }

    /// Takes back what would be disclosed under a grant that no longer is.
    ///
    /// - Returns: how many replies were taken back.
    func withdraw(_ principal: Principal, _ error: VarlinkError) -> Int {
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

    /// Has what was appended to the access store until now committed with this turn.
    func commitSoon() {
        guard !isScheduled else { return }
        isScheduled = true
        let bound = LoopBound(self, loop: loop)
        loop.execute { bound.value.flush() }
    }

    func flush() {
        isScheduled = false
        let items = self.items
        self.items = []
        let setsMove = access.willRedeliver
        do throws(AccessStoreError) {
            if access.hasUncommitted {
                try access.commit()
                if setsMove { history.moved() }
                sync.schedule(within: surroundings.limits.syncInterval)
                feed.committed()
            } else {
                // A disclosure that is only counted would rest on a record that is gone.
                try access.checkFiles()
            }
        } catch {
            if case .removed = error { sync.fail(error) }
            surroundings.log("what happened could not be recorded, so it is not answered: \(error)")
            // What was decided in this turn does not count, nor what saves did, until the next commit.
            history.moved()
            refuse(items)
            return
        }
        for item in items {
            if isDurable, item.isDisclosedToApp { unsynced.append(item) } else { send(item) }
        }
        if !unsynced.isEmpty { waitForDisk() }
    }

    /// To be called after the commit.
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

    /// Has the disk take what is committed; what comes meanwhile waits for the next time.
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

    /// An audit record that cannot be written: the answer is no.
    private func refuse(_ items: [Item]) {
        for item in items {
            switch item {
            case .reply(let call, _), .disclosure(let call, _, _, _), .error(let call, _):
                call.fail(ContactsError.storeUnavailable)
            case .work(_, let failed): failed()
            }
        }
    }

    // MARK: Counts

    /// Sees to it that open windows of repeats get closed.
    private func scheduleFolds() {
        guard foldTimer == nil, let end = access.nextFoldEnd else { return }
        // Many windows that end one after the other are closed together; and a clock that is set does not keep them open.
        let wait = min(max(Self.shortestWait, end - surroundings.now()), Self.longestWait)
        foldTimer = loop.later(after: .microseconds(wait)) { [self] in closeFolds() }
    }

    private static let shortestWait: Int64 = 1_000_000
    private static let longestWait: Int64 = 60_000_000

    private func closeFolds() {
        foldTimer = nil
        access.closeFolds(at: surroundings.now())
        if access.hasUncommitted { commitSoon() }
        scheduleFolds()
    }
}
