import BrokerBounds
import BrokerLedger
import BrokerPeerIdentity
import BrokerVarlink

/// The workers that inspect the callers of all sockets, and a cache of known UIDs. This class lives on
/// the event loop.
final class CallerInspections {
    /// Identifies new connections.
    let identification: InspectionWorkers
    /// Checks whether a connected process still runs the same executable. These workers are separate from
    /// ``identification``, so that checks do not queue behind new connections.
    let checks: InspectionWorkers

    let users: KnownUsers

    init(_ mode: BrokerMode, users: KnownUsers, loop: any Loop) {
        self.users = users
        // In system mode, the helper has a worker process for each of these threads (IDENTIFY_WORKERS), so no
        // request waits in the helper. In session mode, the broker inspects processes itself and has only one
        // user.
        let perUser = mode == .system ? InspectionLimits.perUser : InspectionLimits.perUserInSession
        let perSecond = mode == .system ? InspectionLimits.perSecond : nil
        identification = InspectionWorkers(
            InspectionLimits.identifications, perLane: perUser, perSecond: perSecond, loop: loop)
        checks = InspectionWorkers(InspectionLimits.checks, perLane: perUser, perSecond: perSecond, loop: loop)
    }

    /// The place in the queue for inspecting this process.
    func place(of peer: PeerHandle) -> InspectionPlace {
        InspectionPlace(users.contains(peer.uid) ? .user(peer.uid) : .strangers, uid: peer.uid, pid: peer.pid)
    }
}
