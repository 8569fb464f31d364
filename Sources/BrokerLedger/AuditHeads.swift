import BrokerAccessStore
import BrokerBounds
import BrokerDisclosure
import BrokerVarlink

/// Reports the audit's last record to the journal, every hour and at the stop. Anyone who can write the broker's
/// files can also replace the audit, but not what the system's journal already has. The broker itself never reads the journal:
/// `contactctl verify` compares. It lives on the event loop.
package final class AuditHeads {
    private let surroundings: Surroundings
    private let access: AccessStore
    private let sync: AccessSync
    private var reported: Int64 = 0

    package init(surroundings: Surroundings, access: AccessStore, sync: AccessSync) {
        self.surroundings = surroundings
        self.access = access
        self.sync = sync
    }

    package func schedule() {
        surroundings.loop.later(after: surroundings.limits.auditHeadInterval) { [weak self] in
            self?.reportSynced()
            self?.schedule()
        }
    }

    /// A record that is not synced could be lost in a power cut, and would then be missed wrongly.
    private func reportSynced() {
        let head = access.committed.position
        guard head.sequence > reported else { return }
        sync.onDisk { [weak self] isOnDisk in
            if isOnDisk { self?.report(head) }
        }
    }

    package func report(_ head: AuditPosition) {
        reported = head.sequence
        let hash = Hexadecimal.text(head.hash)
        surroundings.notice(
            .auditHead, "the audit has \(head.sequence) records; the hash of the last one is \(hash)",
            [("sequence", "\(head.sequence)"), ("hash", hash)])
    }
}
