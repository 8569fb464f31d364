import Glibc

/// The result of one send to a connection.
enum SendOutcome {
    /// The number of bytes that the kernel took; 0 if it has no room.
    case took(Int)
    /// The socket failed.
    case failed(errno: CInt)

    /// Sends to an open socket, without waiting.
    static func ofSending(_ bytes: RawSpan, to descriptor: CInt) -> SendOutcome {
        while true {
            // Sound: the pointer does not leave the closure.
            let count = unsafe bytes.withUnsafeBytes {
                unsafe send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
            }
            if count >= 0 { return .took(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .took(0)
            default: return .failed(errno: errno)
            }
        }
    }
}
