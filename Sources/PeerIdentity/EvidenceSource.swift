import AccessControl
import Glibc

/// Where evidence about peers comes from. Reads what the kernel knows, judges nothing.
///
/// Steps apart, because some belong on the loop and others do not: ``begin(socket:)`` right at accept, ``recognize(_:)`` there
/// too, ``collect(_:)`` on a worker that may wait for a disk. Later, to see whether the process became another program,
/// ``isStillInMemory(_:_:)`` on the loop, and where that says nothing ``check(_:_:)`` on a worker.
public protocol EvidenceSource: Sendable {
    /// Reads what the first peer would otherwise wait for: which interpreters there are. Not for the loop.
    func prepare()

    /// Asks the socket who connected. For the loop: it waits for nothing.
    func begin(socket: CInt) throws(PeerError) -> PeerHandle

    /// The evidence of a process that connects again and is what it was, read anew and compared as ``collect(_:)`` does;
    /// `nil` where that cannot be had without waiting, where anything has changed and where there is any doubt. Then collect.
    ///
    /// For the loop, within a ``LookAllowance``.
    func recognize(_ peer: PeerHandle) -> Evidence?

    /// Reads the evidence. Not for the loop: an executable that was not seen before is read and hashed.
    ///
    /// - Throws: ``PeerError/ended`` where the process was gone by the end, so that nothing read is of another process
    ///   with the same number.
    func collect(_ peer: PeerHandle) throws(PeerError) -> Evidence

    /// Whether the process certainly still runs the very file of that evidence. `false` proves nothing: then ask ``check(_:_:)``.
    ///
    /// For the loop: it waits for nothing.
    func isStillInMemory(_ peer: PeerHandle, _ evidence: Evidence) -> Bool

    /// Looks whether the process still runs the very file of that evidence. Not for the loop: the file can lie on a file server, or
    /// another process has to be asked. The wait is bounded where another process looks.
    ///
    /// ``ExecutableCheck/changed`` also after a harmless change, such as an upgrade that replaced the file: the caller connects again and is
    /// judged anew.
    func check(_ peer: PeerHandle, _ evidence: Evidence) -> ExecutableCheck
}

extension EvidenceSource {
    public func begin(socket: CInt) throws(PeerError) -> PeerHandle { try PeerHandle(socket: socket) }

    /// What others look at takes as long as they take.
    public func recognize(_ peer: PeerHandle) -> Evidence? { nil }

    public func isStillInMemory(_ peer: PeerHandle, _ evidence: Evidence) -> Bool { false }
}
