import BrokerBounds

/// The head of an HTTP request.
public struct RequestHead: Sendable {
    public let method: String
    /// The request target, as the client sent it.
    public let target: String
    public let fields: [(name: String, value: String)]

    public init(method: String, target: String, fields: [(name: String, value: String)]) {
        self.method = method
        self.target = target
        self.fields = fields
    }

    /// The values of all fields of this name, in their order.
    public func values(_ name: String) -> [String] {
        let name = name.lowercased()
        return fields.filter { $0.name.lowercased() == name }.map(\.value)
    }

    /// Checks what makes a request safe to answer at all, before its body is read and before its password is looked at.
    ///
    /// A web page can make a browser send requests to the loopback, under a host name that resolves to it (DNS rebinding)
    /// or from another origin. So only the literal address is a valid host, and only its own origin a valid origin.
    /// Thunderbird sends both.
    ///
    /// - Parameter host: the address and port at which the connection arrived, as `Host` must name them.
    /// - Returns: why the request is refused; `nil` if it is not.
    public func refusal(host: String) -> Response? {
        let hosts = values("host")
        guard hosts.count == 1 else { return .plain(400) }
        guard hosts[0] == host else { return .plain(421) }
        // Also refuses an absolute URI, which would name a second host.
        guard target.utf8.first == UInt8(ascii: "/") else { return .plain(400) }
        guard values("origin").allSatisfy({ $0 == "http://" + host }), values("origin").count <= 1,
            values("sec-fetch-site").allSatisfy({ $0 == "same-origin" || $0 == "none" })
        else { return .plain(403) }
        guard values("expect").allSatisfy({ $0.lowercased() == "100-continue" }) else { return .plain(417) }
        guard values("transfer-encoding").allSatisfy({ $0.lowercased() == "chunked" }) else { return .plain(501) }
        guard values("content-encoding").allSatisfy({ $0.lowercased() == "identity" }) else { return .plain(415) }
        guard values("content-length").allSatisfy({ Int($0).map { $0 <= CardDAVLimits.body } ?? false }) else {
            return .plain(413)
        }
        return nil
    }

    /// Whether the client waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1).
    public var expectsContinue: Bool { !values("expect").isEmpty }

    /// Whether the body of the request is XML that ``ServiceSession`` uses. Bodies of other requests than these and
    /// ``hasCard`` are read and dropped.
    public var hasXMLBody: Bool { ["PROPFIND", "PROPPATCH", "REPORT"].contains(method) }

    /// Whether the body of the request is the text of a card.
    public var hasCard: Bool { method == "PUT" }
}
