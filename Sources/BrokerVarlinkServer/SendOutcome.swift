import Glibc

/// What the kernel did with bytes that it was offered.
enum SendOutcome {
    /// So many of them; 0 where it takes none now.
    case took(Int)
    /// The socket is of no further use.
    case failed(errno: CInt)

    /// Offers bytes to an open socket, without waiting.
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
