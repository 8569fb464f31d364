import BrokerAccessControl
import BrokerBounds
import BrokerCore
import BrokerInterface
import BrokerLedger
import BrokerPeerIdentity
import BrokerVarlink
import BrokerVarlinkServer
import Glibc
import Synchronization

/// Identifies the callers that connect to one socket, before the broker reads any byte from them.
///
/// The event loop asks the kernel for the peer credentials. The workers of ``CallerInspections`` read and
/// hash files, and look up user names.
struct Reception {
    let interface: ContactsInterface
    let setting: Setting
    let broker: Broker
    let loop: EventLoop
    let source: any EvidenceSource
    let manifests: AppManifests
    let complaints: Complaints
    /// Shared by all sockets.
    let inspections: CallerInspections

    private static let names = UserNames()

    func admit(_ accepted: AcceptedPeer, _ decide: PendingAdmission) {
        guard setting.serves(accepted.userID, at: interface) else {
            complaints.report(
                of: accepted.userID,
                "refused a connection of user \(accepted.userID): this broker serves only user \(getuid())",
                [("uid", "\(accepted.userID)"), ("socket", interface.name)])
            return decide(.refuse)
        }
        let peer: PeerHandle
        do throws(PeerError) {
            peer = try PeerHandle(socket: accepted.descriptor)
        } catch {
            return decide(.refuse)
        }
        // The socket's file mode admits every process that has the agent's group among its supplementary
        // groups. The installed agent is setgid, so only it has this group as its effective group.
        if interface == .agent, let group = setting.agentGroup, peer.gid != group {
            complaints.report(peer, "it is not the installed agent, which has the socket's group", interface)
            return decide(.refuse)
        }
        guard !inspections.users.contains(peer.uid) else { return identify(peer, decide) }
        // A UID that is not known yet waits in a separate lane, in which workers only look up user names.
        // Slow inspections of executables, including those of UIDs without a name, therefore do not delay it.
        let place = InspectionPlace(.newcomers, uid: peer.uid, pid: peer.pid)
        decide.onAbandoned = inspections.identification.inspect(at: place) {
            userName(peer.uid)
        } done: { [self] name in
            if name != "\(peer.uid)" { inspections.users.learn(peer.uid) }
            identify(peer, decide)
        }
    }

    /// Collects the evidence on a worker and judges it.
    private func identify(_ peer: PeerHandle, _ decide: PendingAdmission) {
        let (source, manifests) = (source, manifests)
        // A declaration concerns apps. At the other sockets, a program in a declared folder stays unverified.
        let declared = interface == .contacts ? broker.declaredFolders(of: peer.uid) : []
        decide.onAbandoned = inspections.identification.inspect(at: inspections.place(of: peer)) {
            Self.identify(peer, source, manifests, declared)
        } done: { [self] result in
            switch result {
            case .failure(.ended):
                decide(.refuse)
            case .failure(let error):
                complaints.report(peer, "it could not be identified: \(error)", interface)
                decide(.refuse)
            case .success(let (evidence, judgement, user)):
                let isOwner = broker.isOwner(peer.uid, named: user)
                decide(admission(evidence, judgement, peer, isOwner: isOwner))
            }
        }
    }

    /// Runs on a worker: it reads files, and the user database may be remote (NSS), so look-ups can block.
    private static func identify(
        _ peer: PeerHandle, _ source: any EvidenceSource, _ manifests: AppManifests, _ declared: [DeclaredFolder]
    ) -> Result<(Evidence, Judgement, user: String), PeerError> {
        do throws(PeerError) {
            var evidence = try source.collect(peer)
            if !declared.isEmpty { evidence.findFolders() }
            let user = names.name(of: peer.uid, in: evidence.process)
            return .success((evidence, judge(evidence, manifests: manifests, declared: declared), user))
        } catch {
            return .failure(error)
        }
    }

    private func admission(
        _ evidence: Evidence, _ judgement: Judgement, _ peer: PeerHandle, isOwner: Bool
    ) -> Admission {
        switch judgement {
        case .refused(let refusal):
            // An unidentified caller is refused even if its UID is 0, because root in a container also has
            // this UID.
            complaints.report(peer, "it could not be identified: \(refusal)", interface)
            return .refuse
        case .caller(let caller):
            switch interface {
            case .contacts: break
            case .agent, .admin, .cardDAV:
                guard !caller.isSandboxed else {
                    complaints.report(peer, "it is in a sandbox", interface)
                    return .refuse
                }
            }
            let inspect = { [source, inspections] (done: @escaping (ExecutableCheck) -> Void) -> (() -> Void)? in
                inspections.checks.inspect(
                    at: inspections.place(of: peer), { source.check(peer, evidence) }, done: done)
            }
            return .admit(
                CallerSession(
                    caller: caller, interface: interface, isAnotherPerson: !isOwner, hasEnded: { peer.hasEnded },
                    inspect: inspect))
        }
    }
}

extension Admission {
    /// Serves the caller. The connection limit of an app covers all of the user's connections from it. For an
    /// interpreter, which can run any app, the limit applies to each terminal session, or to each process
    /// without one.
    fileprivate static func admit(_ session: CallerSession) -> Admission {
        .admit(context: session, app: session.caller.principals.last)
    }
}

extension Complaints {
    /// Reports a caller that was refused.
    fileprivate func report(_ peer: PeerHandle, _ reason: String, _ interface: ContactsInterface) {
        report(
            of: peer.uid, "refused a connection of process \(peer.pid) to \(interface.name): \(reason)",
            [("uid", "\(peer.uid)"), ("pid", "\(peer.pid)"), ("socket", interface.name)])
    }
}

/// Names of the users that processes run as. Each name is cached per process and UID. A cached name stays the
/// same while the process runs, even if the user is renamed or the UID is reassigned.
final class UserNames: Sendable {
    private struct Process: Hashable {
        let identity: ProcessIdentity
        let uid: UInt32
    }

    private let names = Mutex<[Process: String]>([:])

    func name(of uid: UInt32, in process: ProcessIdentity) -> String {
        let process = Process(identity: process, uid: uid)
        if let known = names.withLock({ $0[process] }) { return known }
        let name = userName(uid)
        // If the look-up returns only the UID, it may have failed temporarily, so the result is not cached.
        guard name != "\(uid)" else { return name }
        names.withLock { names in
            if names.count >= InspectionLimits.userNames { names = [:] }
            names[process] = name
        }
        return name
    }
}
