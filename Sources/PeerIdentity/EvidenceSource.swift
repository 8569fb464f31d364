import AccessControl
import Glibc

/// Where evidence about peers comes from. Reads what the kernel knows, judges nothing.
///
/// Steps apart, because some belong on the loop and one does not: ``begin(socket:)`` right at accept, ``recognize(_:)`` there
/// too, ``collect(_:)`` on a queue that may wait for a disk, ``isStill(_:_:)`` on the loop again.
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

    /// The process still runs the very file of that evidence. Where that cannot be told, it does not.
    ///
    /// False also after a harmless change, such as an upgrade that replaced the file: collect and judge again, and go on
    /// if the same caller comes out. For the loop, once per prompt or connection: it reads no file of anybody's, and its
    /// wait is bounded.
    func isStill(_ peer: PeerHandle, _ evidence: Evidence) -> Bool
}

extension EvidenceSource {
    public func begin(socket: CInt) throws(PeerError) -> PeerHandle { try PeerHandle(socket: socket) }

    /// What others look at takes as long as they take.
    public func recognize(_ peer: PeerHandle) -> Evidence? { nil }
}
