import BrokerJSON

/// Why a call has no reply, or the error that it got as its reply.
public enum VarlinkClientError: Error, Sendable {
    /// No program listens there, or the kernel refused the connection.
    case cannotConnect(path: String, reason: String)
    /// The server closed the connection, or ``VarlinkClient/close()`` was called.
    case closed
    /// No reply arrived within the client's timeout. The connection is closed, because a late reply would be
    /// taken for the reply to the next call.
    case timedOut
    /// The server sent something that is not Varlink. The connection is closed.
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
