import BrokerAccessControl
import BrokerAccessStore
import BrokerLedger
import BrokerModel

extension Grants {
    /// The keys that the policy permits and the app's grant lacks; empty unless the person or an administrator gave
    /// the app access.
    package func lacked(of keys: ContactKeySet?, _ known: CallerAccess) -> ContactKeySet {
        guard let keys, case .granted(let effective) = known.effective, effective.access != .denied,
            let stored = decided(known), stored.access != .denied
        else { return [] }
        return effective.lacked(of: keys.intersection(known.ruling.maximumKeys))
    }

    /// Records keys that an app asked for by name, so that the person can add them to its grant later.
    package func noteAsked(_ keys: ContactKeySet, _ known: CallerAccess) {
        guard let principal = known.principal, let grant = decided(known) else { return }
        let named = keys.intersection(.byName)
        guard !grant.asked.isSuperset(of: named) else { return }
        access.noteAsked(named, by: principal)
        groupCommit.commitSoon()
    }
}
