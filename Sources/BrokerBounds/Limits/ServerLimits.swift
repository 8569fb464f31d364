/// Limits for the peers of one socket. Every queue and every wait of the server has its bound here.
public struct ServerLimits: Hashable, Sendable {
    /// The longest call and the longest reply, in bytes without the NUL, as in sd-varlink. A photo of 8 MiB
    /// in base64 fits.
    public var frameSize = 16 * 1_048_576
    /// The maximum number of connections open at once, as in sd-varlink. Each socket has its own limit, so
    /// load on one socket does not block the others.
    public var connections = 4_096
    /// The maximum number of connections open at once for one user ID, as in sd-varlink.
    public var connectionsPerUser = 1_024
    /// The maximum number of connections open at once for one app of a user.
    public var connectionsPerApp = 256
    /// The maximum number of connections open at once for all unknown user IDs together (sub-UIDs,
    /// containers).
    public var connectionsOfStrangers = 256
    /// The number of connections that every known user may open even if the socket has reached
    /// ``connections``. Each connection uses two descriptors: the socket, and a pidfd of its peer.
    public var reservedPerUser = 64
    /// Bytes of calls of one app. Beyond this limit, the server reads the app's long calls one at a time.
    public var callBytesPerApp = 32 * 1_048_576
    /// Bytes of calls of one user. Beyond this limit, the server closes connections of the app with the most
    /// bytes.
    public var callBytesPerUser = 128 * 1_048_576
    /// Bytes of replies that one user's peers have not read. Beyond this limit, the server closes connections
    /// of the app with the most bytes.
    public var replyBytesPerUser = 64 * 1_048_576
    /// Bytes of calls and replies of all users, at all sockets that share a `ServerBudget`. Beyond this
    /// limit, the server closes connections of the user with the most bytes.
    public var bytesOfAllUsers = 256 * 1_048_576
    /// Bytes of one user's long calls that the server reads in a second. The user's apps share them, and each app may
    /// be ``longCallsAhead`` ahead. The first ``pipelinedBytes`` of a call do not count.
    public var longCallBytesPerSecond = 32 * 1_048_576
    /// With this time, a call of the maximum size is read at once if the user's apps sent no long calls before.
    public var longCallsAhead = Duration.milliseconds(500)
    /// Threads that close connections on which a peer sent descriptors, for each user. All unknown user IDs count as one.
    public var closingThreadsPerUser = 4
    /// How long a frame may take from its first byte to its last. Time in which the server does not read is
    /// not counted.
    public var frameTimeout = Duration.seconds(30)
    /// How long a peer may leave its replies unread before its connection is closed. The peer counts as
    /// reading when the kernel accepts another byte. The kernel does so after the peer has read a large part
    /// of its buffer (212,992 bytes by default on Linux).
    public var stallTimeout = Duration.seconds(60)
    /// The maximum number of bytes of pipelined calls buffered for one connection. Beyond this limit the
    /// server reads only the rest of one long call.
    public var pipelinedBytes = 64 * 1_024

    // MARK: Internal: what the kernel and the buffers need; Limits.md describes the effect in words

    /// The number of descriptors that connections leave free, so that the program can open files for its connected
    /// peers. New peers wait until more are free.
    public var descriptorsForFiles = 24
    /// While a connection has more unsent bytes than this, it dispatches no further call, and
    /// `Call.whenWritable(_:)` waits.
    public var unsentBytes = 256 * 1_024
    /// The maximum number of calls of one connection dispatched per iteration, so that a busy client does not block
    /// other clients.
    public var callsPerIteration = 32

    public init() {}
}
