import BrokerBounds
import BrokerDAV

/// An HTTP response.
public struct Response: Sendable {
    public enum Body: Sendable {
        case none
        case whole([UInt8])
        /// ``ServiceSession/nextPiece()`` returns the body piece by piece.
        case pieces
    }

    public let status: Int
    public var fields: [(name: String, value: String)]
    public var body: Body
    /// How long the client must wait for the response.
    public var delay = Duration.zero

    init(_ status: Int, _ fields: [(name: String, value: String)] = [], _ body: Body = .none) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// A response that says nothing but its status.
    public static func plain(_ status: Int) -> Response { Response(status) }

    /// The realm never changes: Thunderbird finds a stored password by address and realm.
    public static let unauthorized = Response(
        401, [("WWW-Authenticate", #"Basic realm="contactbroker", charset="UTF-8""#)])

    public static let unavailable = Response(503, [("Retry-After", "\(CardDAVLimits.retryAfter)")])

    static func xml(_ status: Int, _ body: Body) -> Response {
        Response(status, [("Content-Type", "application/xml; charset=utf-8")], body)
    }

    static func unmet(_ precondition: Precondition) -> Response {
        xml(precondition.status, .whole(precondition.body))
    }

    public static func refused(_ error: RequestError) -> Response {
        if case .unmet(let precondition) = error { return unmet(precondition) }
        return plain(error.status)
    }
}
