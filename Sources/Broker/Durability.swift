import AccessStore
import Varlink

/// When what was committed is on the disk.
extension Broker {
    /// Runs the body on the loop once everything committed so far is on the disk.
    func onDisk(_ body: @escaping (Bool) -> Void) {
        let walSync = access.walSync
        let loop = surroundings.loop
        let bound = LoopBound((body, surroundings.log, access), loop: loop)
        let committed = access.committed
        syncQueue.async {
            let failure = Self.sync(walSync)
            loop.execute {
                let (body, log, access) = bound.value
                if failure == nil { access.noteOnDisk(committed) }
                if let failure { log("what was decided could not be brought onto the disk: \(failure)") }
                body(failure == nil)
            }
        }
    }

    static func sync(_ walSync: WALSync) -> (any Error)? {
        do {
            try walSync.sync()
            return nil
        } catch {
            return error
        }
    }

    /// Disclosures are on the disk a tenth of a second later at the latest.
    func scheduleSync() {
        guard !isSyncScheduled else { return }
        isSyncScheduled = true
        let bound = LoopBound(self, loop: surroundings.loop)
        surroundings.loop.schedule(after: limits.syncInterval) {
            let broker = bound.value
            broker.isSyncScheduled = false
            let walSync = broker.access.walSync
            let checkpointer = broker.access.walPages > Checkpointer.pages ? broker.access.checkpointer : nil
            let loop = broker.surroundings.loop
            let count = broker.access.auditCount
            let committed = broker.access.committed
            broker.syncQueue.async {
                let failure = Self.sync(walSync)
                // A checkpoint that fails leaves the log longer, and is tried again.
                _ = try? checkpointer?.run()
                loop.execute {
                    let broker = bound.value
                    if let failure { return broker.recordsAreNotKept(failure) }
                    broker.access.noteOnDisk(committed)
                    broker.auditForwarder?.onDisk(upTo: count)
                }
            }
        }
    }

    /// The disk did not take what is on record. Nothing more is told: at most a tenth of a second may be missing.
    private func recordsAreNotKept(_ failure: any Error) {
        guard !turn.tellsNothing else { return }
        turn.tellsNothing = true
        surroundings.notice(
            .recordsNotKept,
            "the audit does not reach the disk, so nothing is disclosed until contactbrokerd is restarted: \(failure)",
            [])
    }
}
