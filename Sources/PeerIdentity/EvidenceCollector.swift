import AccessControl
import CLinux
import Glibc

/// Reads what the kernel knows about a peer. Judges nothing.
///
/// Two steps, because one belongs on the loop and the other does not: ``begin(socket:)`` right at accept,
/// ``collect(_:)`` on a queue that may wait for a disk.
public final class EvidenceCollector: Sendable {
    private let bootIdentifier: Reading<String>
    private let ownNamespaces: Evidence.Namespaces
    private let initNamespaces: Evidence.Namespaces
    private let hashes: HashCache
    private let interpreters = SystemInterpreters()

    /// - Throws: where the broker cannot read its own `/proc/self`; then it can identify nobody.
    public init(hashes: HashCache = HashCache()) throws(PeerError) {
        self.hashes = hashes
        bootIdentifier = BootIdentifier.read()
        ownNamespaces = try ProcessDirectory(pid: getpid()).namespaces()
        do {
            initNamespaces = try ProcessDirectory(pid: 1).namespaces()
        } catch {
            // Hidden by the mount options of /proc. It only ever speaks in favour of a caller.
            initNamespaces = Evidence.Namespaces(mount: .absent, user: .absent)
        }
    }

    /// Reads what the first peer would otherwise wait for: which interpreters there are. Not for the loop.
    public func prepare() { interpreters.prepare() }

    /// Asks the socket who connected. For the loop: it waits for nothing.
    public func begin(socket: CInt) throws(PeerError) -> PeerHandle {
        try PeerHandle(socket: socket)
    }

    /// Reads the evidence. Not for the loop: an executable that was not seen before is read and hashed.
    ///
    /// - Throws: ``PeerError/ended`` where the process was gone by the end, so that nothing read is of another
    ///   process with the same number.
    public func collect(_ peer: PeerHandle) throws(PeerError) -> Evidence {
        let evidence: Evidence
        do {
            evidence = try read(peer)
        } catch {
            throw peer.hasEnded ? PeerError.ended : error
        }
        guard !peer.hasEnded else { throw PeerError.ended }
        return evidence
    }

    private func read(_ peer: PeerHandle) throws(PeerError) -> Evidence {
        let directory = try ProcessDirectory(pid: peer.pid)
        let status = try directory.status()
        let namespaces = directory.namespaces()
        let fileSystems = FileSystems(of: directory, isOwnNamespace: namespaces.mount == ownNamespaces.mount)
        return Evidence(
            uid: peer.uid, gid: peer.gid,
            process: ProcessIdentity(pid: peer.pid, startTime: status.startTime),
            pidfdSource: peer.pidfdSource, command: status.command, bootIdentifier: bootIdentifier,
            sessionLeader: sessionLeader(status, of: peer.pid), terminal: status.terminal,
            controlGroup: controlGroup(directory), namespaces: namespaces, ownNamespaces: ownNamespaces,
            initNamespaces: initNamespaces, label: peer.label,
            executable: executable(directory, on: fileSystems),
            flatpakInfo: flatpakInfo(directory, on: fileSystems))
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

    private func executable(_ directory: ProcessDirectory, on fileSystems: FileSystems) -> Reading<Executable> {
        let file: CInt
        switch directory.open("exe", following: true) {
        case .found(let opened): file = opened
        case .absent: return .absent
        case .unreadable(let errno): return .unreadable(errno: errno)
        }
        defer { close(file) }
        var status = clinux_file()
        let result = clinux_file_status(file, &status)
        guard result == 0 else { return .unreadable(errno: -result) }
        let link: [UInt8]
        switch directory.link("exe") {
        case .found(let text): link = text
        case .absent: return .absent
        case .unreadable(let errno): return .unreadable(errno: errno)
        }
        let (path, isDeleted) = ExecutablePath.parse(link: link)
        let identity = FileIdentity(status)
        let digest = fileSystems.isLocal(status) ? hashes.digest(of: file, status) : .notLocal
        return .found(
            Executable(
                path: path, isDeleted: isDeleted, file: identity, digest: digest,
                sameAsInterpreter: interpreters.original(of: identity, digest: digest, hashes: hashes)))
    }

    /// The peer chooses what its root is: nothing in there is opened for reading, no link followed, and no lookup
    /// made on a file server that may never answer.
    private func flatpakInfo(_ directory: ProcessDirectory, on fileSystems: FileSystems) -> Reading<FileIdentity> {
        let root: CInt
        switch directory.open("root", following: true) {
        case .found(let opened): root = opened
        case .absent: return .unreadable(errno: ENOENT)
        case .unreadable(let errno): return .unreadable(errno: errno)
        }
        defer { close(root) }
        var status = clinux_file()
        let result = clinux_file_status(root, &status)
        guard result == 0 else { return .unreadable(errno: -result) }
        guard fileSystems.isLocal(status) else { return .unreadable(errno: EOPNOTSUPP) }
        let info = clinux_open_path(root, ".flatpak-info", 0)
        guard info >= 0 else { return info == -ENOENT ? .absent : .unreadable(errno: -info) }
        defer { close(info) }
        let infoResult = clinux_file_status(info, &status)
        return infoResult == 0 ? .found(FileIdentity(status)) : .unreadable(errno: -infoResult)
    }
}
