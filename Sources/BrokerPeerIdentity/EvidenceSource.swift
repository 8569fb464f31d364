import BrokerAccessControl

/// Collects evidence about peers, without judging it.
///
/// The steps are separate because they run on different threads. The event loop creates a ``PeerHandle`` right after
/// accept. ``collect(_:)`` and, later, ``check(_:_:)`` run on a worker, because they may wait for a disk.
public protocol EvidenceSource: Sendable {
    /// Reads the list of interpreters, so that the first peer does not wait for it. Must not run on the event loop.
    func prepare()

    /// Reads the evidence. Must not run on the event loop: it reads and hashes executables that it has not
    /// seen before.
    ///
    /// - Throws: ``PeerError/ended`` if the process ended before everything was read. Evidence is therefore
    ///   never about a later process with the same pid.
    func collect(_ peer: PeerHandle) throws(PeerError) -> Evidence

    /// Checks whether the process still runs the file that the evidence names. Must not run on the event
    /// loop: it may wait for a file server or, for a limited time, for the helper.
    ///
    /// The result is ``ExecutableCheck/changed`` even after a harmless change, such as an upgrade that replaced
    /// the file. The caller then has to connect again, and the broker judges it again.
    func check(_ peer: PeerHandle, _ evidence: Evidence) -> ExecutableCheck
}
