import Glibc

/// Why there is no evidence about a peer. In both cases the connection is of no further use.
public enum PeerError: Error, Hashable, Sendable {
    /// The process has ended. This is no fault; nobody is left to answer.
    case ended
    /// The kernel did not report something that every judgement needs. `what` is one of our own words.
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
