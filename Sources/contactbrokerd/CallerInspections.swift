import BrokerCore
import BrokerPeerIdentity
import BrokerVarlink
import Glibc

/// The workers and the cache that the three sockets share to identify their callers. The object lives on the
/// event loop.
final class CallerInspections {
    /// Identifies new connections.
    let identification: InspectionWorkers
    /// Checks whether a connected process still runs the same executable. Separate from ``identification``,
    /// so that checks do not queue behind new connections.
    let checks: InspectionWorkers

    /// Maximum number of user IDs cached as known; the cache is emptied beyond that.
    static let mostKnown = 16_384
    private var known: Set<UInt32>

    init(_ mode: BrokerMode, loop: any Loop) {
        // In system mode, these are the helper's own limits: two full inspections per user and sixteen in
        // total, and eight checks. Within these limits, no request waits in the helper. A session's broker
        // inspects processes itself and has one user.
        let perUser = mode == .system ? 2 : 6
        identification = InspectionWorkers(16, perLane: perUser, loop: loop)
        checks = InspectionWorkers(8, perLane: perUser, loop: loop)
        // The broker's own user needs no look-up.
        known = [getuid()]
    }

    /// Notes that this user has a name. The look-up must have run off the event loop.
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
