import BrokerDAV

/// The body of a request.
public enum RequestBody: Sendable {
    /// The XML of a WebDAV request; `nil` if it is empty.
    case xml(XMLDocument?)
    /// The text of a card that the client writes.
    case card([UInt8])
    /// The request has no body that is used.
    case unused
}
