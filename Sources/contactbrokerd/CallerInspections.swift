import BrokerCore
import BrokerPeerIdentity
import BrokerVarlink
import Glibc

/// The workers that inspect the callers of all three sockets, and a cache of known UIDs. This class lives on
/// the event loop.
final class CallerInspections {
    /// Identifies new connections.
    let identification: InspectionWorkers
    /// Checks whether a connected process still runs the same executable. These workers are separate from
    /// ``identification``, so that checks do not queue behind new connections.
    let checks: InspectionWorkers

    /// The maximum number of UIDs in the cache; the cache is emptied beyond that.
    static let mostKnown = 16_384
    private var known: Set<UInt32>

    init(_ mode: BrokerMode, loop: any Loop) {
        // In system mode, these are also the helper's limits: two full inspections per user, sixteen in
        // total, and eight checks. Within these limits, no request waits in the helper. In session mode, the
        // broker inspects processes itself and serves one user.
        let perUser = mode == .system ? 2 : 6
        identification = InspectionWorkers(16, perLane: perUser, loop: loop)
        checks = InspectionWorkers(8, perLane: perUser, loop: loop)
        // The broker's own user needs no look-up.
        known = [getuid()]
    }

    /// Adds a UID that has a name in the user database. The look-up must have run off the event loop.
    func learn(_ uid: UInt32) {
        if known.count >= Self.mostKnown { known = [getuid()] }
        known.insert(uid)
    }

    func isKnown(_ uid: UInt32) -> Bool { known.contains(uid) }

    /// The place in the queue for inspecting this process.
    func place(of peer: PeerHandle) -> InspectionPlace {
        InspectionPlace(isKnown(peer.uid) ? .user(peer.uid) : .strangers, uid: peer.uid, pid: peer.pid)
    }
}
