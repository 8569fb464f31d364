import BrokerVarlink
import CBrokerLinux
import Glibc

/// What the kernel had for us of one connection.
enum ReceiveOutcome {
    /// Bytes, each of them written by the process that connected.
    case took
    case nothing
    /// The peer has said its last byte.
    case ended
    /// Bytes that another process wrote, with the same socket: it was stolen, or inherited and used.
    case foreign(processID: pid_t, userID: uid_t)
    /// The socket is of no further use.
    case failed(errno: CInt)

    /// Takes bytes from an open socket, without waiting. Those of another process do not reach the decoder.
    ///
    /// A kernel that names no writer, or one that it cannot name to us (pid 0), has named somebody else.
    ///
    /// - Parameter scratch: as long as what is taken at once.
    static func ofReceiving(
        from peer: AcceptedPeer, into decoder: inout FrameDecoder, through scratch: inout [UInt8]
    ) -> ReceiveOutcome {
        var writer = clinux_writer()
        let count = scratch.withUnsafeMutableBytes {
            clinux_receive(peer.descriptor, $0.baseAddress, $0.count, &writer)
        }
        switch count {
        case 1...:
            guard writer.is_known, writer.pid > 0, writer.pid == peer.processID, writer.uid == peer.userID else {
                return .foreign(processID: writer.pid, userID: writer.uid)
            }
            decoder.append(scratch.span.bytes.extracting(first: count))
            return .took
        case 0: return .ended
        case Int(-EAGAIN), Int(-EINTR): return .nothing
        default: return .failed(errno: CInt(-count))
        }
    }
}
