import Glibc

/// The peer credentials that the kernel reports for a connection (SO_PEERCRED, unix(7)).
public struct AcceptedPeer {
    /// The connection's descriptor, for further kernel queries. It is valid only until `admit` returns. Do
    /// not read, write or close it.
    public let descriptor: CInt
    public let userID: uid_t
    public let processID: pid_t
}

/// Whether the broker serves a connection.
public enum Admission {
    /// Serve it. The connection stores the context.
    ///
    /// `app` identifies the app: a user's connections with equal values count together. The server closes the
    /// connection if the app already has too many.
    case admit(context: AnyObject?, app: AnyHashable? = nil)
    /// Close it without a reply.
    case refuse
}
