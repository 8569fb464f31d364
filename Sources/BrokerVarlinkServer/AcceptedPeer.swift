import Glibc

/// The peer credentials that the kernel reports for a connection (SO_PEERCRED, unix(7)).
public struct AcceptedPeer {
    /// The connection's descriptor, for further kernel queries. Valid only until `admit` returns. Must not be read,
    /// written or closed.
    public let descriptor: CInt
    public let userID: uid_t
    public let processID: pid_t
}

/// Whether a connection is served.
public enum Admission {
    /// Serve it. The connection stores the context.
    case admit(context: AnyObject?)
    /// Close it without a reply.
    case refuse
}
