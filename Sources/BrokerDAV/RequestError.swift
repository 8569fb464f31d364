/// Why the body of a request is refused although it is XML.
public enum RequestError: Error, Hashable, Sendable {
    /// The body is for another method, or in another namespace.
    case unexpectedRoot(XMLName)
    /// An element or an attribute is missing or has a value that its definition does not allow. The text is its name in
    /// the RFC, never text of the request, so it can be logged.
    case invalid(String)
    /// The request names more properties than ``DAVBounds/properties``.
    case tooManyProperties
    /// The filter has more conditions than ``DAVBounds/conditions``, or a longer text than
    /// ``DAVBounds/conditionText``.
    case filterTooLarge
    /// The server does not do what the body asks for. The response says so with an error body.
    case unmet(Precondition)

    /// The HTTP status that says so to the client.
    public var status: Int {
        switch self {
        case .unexpectedRoot, .invalid: 400
        case .tooManyProperties, .filterTooLarge: 413
        case .unmet(let precondition): precondition.status
        }
    }
}
