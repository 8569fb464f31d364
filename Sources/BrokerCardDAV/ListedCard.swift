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
    private let revision: String
    private let contact: Contact

    /// - Parameter json: a contact in a reply of the broker. `nil` is returned if it is none, or lacks its revision.
    init?(_ json: JSONValue) {
        guard let wire = try? WireContact(json), let identifier = wire.identifier, let revision = wire.revision else {
            return nil
        }
        var contact = wire.contact
        // The card's UID is the identifier, whatever UIDs the contact has elsewhere. Different connections have different
        // identifiers of a contact, so programs cannot compare theirs.
        contact.extraProperties.removeAll(where: Self.isUID)
        contact.extraProperties.append("UID:" + identifier)
        (self.identifier, self.revision, self.contact) = (identifier, revision, contact)
    }

    /// - Parameter line: a content line, with or without a group.
    private static func isUID(_ line: String) -> Bool {
        line.prefix { $0 != ":" && $0 != ";" }.split(separator: ".").last?.uppercased() == "UID"
    }

    func text(_ version: CardVersion) -> [UInt8] {
        switch version {
        case .v3: VCardWriter(version: .v3_0).card(contact)
        case .v4: VCardWriter(version: .v4_0).card(contact)
        }
    }

    /// The tag of the card in this version. Two versions of one contact are different texts.
    func tag(_ version: CardVersion) -> EntityTag? {
        switch version {
        case .v3: EntityTag(revision + "-3")
        case .v4: EntityTag(revision + "-4")
        }
    }

    /// - Parameter version: of `address-data`; `nil` if the client does not want it.
    func property(_ property: XMLName, of name: String, _ version: CardVersion?) -> PropertyValue? {
        switch property {
        // One tag for a resource, whichever version the client asks for. Otherwise a client that lists tags, but fetches
        // 4.0, would find every card changed.
        case .getETag: tag(.v3).map { .text($0.text) }
        case .addressData: version.map { .card(text($0)) }
        default: Resource.card(identifier).property(property, of: name)
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
