/// Why there is no evidence about a peer. Either way the connection is of no further use.
public enum PeerError: Error, Hashable, Sendable {
    /// The process is gone. Nothing is wrong; nobody is left to answer.
    case ended
    /// The kernel did not tell what every judgement needs. `what` is one of our own words.
    case unreadable(what: String, errno: CInt)
}
