import Glibc

/// Who has connected, as far as the kernel said so at the moment of connecting (SO_PEERCRED, unix(7)).
public struct AcceptedPeer {
    /// The connection's own descriptor, for asking the kernel more. Valid only until `admit` returns, and not to be
    /// read, written or closed.
    public let descriptor: CInt
    public let userID: uid_t
    public let processID: pid_t
}

/// What becomes of someone who has connected.
public enum Admission {
    /// Served. The context stays with the connection.
    case admit(context: AnyObject?)
    /// Closed without a word.
    case refuse
}
