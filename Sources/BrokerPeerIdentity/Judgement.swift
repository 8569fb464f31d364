import BrokerAccessControl
import Glibc

/// The result of judging evidence.
public enum Judgement: Hashable, Sendable {
    case caller(Caller)
    /// The reason is for the journal. The peer learns only that the connection is closed.
    case refused(Refusal)
}

/// Why a caller cannot be identified.
public enum Refusal: Error, Hashable, Sendable {
    /// A part of the evidence is unreadable, so the caller's identity strength is unknown.
    case unreadable(Part, errno: CInt)
    /// The process has no executable file.
    case noExecutable
    /// The file has no hash to identify it.
    case notHashed(Executable.Digest)
    /// The caller has a controlling terminal, but the leader of its session has ended or is in a different
    /// pid namespace.
    case noSessionLeader

    /// A part of the evidence.
    public enum Part: String, Hashable, Sendable {
        case mountNamespace, userNamespace, flatpakInfo, label, controlGroup, executable, place, unit, session, boot
    }
}

extension Refusal: CustomStringConvertible {
    /// For the journal.
    public var description: String {
        switch self {
        case .unreadable(let part, let errno): "cannot read its \(part.words): \(String(cString: strerror(errno)))"
        case .noExecutable: "it has no executable file"
        case .notHashed: "its executable file has no hash"
        case .noSessionLeader: "its terminal session has no leader"
        }
    }
}

extension Refusal.Part {
    fileprivate var words: String {
        switch self {
        case .mountNamespace: "mount namespace"
        case .userNamespace: "user namespace"
        case .flatpakInfo: "/.flatpak-info"
        case .label: "security label"
        case .controlGroup: "control group"
        case .executable: "executable file"
        case .place: "executable's place"
        case .unit: "systemd unit"
        case .session: "session"
        case .boot: "boot ID"
        }
    }
}
