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
    /// Its app has as many connections as one app of a user may have.
    case appHasTooManyConnections
    /// Its user had no room for a connection of another program, and its app had the most connections.
    case gaveWay
    /// Its user's calls took too much memory, its app's the most, and this was the app's largest.
    case appHoldsTooMuch
    /// Its user had too many unread bytes, its app the most, and this one had not read for longest.
    case userHoldsTooMuch
    /// All users' calls and replies took too much memory, its user's the most, and this connection held most of it.
    case userHoldsMost
    /// A reply would have been longer than a frame may be.
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
