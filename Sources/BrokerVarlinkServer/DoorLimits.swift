/// What the peers at one door may use up. Every queue and every wait of the server has its bound here.
public struct DoorLimits: Hashable, Sendable {
    /// Longest call and longest reply, in bytes without the NUL; as sd-varlink's. A photo of 8 MiB in base64 fits.
    public var frameSize = 16 * 1_048_576
    /// Connections open at once; as sd-varlink's. Each door has its own, so that a crowd at one leaves the others free.
    public var connections = 4_096
    /// Connections open at once for one user ID; as sd-varlink's.
    public var connectionsPerUser = 1_024
    /// Bytes of calls that one user's connections may have us hold, and again as many bytes of replies.
    ///
    /// Past the first, long calls of that user wait their turn, one at a time. Past the second, the connection that
    /// has not read for longest is closed.
    public var bytesInFlightPerUser = 64 * 1_048_576
    /// How long a frame may take from its first byte to its last, while we are willing to read.
    public var frameTimeout = Duration.seconds(30)
    /// How long a peer may leave what it was sent unread before it is closed. It reads if the kernel takes
    /// another byte for it, which it does whenever a good part of its buffer (212,992 bytes as Linux comes) was read.
    public var stallTimeout = Duration.seconds(60)
    /// Calls that wait for an earlier one's answer, in bytes of one connection, before no more are read.
    public var pipelinedBytes = 64 * 1_024
    /// Unsent bytes of one connection above which no further call is taken, and ``Varlink/Call/whenWritable(_:)``
    /// waits.
    public var unsentBytes = 256 * 1_024

    public init() {}
}
