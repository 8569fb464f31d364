import BrokerAccessControl
import CBrokerIdentify
import Glibc

/// Collects evidence about peers. Keeps nothing about them except the hashes of their executables. By default it
/// inspects processes itself, with the privileges of this process.
public final class EvidenceCollector: EvidenceSource {
    /// Inspects a peer's process; `wants` are flags of inspect.h.
    typealias Inspect = @Sendable (_ peer: PeerHandle, _ wants: UInt32) throws(PeerError) -> Inspection

    private let vantage: Evidence.Vantage
    private let inspect: Inspect
    private let hashes = HashCache()
    private let interpreters = SystemInterpreters()
    private let bootIdentifier = BootIdentifier.read()
    private let ownNamespaces: Evidence.Namespaces

    /// - Parameter vantage: use ``Evidence/Vantage/system`` only if this process may inspect every other
    ///   process.
    /// - Throws: if this process cannot read its own `/proc/self`. The broker can then identify no app.
    public convenience init(vantage: Evidence.Vantage = .session) throws(PeerError) {
        let place = vantage == .system ? IDENTIFY_WANTS_PLACE : 0
        try self.init(vantage: vantage) { peer, wants throws(PeerError) in
            try Inspection(at: peer.pidfd, wants: wants | place)
        }
    }

    /// - Parameter inspect: inspects a peer's process.
    init(vantage: Evidence.Vantage, inspect: @escaping Inspect) throws(PeerError) {
        self.vantage = vantage
        self.inspect = inspect
        var own = identify_namespaces()
        identify_namespaces_at("/proc/self", &own)
        ownNamespaces = Evidence.Namespaces(own)
        if case .unreadable(let errno) = ownNamespaces.mount {
            throw PeerError.unreadable(what: "process", errno: errno)
        }
    }

    public func prepare() { interpreters.prepare() }

    public func collect(_ peer: PeerHandle) throws(PeerError) -> Evidence {
        let evidence: Evidence
        do {
            evidence = try read(peer)
        } catch {
            throw peer.hasEnded ? PeerError.ended : error
        }
        // Data read by pid belongs to the peer: the peer still exists, so no other process had its pid during
        // the reads.
        guard !peer.hasEnded else { throw PeerError.ended }
        return evidence
    }

    private func read(_ peer: PeerHandle) throws(PeerError) -> Evidence {
        let status = try ProcessStatus(of: peer.pid)
        let controlGroup = ControlGroup.path(of: peer.pid)
        let seen = try inspect(peer, 0)
        guard seen.pid == peer.pid else { throw PeerError.unreadable(what: "process number", errno: ESRCH) }
        return Evidence(
            vantage: vantage, uid: peer.uid, gid: peer.gid,
            process: ProcessIdentity(pid: peer.pid, startTime: status.startTime),
            pidfdSource: peer.pidfdSource, bootIdentifier: bootIdentifier,
            sessionLeader: sessionLeader(status, of: peer.pid), terminal: status.terminal,
            controlGroup: controlGroup, namespaces: seen.namespaces, ownNamespaces: ownNamespaces,
            initNamespaces: seen.initNamespaces, label: peer.label,
            executable: try executable(seen.executable, peer), place: seen.place,
            unit: unit(in: controlGroup), flatpakInfo: seen.flatpakInfo)
    }

    /// The kernel does not reuse a session's number while the session has a member, so `/proc/NUMBER` is the
    /// leader or absent. Only terminal sessions matter here, so this skips the look-up if the process has no
    /// controlling terminal and does not lead its session.
    private func sessionLeader(_ status: ProcessStatus, of pid: Int32) -> Observation<ProcessIdentity> {
        if status.session <= 0 { return .absent }
        if status.session == pid { return .found(ProcessIdentity(pid: pid, startTime: status.startTime)) }
        guard status.terminal != nil else { return .absent }
        do {
            let leader = try ProcessStatus(of: status.session)
            return .found(ProcessIdentity(pid: status.session, startTime: leader.startTime))
        } catch {
            guard case .unreadable(_, let errno) = error else { return .absent }
            return errno == ENOENT || errno == ESRCH ? .absent : .unreadable(errno: errno)
        }
    }

    private func unit(in controlGroup: Observation<String>) -> Observation<SystemUnit> {
        guard vantage == .system, case .found(let path) = controlGroup,
            let name = ControlGroup.systemUnit(of: path)
        else { return .absent }
        return SystemUnits().unit(name)
    }

    private func executable(
        _ file: Observation<Inspection.File>, _ peer: PeerHandle
    ) throws(PeerError) -> Observation<Executable> {
        switch file {
        case .absent: return .absent
        case .unreadable(let errno): return .unreadable(errno: errno)
        case .found(let file):
            let digest = try digest(of: file, peer)
            return .found(
                Executable(
                    path: file.path, isDeleted: file.isDeleted, file: file.identity, digest: digest,
                    setGroup: file.setGroup,
                    sameAsInterpreter: interpreters.original(of: file.identity, digest: digest, hashes: hashes)))
        }
    }

    /// Returns the hash of a file. If neither the inspection nor the cache has it, a second inspection computes
    /// it. A cached hash depends only on the state of the file, so it is valid for all its processes.
    private func digest(of file: Inspection.File, _ peer: PeerHandle) throws(PeerError) -> Executable.Digest {
        if let digest = file.digest { return digest }
        if let known = hashes.remembered(file.identity) { return .sha256(known) }
        let again: Inspection
        do {
            again = try inspect(peer, IDENTIFY_WANTS_DIGEST)
        } catch .unreadable(_, let errno) {
            // The caller can still have a stronger identity: only `unverified` needs the hash.
            return .unreadable(errno: errno)
        }
        // The process may run another executable by now.
        guard case .found(let now) = again.executable, now.identity == file.identity, let digest = now.digest else {
            return .changing
        }
        hashes.keep(digest, of: file.identity)
        return digest
    }

    public func check(_ peer: PeerHandle, _ evidence: Evidence) -> ExecutableCheck {
        let seen: Inspection
        do {
            seen = try inspect(peer, IDENTIFY_WANTS_EXECUTABLE_ONLY)
        } catch {
            // A failure of the helper (late, busy, absent) says nothing about the process.
            return error == .ended ? .changed : .unknown
        }
        guard case .found(let executable) = evidence.executable, evidence.process.pid == peer.pid,
            seen.pid == peer.pid, case .found(let now) = seen.executable
        else { return peer.hasEnded ? .changed : .unknown }
        return now.identity == executable.file && now.path == executable.path && now.isDeleted == executable.isDeleted
            ? .same : .changed
    }
}
