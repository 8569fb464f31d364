import BrokerDAV
import BrokerJSON
import BrokerModel
import BrokerVCard

/// The card of a contact, as one connection sees it.
struct ListedCard {
    static let mediaType = "text/vcard; charset=utf-8"

    /// The keys that make a card. The dates of a contact are not among them: they change when something does that the
    /// connection may not see, and a card's text must not change while its revision stays the same.
    static let keys = ContactKeySet.all.subtracting(
        ContactKeySet([.creationDate, .modificationDate, .imageDataAvailable, .thumbnailImageData]))

    let identifier: String
    let revision: String
    /// As the broker has it, with the UIDs that the connection may see.
    let contact: Contact
    /// The last part of the card's path.
    let segment: String
    let uid: String
    let known: SentCards.Card

    /// - Parameter json: a contact in a reply of the broker. `nil` is returned if it is none, or lacks its revision.
    init?(_ json: JSONValue, _ names: CardNames) throws(BrokerFailure) {
        guard let wire = try? WireContact(json), let identifier = wire.identifier, let revision = wire.revision else {
            return nil
        }
        known = try names.card(identifier)
        (self.identifier, self.revision, contact) = (identifier, revision, wire.contact)
        (segment, uid) = (CardNames.segment(of: identifier, known), known.uid ?? identifier)
    }

    /// The contact with the UID that this connection sees, whatever UIDs the contact has elsewhere. Programs cannot compare
    /// theirs.
    private var shown: Contact {
        var contact = contact
        contact.extraProperties.removeAll(where: Self.isUID)
        contact.extraProperties.append("UID:" + Self.escaped(uid))
        return contact
    }

    /// A text as the value of a property (RFC 6350 §3.4).
    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { escaped, character in
            if ["\\", ",", ";"].contains(character) { escaped.append("\\") }
            escaped.append(character)
        }
    }

    /// - Parameter line: a content line, with or without a group.
    static func isUID(_ line: String) -> Bool {
        line.prefix { $0 != ":" && $0 != ";" }.split(separator: ".").last?.uppercased() == "UID"
    }

    func text(_ version: CardVersion) -> [UInt8] {
        switch version {
        case .v3: VCardWriter(version: .v3_0).card(shown)
        case .v4: VCardWriter(version: .v4_0).card(shown)
        }
    }

    /// The tag of the card in this version. Two versions of one contact are different texts.
    func tag(_ version: CardVersion) -> EntityTag? {
        switch version {
        case .v3: EntityTag(revision + "-3" + repair)
        case .v4: EntityTag(revision + "-4" + repair)
        }
    }

    /// After a refused change the client's copy differs, so the card has another tag.
    private var repair: String { known.refusal == 0 ? "" : "-\(known.refusal)" }

    /// - Parameter version: of `address-data`; `nil` if the client does not want it.
    func property(_ property: XMLName, of name: String, mayWrite: Bool, _ version: CardVersion?) -> PropertyValue? {
        switch property {
        // One tag for a resource, whichever version the client asks for. Otherwise a client that lists tags, but fetches
        // 4.0, would find every card changed.
        case .getETag: tag(.v3).map { .text($0.text) }
        case .addressData: version.map { .card(text($0)) }
        default: Resource.card(segment).property(property, of: name, mayWrite: mayWrite)
        }
    }
}

extension CardFilter {
    /// Whether a written card matches.
    func matches(card: [UInt8]) -> Bool {
        guard !properties.isEmpty else { return true }
        let written = CardProperty.all(in: card)
        return matches { name in
            written.filter { $0.name == name }.map { property in
                FilteredProperty(
                    group: property.group, value: property.value,
                    parameters: property.parameters.flatMap { parameter in
                        parameter.values.map { .init(parameter.name, $0) }
                    })
            }
        }
    }
}
