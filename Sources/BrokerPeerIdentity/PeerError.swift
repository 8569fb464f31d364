import Glibc

/// Why there is no evidence about a peer. In both cases the broker closes the connection.
public enum PeerError: Error, Hashable, Sendable {
    /// The process has ended. This is not a fault: no process is left that could receive an answer.
    case ended
    /// Something that every judgement needs could not be read. `what` is one of the broker's own fixed texts,
    /// never text from the peer.
    case unreadable(what: String, errno: CInt)
}

extension PeerError: CustomStringConvertible {
    /// For the journal.
    public var description: String {
        switch self {
        case .ended: "the process has ended"
        case .unreadable(let what, let errno): "\(what): \(String(cString: strerror(errno)))"
        }
    }
}
