import BrokerAccessStore
import BrokerVarlink
import Dispatch

/// Puts what is committed to the access database onto the disk, off the loop. It lives on the loop.
///
/// One sync runs at a time, and at most one waits: everybody who asks while a sync runs shares the next one. So a
/// revocation waits for two syncs at most, however slow the disk is. A checkpoint has a queue of its own and keeps no sync
/// waiting.
final class AccessSync {
    private let access: AccessStore
    private let surroundings: Surroundings
    private let feed: AuditFeed
    private var loop: any Loop { surroundings.loop }
    private let disk = DispatchQueue(label: "access sync")
    private let checkpoints = DispatchQueue(label: "access checkpoint")
    /// Runs on ``disk``, and waits for the disk.
    private let sync: @Sendable (Committed) throws(AccessStoreError) -> Void
    /// Who waits for the next sync.
    private var waiting: [(Bool) -> Void] = []
    private var isWanted = false
    private var isRunning = false
    private var isScheduled = false
    private var isCheckpointing = false
    /// The disk does not take what is committed, or the files are gone: nothing is disclosed any more.
    private(set) var hasFailed = false

    /// - Parameter sync: puts onto the disk what is committed; the store's own where `nil`.
    init(
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

    /// Runs the body on the loop once everything that is committed by now is on the disk, or cannot be brought there.
    func onDisk(_ body: @escaping (Bool) -> Void) {
        waiting.append(body)
        want()
    }

    /// What is committed by now is on the disk after this time at the latest, and after one sync more where one runs.
    func schedule(within delay: Duration) {
        guard !isScheduled else { return }
        isScheduled = true
        loop.later(after: delay) { [self] in
            isScheduled = false
            want()
        }
    }

    /// Waits for the sync and the checkpoint that run, and begins no other.
    func close() {
        isWanted = false
        isRunning = true
        disk.sync {}
        checkpoints.sync {}
    }

    private func want() {
        isWanted = true
        begin()
    }

    private func begin() {
        guard isWanted, !isRunning else { return }
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
        switch result {
        case .success:
            access.noteOnDisk(committed)
            feed.onDisk(upTo: committed.position.sequence)
        case .failure(let failure): fail(failure)
        }
        // Before who waits goes on: what they commit belongs to another sync.
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
            // The log grows meanwhile; the next sync tries again.
            if case .failure(let problem) = result {
                surroundings.log("the access database's log could not be emptied: \(problem)")
            }
        }
    }

    /// The disk did not take what is on record, or the files are gone. Nothing is disclosed from now on.
    func fail(_ failure: any Error) {
        guard !hasFailed else { return }
        hasFailed = true
        surroundings.notice(
            .recordsNotKept,
            "cannot keep audit records, so nothing is disclosed: \(failure); free or repair the disk under "
                + "\(surroundings.stateFolder) or restore the folder, then restart contactbrokerd", [])
    }
}
