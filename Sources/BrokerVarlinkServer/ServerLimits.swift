/// Limits for the peers of one socket. They bound every queue and every wait of the server.
public struct ServerLimits: Hashable, Sendable {
    /// The longest call and the longest reply, in bytes without the NUL, as in sd-varlink. A photo of 8 MiB
    /// in base64 fits.
    public var frameSize = 16 * 1_048_576
    /// The maximum number of connections open at once, as in sd-varlink. Each socket has its own limit, so
    /// load on one socket does not block the others.
    public var connections = 4_096
    /// The maximum number of connections open at once for one user ID, as in sd-varlink.
    public var connectionsPerUser = 1_024
    /// The maximum number of bytes of calls buffered for all connections of one user. A second limit of the same
    /// size applies to their unsent replies.
    ///
    /// Beyond the limit for calls, long calls of that user are read one at a time. Beyond the limit for
    /// replies, the connection whose peer has not read for the longest time is closed.
    public var bytesInFlightPerUser = 64 * 1_048_576
    /// How long a frame may take from its first byte to its last. Pauses in which the server does not read do
    /// not count.
    public var frameTimeout = Duration.seconds(30)
    /// How long a peer may leave its replies unread before its connection is closed. The peer counts as
    /// reading when the kernel accepts another byte. The kernel does so after the peer has read a large part
    /// of its buffer (212,992 bytes by default on Linux).
    public var stallTimeout = Duration.seconds(60)
    /// The maximum number of bytes of pipelined calls buffered for one connection. Beyond this limit the server
    /// reads only the rest of one long call.
    public var pipelinedBytes = 64 * 1_024
    /// With more unsent bytes than this, a connection dispatches no further call, and
    /// ``BrokerVarlink/Call/whenWritable(_:)`` waits.
    public var unsentBytes = 256 * 1_024

    public init() {}
}
