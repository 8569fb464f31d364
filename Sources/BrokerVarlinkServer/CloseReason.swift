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
    /// A frame was not a Varlink call.
    case malformedCall(reason: String)
    /// A frame was not completed in time.
    case unfinishedFrame
    /// The peer did not read its replies in time.
    case peerDoesNotRead
    /// The user's connections had too many unread bytes in total, and this one had been without a read for
    /// the longest time.
    case userHoldsTooMuch
    /// A reply would have been longer than the limit for a frame.
    case replyTooLong
    /// A disclosure was withdrawn after part of it was sent.
    case withdrawn
    /// A process other than the one that connected wrote to the connection, which it stole or inherited. The
    /// broker parsed none of its bytes and sent no further reply.
    case foreignBytes(writer: pid_t, writerUser: uid_t, owner: pid_t)
    /// The socket failed.
    case failed(reason: String)
}

extension CloseReason {
    /// The reason for an error code of a socket. Usually the peer has ended.
    init(errno: CInt) {
        switch errno {
        case ECONNRESET, EPIPE: self = .peerClosed
        default: self = .failed(reason: String(cString: strerror(errno)))
        }
    }
}
