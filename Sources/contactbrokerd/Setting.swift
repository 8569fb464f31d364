import BrokerCore
import BrokerInterface
import BrokerPeerIdentity
import BrokerPolicy
import BrokerVarlinkServer
import Glibc

/// Whom this broker serves and where its files are. The two modes differ only in what depends on this.
struct Setting {
    let mode: BrokerMode
    /// A description for the journal.
    let whom: String
    /// The folder of the databases.
    let state: String
    let configuration: PolicyFolder
    /// Created by the broker for this user only, or passed by systemd with the mode that the unit sets.
    let places: [ContactsInterface: VarlinkServer.Place]

    /// The only place that chooses where evidence about callers comes from.
    func evidenceSource() throws -> any EvidenceSource {
        if mode == .system { return try SystemPlaces.helper() }
        do throws(PeerError) {
            return try EvidenceCollector()
        } catch {
            throw Failure("could not start: callers cannot be identified: \(error)")
        }
    }

    /// Whether this broker accepts connections of a user at a socket.
    func serves(_ uid: uid_t, at interface: ContactsInterface) -> Bool {
        switch mode {
        case .system: true
        // Root may use the administrator's socket. For its own contacts it needs its own broker.
        case .session: uid == getuid() || uid == 0 && interface == .admin
        }
    }
}
