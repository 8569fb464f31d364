import BrokerAccessControl

/// What evidence amounts to.
public enum Judgement: Hashable, Sendable {
    case caller(Caller)
    /// For the journal; the peer learns only that it is not served.
    case refused(Refusal)
}

/// Why nobody can say who is calling.
public enum Refusal: Error, Hashable, Sendable {
    /// It could not be told whether the caller is of a surer kind.
    case unreadable(Part, errno: CInt)
    /// A process without a file that it runs.
    case noExecutable
    /// The file cannot be told from another one.
    case notHashed(Executable.Digest)
    /// It has a controlling terminal whose session has no leader any more.
    case noSessionLeader

    /// A part of the evidence.
    public enum Part: String, Hashable, Sendable {
        case mountNamespace, userNamespace, flatpakInfo, label, controlGroup, executable, place, unit, session, boot
    }
}
