import BrokerAccessControl
import CBrokerIdentify
import Glibc

/// Has `contactbroker-identify` look into peers: that of a broker without any privilege.
///
/// The helper keeps nothing. Hashes are remembered here, where they are used: whoever has taken this process over can
/// give answers without them, and could reach the next broker by a memory that outlives this one.
public final class IdentifyClient: EvidenceSource {
    /// Milliseconds that a look may take. The helper gives its worker half a second; the rest is for those of the same
    /// user who came before.
    private static let patience: CInt = 2_000

    private let socket: String
    private let collector: EvidenceCollector

    public init(socket: String) throws(PeerError) {
        self.socket = socket
        collector = try EvidenceCollector(vantage: .system) { peer, wants throws(PeerError) in
            try Self.look(at: peer, wants, socket)
        }
    }

    public func prepare() { collector.prepare() }

    public func collect(_ peer: PeerHandle) throws(PeerError) -> Evidence { try collector.collect(peer) }

    public func check(_ peer: PeerHandle, _ evidence: Evidence) -> ExecutableCheck { collector.check(peer, evidence) }

    /// Whether the helper is there and answers: a broker that cannot identify anybody should not start.
    public func isAnswered() -> Bool {
        // With no process, to which the answer is no, but an answer.
        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        let answer = try? Self.ask(socket, about: file, 0, uid: getuid())
        return answer?.outcome == IDENTIFY_MALFORMED.rawValue
    }

    private static func look(at peer: PeerHandle, _ wants: UInt32, _ socket: String) throws(PeerError) -> Look {
        let answer = try ask(socket, about: peer.pidfd, wants, uid: peer.uid)
        switch answer.outcome {
        case IDENTIFY_LOOKED.rawValue: return Look(answer.look)
        case IDENTIFY_ENDED.rawValue: throw PeerError.ended
        case IDENTIFY_TIMED_OUT.rawValue: throw PeerError.unreadable(what: "process", errno: ETIMEDOUT)
        case IDENTIFY_BUSY.rawValue: throw PeerError.unreadable(what: "process", errno: EBUSY)
        default: throw PeerError.unreadable(what: "process", errno: answer.reason == 0 ? EIO : answer.reason)
        }
    }

    private static func ask(
        _ socket: String, about pidfd: CInt, _ wants: UInt32, uid: UInt32
    ) throws(PeerError) -> identify_answer {
        var request = identify_request(magic: IDENTIFY_MAGIC, wants: wants, uid: uid, reserved: 0)
        var answer = identify_answer()
        let result = identify_ask(socket, &request, pidfd, patience, &answer)
        guard result == 0 else { throw PeerError.unreadable(what: "contactbroker-identify", errno: -result) }
        return answer
    }
}
