/// Limits for the peers of one socket. Every queue and every wait of the server has its bound here.
public struct ServerLimits: Hashable, Sendable {
    /// Longest call and longest reply, in bytes without the NUL; as sd-varlink's. A photo of 8 MiB in base64 fits.
    public var frameSize = 16 * 1_048_576
    /// Connections open at once; as sd-varlink's. Each socket has its own limit, so that load on one does not block the
    /// others.
    public var connections = 4_096
    /// Connections open at once for one user ID; as sd-varlink's.
    public var connectionsPerUser = 1_024
    /// The most bytes of calls buffered for one user's connections, and separately the most bytes of replies.
    ///
    /// Beyond the limit for calls, long calls of that user are read one at a time. Beyond the limit for replies, the
    /// connection that has not read for longest is closed.
    public var bytesInFlightPerUser = 64 * 1_048_576
    /// How long a frame may take from its first byte to its last. Time in which we do not read is not counted.
    public var frameTimeout = Duration.seconds(30)
    /// How long a peer may leave its replies unread before it is closed. The peer counts as reading when the kernel
    /// accepts another byte. That happens after it has read a good part of its buffer (212,992 bytes by default on
    /// Linux).
    public var stallTimeout = Duration.seconds(60)
    /// Bytes of pipelined calls that one connection may have buffered before it is no longer read.
    public var pipelinedBytes = 64 * 1_024
    /// Unsent bytes of one connection above which no further call is dispatched, and
    /// ``BrokerVarlink/Call/whenWritable(_:)`` waits.
    public var unsentBytes = 256 * 1_024

    public init() {}
}
