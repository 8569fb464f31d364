import BrokerAccessControl

/// Where evidence about peers comes from. Reads what the kernel knows, judges nothing.
///
/// Steps apart, because some belong on the loop and others do not: a ``PeerHandle`` on the loop right at accept, ``collect(_:)`` on a
/// worker that may wait for a disk. Later, to see whether the process became another program, ``check(_:_:)`` on a worker.
public protocol EvidenceSource: Sendable {
    /// Reads what the first peer would otherwise wait for: which interpreters there are. Not for the loop.
    func prepare()

    /// Reads the evidence. Not for the loop: an executable that was not seen before is read and hashed.
    ///
    /// - Throws: ``PeerError/ended`` where the process was gone by the end, so that nothing read is of another process
    ///   with the same number.
    func collect(_ peer: PeerHandle) throws(PeerError) -> Evidence

    /// Looks whether the process still runs the very file of that evidence. Not for the loop: the file can lie on a file server, or
    /// another process has to be asked. The wait is bounded where another process looks.
    ///
    /// ``ExecutableCheck/changed`` also after a harmless change, such as an upgrade that replaced the file: the caller connects again and is
    /// judged anew.
    func check(_ peer: PeerHandle, _ evidence: Evidence) -> ExecutableCheck
}
