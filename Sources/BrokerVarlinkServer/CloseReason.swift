import Glibc

/// Why a connection has ended, for the journal. The peer is told nothing.
public enum CloseReason: Hashable, Sendable {
    /// The peer hung up, and all its calls were answered or given up.
    case peerClosed
    /// The owner of the door closed it.
    case closedByOwner
    /// Whoever decides about admission said no.
    case refused
    /// A frame longer than the door accepts.
    case frameTooLong
    /// A frame that is no Varlink call.
    case malformedCall(reason: String)
    /// A frame was begun and not finished in time.
    case unfinishedFrame
    /// The peer did not read what it was sent.
    case peerDoesNotRead
    /// The user's connections together left too much unread, and this one had not read for longest.
    case userHoldsTooMuch
    /// A reply longer than a frame may be was about to be sent.
    case replyTooLong
    /// What had been disclosed was taken back while it was on its way.
    case withdrawn
    /// Another process than the one that connected wrote into the connection: the socket was stolen, or inherited.
    /// Nothing of it was read as a call, and nothing more was answered.
    case foreignBytes(writer: pid_t, writerUser: uid_t, owner: pid_t)
    /// The socket failed.
    case failed(reason: String)
}

extension CloseReason {
    /// Why a socket failed with this code: most often because nobody is there any more.
    init(errno: CInt) {
        switch errno {
        case ECONNRESET, EPIPE: self = .peerClosed
        default: self = .failed(reason: String(cString: strerror(errno)))
        }
    }
}
