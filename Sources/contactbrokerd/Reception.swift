import BrokerAccessControl
import BrokerCore
import BrokerInterface
import BrokerPeerIdentity
import BrokerVarlink
import BrokerVarlinkServer
import Glibc
import Synchronization

/// Finds out who has connected at one door, before a byte of theirs is read.
///
/// The kernel is asked on the loop who connected; files are read and hashed, and names of users looked up, on the threads of
/// ``CallerLooks``.
struct Reception {
    let door: ContactsInterface
    let setting: Setting
    let broker: Broker
    let loop: EventLoop
    let source: any EvidenceSource
    let manifests: AppManifests
    let complaints: Complaints
    /// Of all doors.
    let looks: CallerLooks

    private static let names = UserNames()

    func admit(_ accepted: AcceptedPeer, _ decide: PendingAdmission) {
        guard setting.serves(accepted.userID, at: door) else {
            complaints.tell(
                of: accepted.userID, "user \(accepted.userID) was turned away: this broker serves \(getuid()) alone",
                [("uid", "\(accepted.userID)"), ("door", door.name)])
            return decide(.refuse)
        }
        let peer: PeerHandle
        do throws(PeerError) {
            peer = try PeerHandle(socket: accepted.descriptor)
        } catch {
            return decide(.refuse)
        }
        guard !looks.isKnown(peer.uid) else { return identify(peer, decide) }
        // A number that has no user waits with all others that have none. Whether it has one is quickly found out, and nobody's
        // slow executable is in the way: a person who connects for the first time does not stand in the strangers' crowd.
        let place = LookPlace(.newcomers, uid: peer.uid, pid: peer.pid)
        decide.onAbandoned = looks.identification.look(at: place) {
            userName(peer.uid)
        } done: { [self] name in
            if name != "\(peer.uid)" { looks.learn(peer.uid) }
            identify(peer, decide)
        }
    }

    /// Has the evidence collected, and judges it.
    private func identify(_ peer: PeerHandle, _ decide: PendingAdmission) {
        let (source, manifests) = (source, manifests)
        decide.onAbandoned = looks.identification.look(at: looks.place(of: peer)) {
            Self.identify(peer, source, manifests)
        } done: { [self] result in
            switch result {
            case .failure(.ended):
                decide(.refuse)
            case .failure(let error):
                complaints.tell(peer, "it could not be identified: \(error)", door)
                decide(.refuse)
            case .success(let (evidence, judgement, user)):
                let isOwner = broker.isOwner(peer.uid, named: user)
                decide(admission(evidence, judgement, peer, isOwner: isOwner))
            }
        }
    }

    /// On a worker: files are read, and the user database may be remote.
    private static func identify(
        _ peer: PeerHandle, _ source: any EvidenceSource, _ manifests: AppManifests
    ) -> Result<(Evidence, Judgement, user: String), PeerError> {
        do throws(PeerError) {
            let evidence = try source.collect(peer)
            let user = names.name(of: peer.uid, in: evidence.process)
            return .success((evidence, judge(evidence, manifests: manifests), user))
        } catch {
            return .failure(error)
        }
    }

    private func admission(
        _ evidence: Evidence, _ judgement: Judgement, _ peer: PeerHandle, isOwner: Bool
    ) -> Admission {
        switch judgement {
        case .refused where evidence.uid == 0 && door == .admin:
            // A broker without privilege cannot look at root's processes, and need not: root is believed.
            return .admit(
                context: CallerSession(caller: root(evidence), door: door) { done in
                    done(.unknown)
                    return nil
                })
        case .refused(let refusal):
            complaints.tell(peer, "it cannot be told who it is: \(refusal)", door)
            return .refuse
        case .caller(let caller):
            switch door {
            case .contacts: break
            case .agent, .admin:
                guard !caller.isSandboxed else {
                    complaints.tell(peer, "it is in a sandbox", door)
                    return .refuse
                }
            }
            let look = { [source, looks] (done: @escaping (ExecutableCheck) -> Void) -> (() -> Void)? in
                looks.checks.look(at: looks.place(of: peer), { source.check(peer, evidence) }, done: done)
            }
            return .admit(
                context: CallerSession(caller: caller, door: door, isAnotherPerson: !isOwner, look: look))
        }
    }
}

/// Root, of whom nothing but the process is known.
private func root(_ evidence: Evidence) -> Caller {
    Caller(
        uid: 0, strength: .unverified, app: "root", displayName: "root", executable: nil, process: evidence.process,
        session: nil, terminal: nil, isInterpreter: false, isSandboxed: false)
}

extension Complaints {
    /// Somebody who connected is not served.
    fileprivate func tell(_ peer: PeerHandle, _ reason: String, _ door: ContactsInterface) {
        tell(
            of: peer.uid, "process \(peer.pid) was turned away from \(door.name): \(reason)",
            [("uid", "\(peer.uid)"), ("pid", "\(peer.pid)"), ("door", door.name)])
    }
}

/// As whom processes were started. Looked up once for each process and user: whoever is renamed, or has their number given
/// to somebody else, while it runs has not started it.
final class UserNames: Sendable {
    /// Processes remembered; beyond it all are looked up anew.
    private static let capacity = 256

    private struct Process: Hashable {
        let identity: ProcessIdentity
        let uid: UInt32
    }

    private let names = Mutex<[Process: String]>([:])

    func name(of uid: UInt32, in process: ProcessIdentity) -> String {
        let process = Process(identity: process, uid: uid)
        if let known = names.withLock({ $0[process] }) { return known }
        let name = userName(uid)
        // A number in place of a name may be a failure that passes.
        guard name != "\(uid)" else { return name }
        names.withLock { names in
            if names.count >= Self.capacity { names = [:] }
            names[process] = name
        }
        return name
    }
}
