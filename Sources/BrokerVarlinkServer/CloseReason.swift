import Glibc

/// Why a connection was closed, for the journal. It is not sent to the peer.
public enum CloseReason: Hashable, Sendable {
    /// The peer closed the connection, and its calls were answered or abandoned.
    case peerClosed
    /// The owner of the socket closed it.
    case closedByOwner
    /// Admission was refused.
    case refused
    /// A frame was longer than the limit.
    case frameTooLong
    /// A frame was not a Varlink call.
    case malformedCall(reason: String)
    /// A frame was not completed in time.
    case unfinishedFrame
    /// The peer did not read its replies in time.
    case peerDoesNotRead
    /// The user's connections had too many unread bytes in total, and this one had not read for longest.
    case userHoldsTooMuch
    /// A reply would have been longer than a frame may be.
    case replyTooLong
    /// A disclosure was withdrawn after part of it was sent.
    case withdrawn
    /// Another process than the one that connected wrote to the connection: the socket was stolen or inherited. None of
    /// its bytes were parsed, and no further reply was sent.
    case foreignBytes(writer: pid_t, writerUser: uid_t, owner: pid_t)
    /// The socket failed.
    case failed(reason: String)
}

extension CloseReason {
    /// The reason for an error code of a socket. Most often the peer is gone.
    init(errno: CInt) {
        switch errno {
        case ECONNRESET, EPIPE: self = .peerClosed
        default: self = .failed(reason: String(cString: strerror(errno)))
        }
    }
}
