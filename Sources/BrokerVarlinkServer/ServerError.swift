/// Why a socket cannot be opened.
public enum ServerError: Error, Hashable, Sendable {
    /// A process already listens at this path, most likely a second broker.
    case alreadyServed(path: String)
    /// The file at this path is not a socket. It stays unchanged.
    case notASocket(path: String)
    /// The passed descriptor is not a listening Unix stream socket.
    case notListening(descriptor: CInt)
    /// The kernel refused, for example because the folder does not exist or belongs to another user, or
    /// because the path is longer than 107 bytes (unix(7)).
    case cannotListen(path: String, reason: String)
}

extension ServerError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .alreadyServed(let path): "another process already listens at \(path)"
        case .notASocket(let path): "\(path) is not a socket"
        case .notListening(let descriptor): "descriptor \(descriptor) is not a listening Unix socket"
        case .cannotListen(let path, let reason): "cannot listen at \(path): \(reason)"
        }
    }
}
