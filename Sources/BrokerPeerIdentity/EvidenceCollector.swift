import BrokerAccessControl
import CBrokerIdentify
import CBrokerLinux
import Glibc

/// Looks into peers by itself, as far as this process may.
public final class EvidenceCollector: EvidenceSource {
    private let reader: EvidenceReader

    /// - Parameter vantage: ``Evidence/Vantage/system`` only where this process may look into every other one.
    /// - Throws: where the broker cannot read its own `/proc/self`; then it can identify nobody.
    public init(hashes: HashCache = HashCache(), vantage: Evidence.Vantage = .session) throws(PeerError) {
        reader = try EvidenceReader(vantage: vantage, hashes: hashes)
    }

    public func prepare() { reader.prepare() }

    public func collect(_ peer: PeerHandle) throws(PeerError) -> Evidence {
        try reader.collect(peer, OwnLook(vantage: reader.vantage))
    }

    public func check(_ peer: PeerHandle, _ evidence: Evidence) -> ExecutableCheck {
        var look = identify_look()
        switch identify_look_at(peer.pidfd, IDENTIFY_WANTS_EXECUTABLE_ONLY, 0, &look) {
        case 0: return reader.check(peer, evidence, Look(look))
        case -ESRCH: return .changed
        default: return .unknown
        }
    }
}

private struct OwnLook: ProcessLooker {
    let vantage: Evidence.Vantage

    func look(
        _ peer: PeerHandle, _ process: ProcessDirectory, number: Int32?, hashing: Bool, known: Sight?
    ) throws(PeerError) -> Sight {
        if let known, known.isStill(peer, process, number: number) { return known }
        let digest = hashing ? IDENTIFY_WANTS_DIGEST : 0
        let place = vantage == .system ? IDENTIFY_WANTS_PLACE : 0
        var seen = identify_known()
        let wants = digest | place
        switch identify_know(peer.pidfd, number ?? 0, process.descriptor, wants, HashCache.sizeLimit, &seen) {
        case 0: return Sight(seen)
        case -ESRCH: throw PeerError.ended
        case let code: throw PeerError.unreadable(what: "process", errno: -code)
        }
    }
}
