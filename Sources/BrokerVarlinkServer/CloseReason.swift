import Glibc

/// Why a connection was closed, for the journal. It is not sent to the peer.
public enum CloseReason: Hashable, Sendable {
    /// The peer closed the connection, and its calls were answered or abandoned.
    case peerClosed
    /// The owner of the socket closed the connection.
    case closedByOwner
    /// Admission was refused.
    case refused
    /// A frame was longer than the limit.
    case frameTooLong
    /// A frame was not completed in time.
    case unfinishedFrame
    /// The peer did not read its replies in time.
    case peerDoesNotRead
    /// The connection's app already had the maximum number of connections.
    case appHasTooManyConnections
    /// There was no room for a new connection of the user, and this connection's app had the most
    /// connections.
    case gaveWay
    /// The calls of the user's apps used too much memory. Of these apps, the connection's app used the most,
    /// and this connection was its heaviest.
    case appHoldsTooMuch
    /// The user's peers had left too many reply bytes unread. The connection's app had the most of them, and
    /// this connection had made no progress for longest.
    case userHoldsTooMuch
    /// The calls and replies of all users used too much memory. The connection's user used the most, and this
    /// connection used the most of that user's share.
    case userHoldsMost
    /// A reply would have been longer than a frame may be.
    case replyTooLong
    /// A disclosure was withdrawn after part of it was sent.
    case withdrawn
    /// A process other than the one that connected wrote to the connection, because it stole or inherited the
    /// descriptor. The broker parsed none of that process's bytes and sent no further reply.
    case foreignBytes(writer: pid_t, writerUser: uid_t, owner: pid_t)
    /// The peer sent descriptors (SCM_RIGHTS). The broker received neither them nor the bytes that came with them.
    case sentDescriptors
    /// The socket failed.
    case failed(reason: String)
}

extension CloseReason {
    /// Converts the error code of a failed socket call.
    init(errno: CInt) {
        switch errno {
        case ECONNRESET, EPIPE: self = .peerClosed
        default: self = .failed(reason: String(cString: strerror(errno)))
        }
    }
}
