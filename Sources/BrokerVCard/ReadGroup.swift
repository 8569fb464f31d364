/// A list of contacts that was read (RFC 6350 §6.1.4, KIND:group; Apple's X-ADDRESSBOOKSERVER-KIND:group).
public struct ReadGroup: Hashable, Sendable {
    public let name: String
    /// UID of the card; empty where it has none.
    public let uid: String
    /// What its members' cards have for UID, as written: `urn:uuid:…` or text.
    public let members: [String]
    /// Where it begins in the stream, from 1.
    public let line: Int
    /// What could not be taken over, or only perhaps rightly.
    public let remarks: [CardProblem]
}
