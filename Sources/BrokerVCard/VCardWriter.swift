import BrokerModel

/// Writes contacts as vCards: 3.0 in the form that Apple's programs and Android read best (RFC 2426, with Apple's
/// groups), or 4.0 (RFC 6350, RFC 8605, RFC 9554).
///
/// If ``VCardReader`` read a contact, writing the contact and reading it again gives the same contact, in
/// either version.
public struct VCardWriter: Hashable, Sendable {
    public let version: VCardVersion

    /// - Precondition: the version is 3.0 or 4.0.
    public init(version: VCardVersion) {
        precondition(version != .v2_1, "vCard 2.1 can be read but not written")
        self.version = version
    }

    /// The PRODID of the cards (RFC 6350 §6.7.3).
    static let product = "-//contactbroker//contactbroker//EN"

    /// Returns the whole card in UTF-8. Its lines end in CRLF and are folded at 75 octets. Its UID comes from
    /// the contact's extra properties, if they contain one. Extra properties that are not content lines, or
    /// that would break the card, are left out.
    public func card(_ contact: Contact) -> [UInt8] {
        var writing = CardWriting(contact, version)
        writing.write()
        return writing.output.bytes
    }

    /// Returns a group as a card (RFC 6350 §6.1.4; in 3.0 as Apple's programs write it).
    ///
    /// - Parameters:
    ///   - uid: the UID of the group; empty for none.
    ///   - members: the UIDs of its members, as `urn:uuid:…` or as their cards write them.
    public func group(named name: String, uid: String, members: [String]) -> [UInt8] {
        var output = ContentLineOutput()
        func line(_ name: String, _ value: String) {
            output.raw(name)
            output.raw(UInt8(ascii: ":"))
            output.text(value)
            output.endLine()
        }
        line("BEGIN", "VCARD")
        line("VERSION", version.rawValue)
        line("PRODID", Self.product)
        if version == .v4_0 {
            line("KIND", "group")
        } else {
            line("X-ADDRESSBOOKSERVER-KIND", "group")
            line("N", name)
        }
        line("FN", name)
        if !uid.isEmpty { line("UID", uid) }
        for member in members where !member.isEmpty {
            line(version == .v4_0 ? "MEMBER" : "X-ADDRESSBOOKSERVER-MEMBER", member)
        }
        line("END", "VCARD")
        return output.bytes
    }
}
