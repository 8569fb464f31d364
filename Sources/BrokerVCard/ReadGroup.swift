/// A group read from a card (RFC 6350 §6.1.4, KIND:group; Apple's X-ADDRESSBOOKSERVER-KIND:group).
public struct ReadGroup: Hashable, Sendable {
    public let name: String
    /// The UID of the card; empty if it has none.
    public let uid: String
    /// The UIDs of its members' cards, as written: `urn:uuid:…` or text.
    public let members: [String]
    /// The line of the stream on which the card begins, counted from 1.
    public let line: Int
    /// Problems with parts of the card. These parts were left out or may be wrong.
    public let remarks: [CardProblem]
}
