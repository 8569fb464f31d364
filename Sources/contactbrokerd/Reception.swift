import AccessControl
import Broker
import ContactsInterface
import Dispatch
import Glibc
import Logging
import PeerIdentity
import Varlink
import VarlinkServer

/// Finds out who has connected at one door, before a byte of theirs is read.
///
/// The kernel is asked on the loop; files are read and hashed off it.
struct Reception {
    let door: ContactsInterface
    let loop: EventLoop
    let collector: EvidenceCollector
    let log: Logger

    /// Several at a time, and one process always in the same place: a thousand connections of one whose executable
    /// takes seconds to read keep few others waiting.
    private static let identification = (0..<16).map { DispatchQueue(label: "identification \($0)") }

    func admit(_ accepted: AcceptedPeer, _ decide: @escaping (Admission) -> Void) {
        // Session mode serves the user who runs it.
        guard accepted.userID == getuid() else {
            log.warning("user \(accepted.userID) was turned away: this broker serves \(getuid()) alone")
            return decide(.refuse)
        }
        let peer: PeerHandle
        do throws(PeerError) {
            peer = try collector.begin(socket: accepted.descriptor)
        } catch {
            return decide(.refuse)
        }
        let (collector, loop, log, door) = (collector, loop, log, door)
        let bound = LoopBound(decide, loop: loop)
        Self.identification[Int(peer.pid) % Self.identification.count].async {
            let result = Self.identify(peer, collector)
            loop.execute {
                switch result {
                case .failure(.ended):
                    bound.value(.refuse)
                case .failure(let error):
                    log.warning("process \(peer.pid) was turned away: it could not be identified: \(error)")
                    bound.value(.refuse)
                case .success((let evidence, let judgement)):
                    bound.value(Self.admission(evidence, judgement, peer, door, log))
                }
            }
        }
    }

    private static func identify(
        _ peer: PeerHandle, _ collector: EvidenceCollector
    ) -> Result<(Evidence, Judgement), PeerError> {
        do throws(PeerError) {
            let evidence = try collector.collect(peer)
            return .success((evidence, judge(evidence)))
        } catch {
            return .failure(error)
        }
    }

    private static func admission(
        _ evidence: Evidence, _ judgement: Judgement, _ peer: PeerHandle, _ door: ContactsInterface, _ log: Logger
    ) -> Admission {
        switch judgement {
        case .refused(let refusal):
            log.warning("process \(peer.pid) was turned away: it cannot be told who it is: \(refusal)")
            return .refuse
        case .caller(let caller):
            switch door {
            case .contacts: break
            case .agent, .admin:
                guard !caller.isSandboxed else {
                    log.warning("process \(peer.pid) was turned away from \(door.name): it is in a sandbox")
                    return .refuse
                }
            }
            return .admit(
                context: CallerSession(caller: caller, door: door) { peer.executableIsStill(evidence) })
        }
    }
}
