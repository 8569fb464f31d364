import AccessControl
import CIdentify
import CLinux
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
        try reader.collect(peer) { (hashing) throws(PeerError) in
            try Self.look(peer, hashing ? IDENTIFY_WANTS_DIGEST : 0)
        }
    }

    public func isStill(_ peer: PeerHandle, _ evidence: Evidence) -> Bool {
        guard let seen = try? Self.look(peer, IDENTIFY_WANTS_EXECUTABLE_ONLY) else { return false }
        return reader.isStill(peer, evidence, seen)
    }

    private static func look(_ peer: PeerHandle, _ wants: UInt32) throws(PeerError) -> Look {
        var look = identify_look()
        switch identify_look_at(peer.pidfd, wants, HashCache.sizeLimit, &look) {
        case 0: return Look(look)
        case -ESRCH: throw PeerError.ended
        case let code: throw PeerError.unreadable(what: "process", errno: -code)
        }
    }
}
