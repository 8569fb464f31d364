import BrokerBounds
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
        guard segment.hasSuffix(Self.suffix) else { return nil }
        let identifier = segment.dropLast(Self.suffix.count)
        let isPlain = identifier.utf8.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        }
        guard isPlain, !identifier.isEmpty, try sent.card(String(identifier), of: connection).name == nil else {
            return nil
        }
        return String(identifier)
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
