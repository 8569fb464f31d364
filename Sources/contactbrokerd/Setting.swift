import BrokerCore
import BrokerInterface
import BrokerPeerIdentity
import BrokerPolicy
import BrokerVarlinkServer
import Glibc

/// Which broker this is: whom it serves, and where its things are. The two modes differ in this and in nothing else.
struct Setting {
    let mode: BrokerMode
    /// In words, for the journal.
    let whom: String
    /// The folder of the databases.
    let state: String
    let configuration: PolicyFolder
    /// Made by us, for us alone; or by systemd, with the mode that its unit says.
    let doors: [ContactsInterface: Door.Place]

    /// Where evidence about callers comes from: chosen here and nowhere else.
    func evidenceSource() throws -> any EvidenceSource {
        if mode == .system { return try SystemPlaces.helper() }
        do throws(PeerError) {
            return try EvidenceCollector()
        } catch {
            throw Failure("could not start: callers cannot be identified: \(error)")
        }
    }

    /// Whether this broker takes connections of a user at a door at all.
    func serves(_ uid: uid_t, at door: ContactsInterface) -> Bool {
        switch mode {
        case .system: true
        // Root may do everything that administrators may, and has contacts of its own with a broker of its own.
        case .session: uid == getuid() || uid == 0 && door == .admin
        }
    }
}
