import BrokerAccessControl
import CBrokerIdentify
import Glibc

/// Inspects peers through `contactbroker-identify`, for a broker without privileges.
///
/// The helper keeps no state; the broker caches the hashes itself. A cache in the helper would outlive the
/// broker. An attacker who controlled one broker could then mislead the next.
public final class IdentifyClient: EvidenceSource {
    /// The longest wait for the helper's answer, in milliseconds. A worker process has half a second; the rest is
    /// for a helper that is starting.
    private static let patience: CInt = 2_000

    private let socket: String
    private let collector: EvidenceCollector

    public init(socket: String) throws(PeerError) {
        self.socket = socket
        collector = try EvidenceCollector(vantage: .system) { peer, wants throws(PeerError) in
            try Self.inspect(at: peer, wants, socket)
        }
    }

    public func prepare() { collector.prepare() }

    public func collect(_ peer: PeerHandle) throws(PeerError) -> Evidence { try collector.collect(peer) }

    public func check(_ peer: PeerHandle, _ evidence: Evidence) -> ExecutableCheck { collector.check(peer, evidence) }

    /// Whether the helper runs and answers. Without it the broker cannot identify any app and should not start.
    public func isAnswered() -> Bool {
        // /dev/null is no pidfd, so the helper answers that the request is malformed. This answer proves that
        // it runs.
        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        let answer = try? Self.ask(socket, about: file, 0)
        return answer?.outcome == IDENTIFY_MALFORMED.rawValue
    }

    private static func inspect(
        at peer: PeerHandle, _ wants: UInt32, _ socket: String
    ) throws(PeerError) -> Inspection {
        let answer = try ask(socket, about: peer.pidfd, wants)
        switch answer.outcome {
        case IDENTIFY_INSPECTED.rawValue: return Inspection(answer.inspection)
        case IDENTIFY_ENDED.rawValue: throw PeerError.ended
        default: throw PeerError.unreadable(what: "process", errno: answer.reason == 0 ? EIO : answer.reason)
        }
    }

    private static func ask(
        _ socket: String, about pidfd: CInt, _ wants: UInt32
    ) throws(PeerError) -> identify_answer {
        var request = identify_request(magic: IDENTIFY_MAGIC, wants: wants, reserved: 0)
        var answer = identify_answer()
        let result = identify_ask(socket, &request, pidfd, patience, &answer)
        // A worker process that ends without an answer was killed because it took too long.
        guard result != -ECONNRESET else { throw PeerError.unreadable(what: "process", errno: ETIMEDOUT) }
        guard result == 0 else { throw PeerError.unreadable(what: "contactbroker-identify", errno: -result) }
        return answer
    }
}
