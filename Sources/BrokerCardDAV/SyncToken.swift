import BrokerDAV

/// A place in the history of one connection's book, as clients keep it: a URI (RFC 6578 §4).
enum SyncToken: Hashable {
    /// The broker's history token, and the number of the last refused change; see ``SentCards/Card/refusal``.
    case place(String, refusal: Int64)
    /// The connection saw nothing, because its access was refused, revoked or expired.
    case nothingShared

    private static let prefix = "urn:contactbroker:sync:"
    private static let nothing = "none"

    /// - Parameter connection: the broker's identifier of the connection. A token of another connection, also of an earlier
    ///   one of the same name, is not valid.
    init?(_ text: String, of connection: String) {
        let start = Self.prefix + connection + ":"
        guard text.hasPrefix(start) else { return nil }
        let rest = String(text.dropFirst(start.count))
        if rest == Self.nothing {
            self = .nothingShared
            return
        }
        let parts = rest.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let refusal = Int64(parts[0]), refusal >= 0 else { return nil }
        self = .place(String(parts[1]), refusal: refusal)
    }

    func text(of connection: String) -> String {
        switch self {
        case .place(let token, let refusal): Self.prefix + connection + ":\(refusal):" + token
        case .nothingShared: Self.prefix + connection + ":" + Self.nothing
        }
    }
}
