import AccessControl
import AccessStore
import ContactsInterface
import Varlink

/// What is to be sent in one turn of the loop, held back until the audit of that turn is committed.
///
/// A reply that discloses leaves only after its record: a crash between the two must not hide a disclosure. The
/// records of one turn are one transaction, so that many callers share its cost. Where the audit is durable, it leaves only
/// once the record is on the disk: all turns that come while the disk is at work share the next sync.
final class Turn {
    /// What a disclosing reply rests on.
    struct Basis {
        let principal: Principal
        let revision: Int64
    }

    private enum Item {
        case reply(Call, [UInt8], continues: Bool, Basis?, then: (() -> Void)?)
        case error(Call, VarlinkError)
        case work(committed: () -> Void, failed: () -> Void)
    }

    private let access: AccessStore
    private let loop: any Loop
    private let log: (String) -> Void
    private var items: [Item] = []
    private var isScheduled = false
    /// What discloses waits for the disk.
    var isDurable = false
    /// Set by the broker: calls back once everything that is committed by now is on the disk, or cannot be.
    var onDisk: (@escaping (Bool) -> Void) -> Void = { $0(false) }
    /// Set by the broker: the access database was removed while the broker ran.
    var filesAreGone: (AccessStoreError) -> Void = { _ in }
    /// Committed, and not yet known to be on the disk.
    private var unsynced: [Item] = []
    /// The same, while the disk is at work on them.
    private var syncing: [Item] = []
    private var isSyncing = false
    /// The disk does not take records any more, so nothing is disclosed.
    var tellsNothing = false
    /// Set by the broker: a commit was made that is not on the disk yet.
    var didCommit: () -> Void = {}

    init(access: AccessStore, loop: any Loop, log: @escaping (String) -> Void) {
        self.access = access
        self.loop = loop
        self.log = log
    }

    /// Sends a reply after the commit.
    ///
    /// - Parameters:
    ///   - basis: what the reply rests on, if it discloses; taken back, it is not sent.
    ///   - then: runs after the reply was sent, where more is to come.
    func reply(
        _ parameters: [UInt8], to call: Call, continues: Bool = false, basis: Basis? = nil, then: (() -> Void)? = nil
    ) {
        items.append(.reply(call, parameters, continues: continues, basis, then: then))
        schedule()
    }

    func fail(_ error: VarlinkError, _ call: Call) {
        items.append(.error(call, error))
        schedule()
    }

    /// Runs one of the two after the commit: what was appended to the access store until now is committed, or it is not
    /// and does not count.
    func work(committed: @escaping () -> Void, failed: @escaping () -> Void = {}) {
        items.append(.work(committed: committed, failed: failed))
        schedule()
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
            guard case .reply(let call, _, _, let basis?, _) = item, basis.principal == principal else { continue }
            items[index] = .error(call, error)
            count += 1
        }
        return count
    }

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        let bound = LoopBound(self, loop: loop)
        loop.execute { bound.value.flush() }
    }

    func flush() {
        isScheduled = false
        let items = self.items
        self.items = []
        do throws(AccessStoreError) {
            if access.hasUncommitted {
                try access.commit()
                didCommit()
            } else {
                // A disclosure that is only counted would rest on a record that is gone.
                try access.checkFiles()
            }
        } catch {
            if case .removed = error { filesAreGone(error) }
            log("what happened could not be recorded, so it is not answered: \(error)")
            refuse(items)
            return
        }
        for item in items {
            if isDurable, case .reply(_, _, _, .some, _) = item { unsynced.append(item) } else { send(item) }
        }
        if !unsynced.isEmpty { sync() }
    }

    private func send(_ item: Item) {
        switch item {
        case .reply(let call, _, _, .some, _) where tellsNothing:
            call.fail(ContactsError.storeUnavailable)
        case .reply(let call, let parameters, let continues, let basis, let then):
            call.reply(parameters, continues: continues, sensitive: basis != nil)
            then?()
        case .error(let call, let error): call.fail(error)
        case .work(let committed, _): committed()
        }
    }

    /// Has the disk take what is committed; what comes meanwhile waits for the next time.
    private func sync() {
        guard !isSyncing else { return }
        isSyncing = true
        syncing = unsynced
        unsynced = []
        onDisk { [weak self] isOnDisk in
            guard let self else { return }
            let done = syncing
            syncing = []
            isSyncing = false
            if isOnDisk { for item in done { send(item) } } else { refuse(done) }
            if !unsynced.isEmpty { sync() }
        }
    }

    /// An audit record that cannot be written: the answer is no.
    private func refuse(_ items: [Item]) {
        for item in items {
            switch item {
            case .reply(let call, _, _, _, _), .error(let call, _): call.fail(ContactsError.storeUnavailable)
            case .work(_, let failed): failed()
            }
        }
    }
}
