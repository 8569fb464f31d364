import BrokerJSON

/// Why a call failed: the client could not connect, no reply arrived, or the server sent an invalid reply or
/// an error.
public enum VarlinkClientError: Error, Sendable {
    /// The client could not connect, for example because no program listens at the path.
    case cannotConnect(path: String, reason: String)
    /// The connection is closed: the server or ``VarlinkClient/close()`` closed it, or the socket failed.
    case closed
    /// Sending the call or waiting for its reply timed out. The connection is closed, because a late reply
    /// would be taken for the reply to the next call.
    case timedOut
    /// The server sent an invalid or too long reply. The connection is closed.
    case protocolViolation(String)
    /// The server sent an error reply, with this qualified name.
    case error(name: String, parameters: JSONValue)
}

extension VarlinkClientError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .cannotConnect(let path, let reason): "cannot connect to \(path): \(reason)"
        case .closed: "the connection was closed"
        case .timedOut: "no reply in time"
        case .protocolViolation(let what): "not a Varlink reply: \(what)"
        case .error(let name, let parameters): "\(name) \(String(decoding: parameters.text, as: UTF8.self))"
        }
    }
}
