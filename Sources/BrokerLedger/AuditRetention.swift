import BrokerAccessStore
import BrokerBounds
import BrokerDisclosure
import BrokerVarlink

/// Removes old records from the audit, if the settings bound it. It lives on the event loop, and reads the audit off it.
///
/// It removes only records that it has just verified, and that the second place has, if there is one. The removal is on
/// record and in the journal before the first record is deleted.
package final class AuditRetention {
    private let surroundings: Surroundings
    private let access: AccessStore
    private let groupCommit: GroupCommit
    private let feed: AuditFeed
    private let sync: AccessSync
    private var limits: Limits { surroundings.limits }
    /// Whether it looks for records, verifies them, or deletes them.
    private var isBusy = false

    package init(
        surroundings: Surroundings, access: AccessStore, groupCommit: GroupCommit, feed: AuditFeed, sync: AccessSync
    ) {
        self.surroundings = surroundings
        self.access = access
        self.groupCommit = groupCommit
        self.feed = feed
        self.sync = sync
    }

    package func begin() {
        // An earlier run may have ended before it had deleted everything.
        if access.audit.hasRemovedRecords {
            isBusy = true
            deleteWhenSynced()
        }
        guard limits.retention != RetentionBounds() else { return }
        schedule(after: limits.retentionAfter)
    }

    private func schedule(after delay: Duration) {
        surroundings.loop.later(after: delay) { [weak self] in
            guard let self else { return }
            if !isBusy { look() }
            schedule(after: limits.retentionInterval)
        }
    }

    /// - Parameter problem: for the journal; `nil` if nothing is left to do.
    private func end(_ problem: String? = nil) {
        isBusy = false
        if let problem { surroundings.log(problem) }
    }

    /// Seals segments, and looks for some to remove.
    private func look() {
        isBusy = true
        feed.read(
            { (reader) throws(AccessStoreError) in try reader.segments() },
            failed: { [weak self] in self?.end() },
            { [weak self] segments in self?.look(at: segments) })
    }

    private func look(at segments: AuditReader.Segments) {
        do throws(AccessStoreError) {
            try access.audit.seal(segments.new)
        } catch {
            return end("cannot seal segments of the audit: \(error)")
        }
        sync.schedule(within: limits.syncInterval)
        let sealed = segments.sealed + segments.new
        guard limits.retention.removable(sealed, open: segments.open, now: surroundings.now()) > 0 else { return end() }
        // The table only saves reading the whole audit every hour. What is removed depends on the records alone.
        feed.read(
            { (reader) throws(AccessStoreError) in try reader.recountedSegments() },
            failed: { [weak self] in self?.end() },
            { [weak self] segments in self?.choose(from: segments.complete, open: segments.open) })
    }

    private func choose(from segments: [AuditSegment], open: AuditSegment?) {
        let count = limits.retention.removable(segments, open: open, now: surroundings.now())
        // The second place gets every record before it is removed here.
        let forwarded = feed.forwardedPosition ?? .max
        let removable = Array(segments.prefix(count).prefix { $0.last.sequence <= forwarded })
        guard let last = removable.last else { return end() }
        verify(from: nil, upTo: last.last, removing: removable)
    }

    /// Verifies the records in steps, so that queries of administrators can go between.
    private func verify(from: Int64?, upTo last: AuditPosition, removing segments: [AuditSegment]) {
        feed.read(
            { (reader) throws(AccessStoreError) -> (step: AuditVerification, isSound: Bool) in
                let step = try reader.verify(from: from, budget: Self.recordsPerStep)
                let beginsOnRecord = try reader.beginsOnRecord()
                let isUnchanged = try reader.contradicted([last]).isEmpty
                return (step, beginsOnRecord && isUnchanged)
            },
            failed: { [weak self] in self?.end() },
            { [weak self] result in
                guard let self else { return }
                guard result.isSound, result.step.brokenAt.map({ $0 > last.sequence }) ?? true else {
                    return end("the audit is broken, so retention removes nothing; see contactctl verify")
                }
                guard let next = result.step.next, next <= last.sequence else { return remove(segments) }
                verify(from: next, upTo: last, removing: segments)
            })
    }

    private static let recordsPerStep = 10_000

    private func remove(_ segments: [AuditSegment]) {
        groupCommit.catchUp()
        guard let removal = access.audit.remove(segments, now: surroundings.now()) else { return end() }
        // Before the commit: a removal that the journal does not know shows that another program made it. For the same
        // reason, a restart does not report again.
        surroundings.notice(
            .auditRemoved, "retention removes audit \(removal.detail)",
            [("sequence", "\(removal.last.sequence)"), ("hash", Hexadecimal.text(removal.last.hash))])
        groupCommit.work(
            committed: { [weak self] in self?.deleteWhenSynced() }, failed: { [weak self] in self?.end() })
    }

    private func deleteWhenSynced() {
        sync.onDisk { [weak self] isOnDisk in
            if isOnDisk { self?.deleteSlice() } else { self?.end() }
        }
    }

    /// Deletes some of the removed records. The loop serves other callers between two slices.
    private func deleteSlice() {
        do throws(AccessStoreError) {
            guard try access.audit.deleteRemoved(limits.recordsPerDeletion) else { return end() }
        } catch {
            return end("cannot delete removed audit records; the next start tries again: \(error)")
        }
        sync.schedule(within: limits.syncInterval)
        surroundings.loop.later(after: limits.deletionPause) { [weak self] in self?.deleteSlice() }
    }
}
