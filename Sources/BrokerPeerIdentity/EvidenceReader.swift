import BrokerAccessControl
import CBrokerLinux
import Glibc

/// Looks into processes: by itself, or by having it done.
protocol ProcessLooker {
    /// - Parameters:
    ///   - process: opened for the peer's number.
    ///   - number: the peer's, where its pidfd tells it.
    ///   - hashing: the executable is hashed too. Not without need: it is read for that.
    ///   - known: an earlier sight of that process. It is returned itself where another look would find the same.
    func look(
        _ peer: PeerHandle, _ process: ProcessDirectory, number: Int32?, hashing: Bool, known: Sight?
    ) throws(PeerError) -> Sight
}

/// What both sources have in common: all but who looks into the process.
struct EvidenceReader {
    let vantage: Evidence.Vantage
    let hashes: HashCache
    private let interpreters = SystemInterpreters()
    private let bootIdentifier = BootIdentifier.read()
    private let ownNamespaces: Evidence.Namespaces
    private let acquaintances = Acquaintances()
    private let controlGroups = ControlGroupPaths()

    /// - Throws: where the broker cannot read its own `/proc/self`; then it can identify nobody.
    init(vantage: Evidence.Vantage, hashes: HashCache) throws(PeerError) {
        self.vantage = vantage
        self.hashes = hashes
        ownNamespaces = try ProcessDirectory(pid: getpid()).namespaces()
    }

    func prepare() { interpreters.prepare() }

    func collect(_ peer: PeerHandle, _ looker: some ProcessLooker) throws(PeerError) -> Evidence {
        let evidence: Evidence
        do {
            evidence = try read(peer, looker)
        } catch {
            throw peer.hasEnded ? PeerError.ended : error
        }
        guard !peer.hasEnded else { throw PeerError.ended }
        return evidence
    }

    private func read(_ peer: PeerHandle, _ looker: some ProcessLooker) throws(PeerError) -> Evidence {
        // One that has ended tells nothing any more, and another one that has its number now is opened for itself.
        var known = acquaintances.of(peer.pid)
        var told = known.flatMap { try? $0.process.status() }
        if told?.startTime != known?.startTime { (known, told) = (nil, nil) }
        let process: ProcessDirectory
        let status: ProcessStatus
        if let known, let told {
            (process, status) = (known.process, told)
        } else {
            process = try ProcessDirectory(pid: peer.pid)
            status = try process.status()
        }

        let kernel = try kernelsWord(on: peer)
        // What was read of it before stays what it was, and is not looked at where the number says it.
        var controlGroup = known?.controlGroup
        let path: Reading<String>
        if let group = kernel?.control_group, let known = controlGroups.path(of: group) {
            path = .found(known)
        } else {
            let reading = ControlGroupReading(of: process, known: known?.controlGroup)
            path = reading.path
            controlGroup = reading
            controlGroups.learn(path, of: kernel?.control_group ?? 0)
        }
        // Last, since whoever has it done waits for it.
        let seen = try looker.look(peer, process, number: kernel?.pid, hashing: false, known: known?.sight)
        guard seen.look.pid == peer.pid else { throw PeerError.unreadable(what: "process number", errno: ESRCH) }
        if seen !== known?.sight || controlGroup != known?.controlGroup {
            acquaintances.keep(
                Acquaintance(process: process, startTime: status.startTime, sight: seen, controlGroup: controlGroup),
                as: peer.pid)
        }
        return evidence(
            peer, status, seen.look, controlGroup: path, sessionLeader: sessionLeader(status, of: peer.pid),
            executable: try executable(seen.look.executable, peer, process, number: kernel?.pid, looker),
            unit: unit(in: path))
    }

    private func evidence(
        _ peer: PeerHandle, _ status: ProcessStatus, _ look: Look, controlGroup: Reading<String>,
        sessionLeader: Reading<ProcessIdentity>, executable: Reading<Executable>, unit: Reading<SystemUnit>
    ) -> Evidence {
        Evidence(
            vantage: vantage, uid: peer.uid, gid: peer.gid,
            process: ProcessIdentity(pid: peer.pid, startTime: status.startTime),
            pidfdSource: peer.pidfdSource, command: status.command, bootIdentifier: bootIdentifier,
            sessionLeader: sessionLeader, terminal: status.terminal,
            controlGroup: controlGroup, namespaces: look.namespaces, ownNamespaces: ownNamespaces,
            initNamespaces: look.initNamespaces, label: peer.label, executable: executable, place: look.place,
            unit: unit, flatpakInfo: look.flatpakInfo)
    }

    /// `nil` before Linux 6.13.
    private func kernelsWord(on peer: PeerHandle) throws(PeerError) -> clinux_process? {
        var process = clinux_process()
        switch clinux_pidfd_process(peer.pidfd, &process) {
        case 0 where process.pid == peer.pid: return process
        // It lies in a namespace from which it has another number here, or none.
        case 0: throw PeerError.unreadable(what: "process number", errno: ESRCH)
        case -ENOTTY: return nil
        case -ESRCH: throw PeerError.ended
        case let code: throw PeerError.unreadable(what: "process number", errno: -code)
        }
    }

    /// The number of a session is not given out again while the session has a member, so that `/proc/NUMBER` is the
    /// leader or is not there. Who has no terminal is in no terminal session, and its leader is not looked for.
    private func sessionLeader(_ status: ProcessStatus, of pid: Int32) -> Reading<ProcessIdentity> {
        if status.session <= 0 { return .absent }
        if status.session == pid { return .found(ProcessIdentity(pid: pid, startTime: status.startTime)) }
        guard status.terminal != nil else { return .absent }
        do {
            let leader = try ProcessDirectory(pid: status.session).status()
            return .found(ProcessIdentity(pid: status.session, startTime: leader.startTime))
        } catch {
            guard case .unreadable(_, let errno) = error else { return .absent }
            return errno == ENOENT || errno == ESRCH ? .absent : .unreadable(errno: errno)
        }
    }

    private func unit(in controlGroup: Reading<String>) -> Reading<SystemUnit> {
        guard vantage == .system, case .found(let path) = controlGroup,
            let name = ControlGroup.systemUnit(of: path)
        else { return .absent }
        return SystemUnits().unit(name)
    }

    private func executable(
        _ file: Reading<Look.File>, _ peer: PeerHandle, _ process: ProcessDirectory, number: Int32?,
        _ looker: some ProcessLooker
    ) throws(PeerError) -> Reading<Executable> {
        switch file {
        case .absent: return .absent
        case .unreadable(let errno): return .unreadable(errno: errno)
        case .found(let file):
            let digest = try digest(of: file, peer, process, number: number, looker)
            return .found(
                Executable(
                    path: file.path, isDeleted: file.isDeleted, file: file.identity, digest: digest,
                    sameAsInterpreter: interpreters.original(of: file.identity, digest: digest, hashes: hashes)))
        }
    }

    /// Looked into once more for a file that is not known, and never for one that is: a hash belongs to a state of a file,
    /// so that what is remembered says nothing of who runs it.
    private func digest(
        of file: Look.File, _ peer: PeerHandle, _ process: ProcessDirectory, number: Int32?,
        _ looker: some ProcessLooker
    ) throws(PeerError) -> Executable.Digest {
        if let digest = file.digest { return digest }
        if let known = hashes.remembered(file.identity) { return .sha256(known) }
        let again: Look
        do {
            again = try looker.look(peer, process, number: number, hashing: true, known: nil).look
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

    /// Compares what was seen now with the evidence.
    func check(_ peer: PeerHandle, _ evidence: Evidence, _ seen: Look) -> ExecutableCheck {
        guard case .found(let executable) = evidence.executable, evidence.process.pid == peer.pid,
            seen.pid == peer.pid, case .found(let now) = seen.executable
        else { return peer.hasEnded ? .changed : .unknown }
        return now.identity == executable.file && now.path == executable.path && now.isDeleted == executable.isDeleted
            ? .same : .changed
    }
}
