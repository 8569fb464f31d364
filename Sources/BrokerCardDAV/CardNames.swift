import BrokerDAV

/// Which contact a path means to one connection, and under which path and UID it sees a contact.
///
/// A card that the client made keeps the name and the UID that the client gave it. Every other card has both from the broker's
/// identifier, which other connections do not know.
struct CardNames {
    let sent: SentCards
    /// The broker's identifier of the connection.
    let connection: String

    private static let suffix = ".vcf"

    /// Returns the identifier of the contact that a path's last part means; `nil` if it cannot mean any.
    func identifier(of segment: String) throws(BrokerFailure) -> String? {
        if let made = try sent.identifier(named: segment, of: connection) { return made }
        guard Self.isOwn(segment) else { return nil }
        let identifier = String(segment.dropLast(Self.suffix.count))
        return try sent.card(identifier, of: connection).name == nil ? identifier : nil
    }

    /// Whether a name has the form of those that the service gives: the broker's identifier, 32 hexadecimal digits. A client
    /// gives no card such a name: it would be a card that it was sent, maybe on a former connection, and sees no more.
    static func isOwn(_ segment: String) -> Bool {
        segment.hasSuffix(suffix) && segment.utf8.count == 32 + suffix.utf8.count
            && segment.utf8.prefix(32).allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }

    func card(_ identifier: String) throws(BrokerFailure) -> SentCards.Card {
        try sent.card(identifier, of: connection)
    }

    /// The number of the connection's last refused change.
    func lastRefusal() throws(BrokerFailure) -> Int64 { try sent.lastRefusal(of: connection) }

    static func segment(of identifier: String, _ known: SentCards.Card) -> String {
        known.name ?? identifier + suffix
    }

    func href(of identifier: String, for name: String) throws(BrokerFailure) -> String? {
        Resource.card(Self.segment(of: identifier, try card(identifier))).href(of: name)?.text
    }
}
