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
    /// The peers of the user's connections had left too many bytes unread in total, and this connection's peer
    /// had not read for the longest time.
    case userHoldsTooMuch
    /// A reply would have been longer than the limit for a frame.
    case replyTooLong
    /// A disclosure was withdrawn after part of it was sent.
    case withdrawn
    /// A process other than the one that connected wrote to the connection, because it stole or inherited the
    /// descriptor. The broker parsed none of that process's bytes and sent no further reply.
    case foreignBytes(writer: pid_t, writerUser: uid_t, owner: pid_t)
    /// The socket failed.
    case failed(reason: String)
}

extension CloseReason {
    /// Converts a socket's error code. Usually the peer has ended.
    init(errno: CInt) {
        switch errno {
        case ECONNRESET, EPIPE: self = .peerClosed
        default: self = .failed(reason: String(cString: strerror(errno)))
        }
    }
}
