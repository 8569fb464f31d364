import BrokerInterface
import BrokerLedger
import BrokerPeerIdentity
import BrokerPolicy
import BrokerVarlinkServer
import Glibc

/// The users that this broker serves, and the places of its files and sockets. All differences between the
/// two modes follow from this value.
struct Setting {
    let mode: BrokerMode
    /// Names the served users, for the journal and the service manager.
    let whom: String
    /// The folder of the databases.
    let state: String
    let configuration: PolicyFolder
    /// The sockets. In session mode, the broker creates them, accessible only to its own user. In system
    /// mode, systemd passes them, with the file mode that the unit sets.
    let places: [ContactsInterface: VarlinkServer.Place]
    /// The group of the agent's socket; `nil` in session mode. Only the installed agent, which is setgid,
    /// connects with this group as its effective group.
    var agentGroup: gid_t?

    /// The source of evidence about callers: the helper in system mode, otherwise this process.
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
