import BrokerCore
import BrokerPeerIdentity
import BrokerVarlink
import Glibc

/// What the doors share to find out who their callers are. It lives on the loop.
final class CallerLooks {
    /// Who is connecting.
    let identification: LookWorkers
    /// Whether somebody connected is still the same program: they do not wait behind whoever is connecting.
    let checks: LookWorkers

    /// User IDs kept in mind as known; past it all are looked up anew.
    static let mostKnown = 16_384
    private var known: Set<UInt32>

    init(_ mode: BrokerMode, loop: any Loop) {
        // The helper looks at two processes of a user at a time, and at sixteen in all; of checks at eight. What is no more than that does
        // not wait there. A session's broker looks itself, and has one user.
        let perUser = mode == .system ? 2 : 6
        identification = LookWorkers(16, perLane: perUser, loop: loop)
        checks = LookWorkers(8, perLane: perUser, loop: loop)
        // The user as whom the broker runs needs no look-up.
        known = [getuid()]
    }

    /// A look-up off the loop has found this user's name.
    func learn(_ uid: UInt32) {
        if known.count >= Self.mostKnown { known = [getuid()] }
        known.insert(uid)
    }

    func isKnown(_ uid: UInt32) -> Bool { known.contains(uid) }

    /// Where a process waits to be looked at.
    func place(of peer: PeerHandle) -> LookPlace {
        LookPlace(isKnown(peer.uid) ? .user(peer.uid) : .strangers, uid: peer.uid, pid: peer.pid)
    }
}
