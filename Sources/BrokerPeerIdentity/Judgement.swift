import BrokerAccessControl

/// The result of judging evidence.
public enum Judgement: Hashable, Sendable {
    case caller(Caller)
    /// For the journal. The peer learns only that the connection is closed.
    case refused(Refusal)
}

/// Why a caller cannot be identified.
public enum Refusal: Error, Hashable, Sendable {
    /// It is unknown whether the caller has a stronger identity.
    case unreadable(Part, errno: CInt)
    /// The process has no executable file.
    case noExecutable
    /// The file has no hash to identify it.
    case notHashed(Executable.Digest)
    /// The caller has a controlling terminal, but its session has no leader any more.
    case noSessionLeader

    /// A part of the evidence.
    public enum Part: String, Hashable, Sendable {
        case mountNamespace, userNamespace, flatpakInfo, label, controlGroup, executable, place, unit, session, boot
    }
}
