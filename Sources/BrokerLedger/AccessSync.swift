import BrokerAccessStore
import BrokerVarlink
import Dispatch

/// Runs syncs of the access database on a separate queue. This class itself lives on the event loop.
///
/// One sync runs at a time. All requests that arrive during a sync share the next one. A revocation therefore
/// waits for two syncs at most, even on a slow disk. Checkpoints have their own queue and delay no sync.
package final class AccessSync {
    private let access: AccessStore
    private let surroundings: Surroundings
    private let feed: AuditFeed
    private var loop: any Loop { surroundings.loop }
    private let disk = DispatchQueue(label: "access sync")
    private let checkpoints = DispatchQueue(label: "access checkpoint")
    /// Runs on ``disk`` and blocks until the data is durable.
    private let sync: @Sendable (Committed) throws(AccessStoreError) -> Void
    /// The callbacks that wait for the next sync.
    private var waiting: [(Bool) -> Void] = []
    private var isWanted = false
    private var isRunning = false
    private var isClosed = false
    private var isScheduled = false
    private var isCheckpointing = false
    /// Whether a sync failed, or the files are gone. If so, the broker discloses nothing to apps until it
    /// restarts.
    package private(set) var hasFailed = false

    /// - Parameter sync: syncs committed data; `nil` for the store's own sync.
    package init(
        access: AccessStore, surroundings: Surroundings, feed: AuditFeed,
        sync: (@Sendable (Committed) throws(AccessStoreError) -> Void)? = nil
    ) {
        self.access = access
        self.surroundings = surroundings
        self.feed = feed
        let walSync = access.walSync
        if let sync {
            self.sync = sync
        } else {
            self.sync = { (committed) throws(AccessStoreError) in try walSync.sync(committed) }
        }
    }

    /// Runs the body on the event loop once the data committed so far is synced. The body gets `false` if the
    /// sync failed.
    package func onDisk(_ body: @escaping (Bool) -> Void) {
        waiting.append(body)
        want()
    }

    /// Starts a sync after this delay at the latest. If another sync is running at that time, the new one
    /// follows it.
    package func schedule(within delay: Duration) {
        guard !isScheduled else { return }
        isScheduled = true
        loop.later(after: delay) { [self] in
            isScheduled = false
            want()
        }
    }

    /// Waits for the running sync and checkpoint. No other sync starts afterwards, and no callback runs.
    func close() {
        isClosed = true
        disk.sync {}
        checkpoints.sync {}
    }

    private func want() {
        isWanted = true
        begin()
    }

    private func begin() {
        guard isWanted, !isRunning, !isClosed else { return }
        (isWanted, isRunning) = (false, true)
        let (waiting, committed) = (waiting, access.committed)
        self.waiting = []
        loop.run(on: disk) { [sync] () throws(AccessStoreError) in
            try sync(committed)
        } then: { [self] result in
            ended(committed, result, waiting)
        }
    }

    private func ended(
        _ committed: Committed, _ result: Result<Void, AccessStoreError>, _ waiting: [(Bool) -> Void]
    ) {
        isRunning = false
        guard !isClosed else { return }
        switch result {
        case .success:
            access.noteOnDisk(committed)
            feed.onDisk(upTo: committed.position.sequence)
        case .failure(let failure): fail(failure)
        }
        // Starts the next sync before the callbacks run, because their commits belong to a later sync.
        begin()
        let isOnDisk = (try? result.get()) != nil
        for body in waiting { body(isOnDisk) }
        checkpoint()
    }

    private func checkpoint() {
        guard access.walPages > Checkpointer.pages, !isCheckpointing else { return }
        isCheckpointing = true
        let checkpointer = access.checkpointer
        loop.run(on: checkpoints) { () throws(AccessStoreError) in
            try checkpointer.run()
        } then: { [self] result in
            isCheckpointing = false
            // The write-ahead log keeps growing until the retry after the next sync.
            if case .failure(let problem) = result {
                surroundings.log("cannot checkpoint the access database; retrying after the next sync: \(problem)")
            }
        }
    }

    /// Stops all disclosure to apps, because a sync failed or the files are gone.
    func fail(_ failure: any Error) {
        guard !hasFailed else { return }
        hasFailed = true
        surroundings.notice(
            .recordsNotKept,
            "cannot keep audit records, so nothing is disclosed: \(failure); free space on the disk under "
                + "\(surroundings.stateFolder), repair it or restore the folder, then restart contactbrokerd", [])
    }
}
