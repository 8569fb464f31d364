import BrokerVarlink
import CBrokerLinux
import Glibc

/// The result of one receive from a connection.
enum ReceiveOutcome {
    /// Received this many bytes, all written by the process that connected.
    case took(Int)
    case nothing
    /// The peer has closed its end.
    case ended
    /// A process that did not connect wrote bytes to the socket, because it stole or inherited the descriptor.
    case foreign(processID: pid_t, userID: uid_t)
    /// The next bytes came with descriptors. They were not received.
    case withDescriptors
    /// The socket failed.
    case failed(errno: CInt)

    /// Receives from an open socket, without waiting. Bytes from a foreign process do not reach the decoder.
    ///
    /// If the kernel reports no writer, or a writer outside this pid namespace (pid 0), the writer counts as a
    /// foreign process.
    ///
    /// - Parameter scratch: the buffer. Its size limits the number of received bytes.
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
            return .took(count)
        case 0: return .ended
        case Int(-EAGAIN), Int(-EINTR): return .nothing
        case Int(-EBADMSG): return .withDescriptors
        default: return .failed(errno: CInt(-count))
        }
    }
}
