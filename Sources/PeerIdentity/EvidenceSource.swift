import AccessControl
import Glibc

/// Where evidence about peers comes from. Reads what the kernel knows, judges nothing.
///
/// Steps apart, because some belong on the loop and one does not: ``begin(socket:)`` right at accept, ``collect(_:)`` on
/// a queue that may wait for a disk, ``isStill(_:_:)`` on the loop again.
public protocol EvidenceSource: Sendable {
    /// Reads what the first peer would otherwise wait for: which interpreters there are. Not for the loop.
    func prepare()

    /// Asks the socket who connected. For the loop: it waits for nothing.
    func begin(socket: CInt) throws(PeerError) -> PeerHandle

    /// Reads the evidence. Not for the loop: an executable that was not seen before is read and hashed.
    ///
    /// - Throws: ``PeerError/ended`` where the process was gone by the end, so that nothing read is of another process
    ///   with the same number.
    func collect(_ peer: PeerHandle) throws(PeerError) -> Evidence

    /// The process still runs the very file of that evidence. Where that cannot be told, it does not.
    ///
    /// False also after a harmless change, such as an upgrade that replaced the file: collect and judge again, and go on
    /// if the same caller comes out. For the loop, once per prompt or connection: it reads no file of anybody's, and its
    /// wait is bounded.
    func isStill(_ peer: PeerHandle, _ evidence: Evidence) -> Bool
}

extension EvidenceSource {
    public func begin(socket: CInt) throws(PeerError) -> PeerHandle { try PeerHandle(socket: socket) }
}

/// What both sources have in common: all but who looks into the process.
struct EvidenceReader {
    let vantage: Evidence.Vantage
    let hashes: HashCache
    private let interpreters = SystemInterpreters()
    private let bootIdentifier = BootIdentifier.read()
    private let ownNamespaces: Evidence.Namespaces

    /// - Throws: where the broker cannot read its own `/proc/self`; then it can identify nobody.
    init(vantage: Evidence.Vantage, hashes: HashCache) throws(PeerError) {
        self.vantage = vantage
        self.hashes = hashes
        ownNamespaces = try ProcessDirectory(pid: getpid()).namespaces()
    }

    func prepare() { interpreters.prepare() }

    /// - Parameter look: looks into the process, and hashes its executable if asked to.
    func collect(
        _ peer: PeerHandle, _ look: (_ hashing: Bool) throws(PeerError) -> Look
    ) throws(PeerError) -> Evidence {
        let evidence: Evidence
        do {
            evidence = try read(peer, look)
        } catch {
            throw peer.hasEnded ? PeerError.ended : error
        }
        guard !peer.hasEnded else { throw PeerError.ended }
        return evidence
    }

    private func read(
        _ peer: PeerHandle, _ look: (_ hashing: Bool) throws(PeerError) -> Look
    ) throws(PeerError) -> Evidence {
        let directory = try ProcessDirectory(pid: peer.pid)
        let status = try directory.status()
        let seen = try look(false)
        guard seen.pid == peer.pid else { throw PeerError.unreadable(what: "process number", errno: ESRCH) }
        let controlGroup = controlGroup(directory)
        return Evidence(
            vantage: vantage, uid: peer.uid, gid: peer.gid,
            process: ProcessIdentity(pid: peer.pid, startTime: status.startTime),
            pidfdSource: peer.pidfdSource, command: status.command, bootIdentifier: bootIdentifier,
            sessionLeader: sessionLeader(status, of: peer.pid), terminal: status.terminal,
            controlGroup: controlGroup, namespaces: seen.namespaces, ownNamespaces: ownNamespaces,
            initNamespaces: seen.initNamespaces, label: peer.label,
            executable: try executable(seen.executable, look), place: seen.place, unit: unit(in: controlGroup),
            flatpakInfo: seen.flatpakInfo)
    }

    /// The number of a session is not given out again while the session has a member, so that `/proc/NUMBER` is the
    /// leader or is not there.
    private func sessionLeader(_ status: ProcessStatus, of pid: Int32) -> Reading<ProcessIdentity> {
        if status.session <= 0 { return .absent }
        if status.session == pid { return .found(ProcessIdentity(pid: pid, startTime: status.startTime)) }
        do {
            let leader = try ProcessDirectory(pid: status.session).status()
            return .found(ProcessIdentity(pid: status.session, startTime: leader.startTime))
        } catch {
            guard case .unreadable(_, let errno) = error else { return .absent }
            return errno == ENOENT || errno == ESRCH ? .absent : .unreadable(errno: errno)
        }
    }

    private func controlGroup(_ directory: ProcessDirectory) -> Reading<String> {
        switch directory.contents(of: "cgroup") {
        case .found(let bytes): ControlGroup.unifiedPath(in: bytes).map { .found($0) } ?? .absent
        // The file is always there while the process is: its absence proves nothing.
        case .absent: .unreadable(errno: ENOENT)
        case .unreadable(let errno): .unreadable(errno: errno)
        }
    }

    private func unit(in controlGroup: Reading<String>) -> Reading<SystemUnit> {
        guard vantage == .system, case .found(let path) = controlGroup,
            let name = ControlGroup.systemUnit(of: path)
        else { return .absent }
        return SystemUnits().unit(name)
    }

    private func executable(
        _ file: Reading<Look.File>, _ look: (_ hashing: Bool) throws(PeerError) -> Look
    ) throws(PeerError) -> Reading<Executable> {
        switch file {
        case .absent: return .absent
        case .unreadable(let errno): return .unreadable(errno: errno)
        case .found(let file):
            let digest = try digest(of: file, look)
            return .found(
                Executable(
                    path: file.path, isDeleted: file.isDeleted, file: file.identity, digest: digest,
                    sameAsInterpreter: interpreters.original(of: file.identity, digest: digest, hashes: hashes)))
        }
    }

    /// Looked into once more for a file that is not known, and never for one that is: everything but the hash is read
    /// anew for each connection, and a hash belongs to a state of a file, so that what is remembered says nothing of
    /// who runs it.
    private func digest(
        of file: Look.File, _ look: (_ hashing: Bool) throws(PeerError) -> Look
    ) throws(PeerError) -> Executable.Digest {
        if let digest = file.digest { return digest }
        if let known = hashes.remembered(file.identity) { return .sha256(known) }
        let again: Look
        do {
            again = try look(true)
        } catch .unreadable(_, let errno) {
            // Only the weakest kind is known by its contents.
            return .unreadable(errno: errno)
        }
        // It may run another one by now.
        guard case .found(let now) = again.executable, now.identity == file.identity, let digest = now.digest else {
            return .changing
        }
        hashes.keep(digest, of: file.identity)
        return digest
    }

    func isStill(_ peer: PeerHandle, _ evidence: Evidence, _ seen: Look) -> Bool {
        guard case .found(let executable) = evidence.executable, evidence.process.pid == peer.pid,
            seen.pid == peer.pid, case .found(let now) = seen.executable
        else { return false }
        return now.identity == executable.file && now.path == executable.path && now.isDeleted == executable.isDeleted
    }
}
