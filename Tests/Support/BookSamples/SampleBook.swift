import BrokerModel

/// A book of contacts and groups, for tests that write it and read it back. The same number gives the same book.
///
/// Each contact is the only member of the group with its number, so a test recognizes it in every format, and two contacts
/// still differ in nothing but one property.
public struct SampleBook: Sendable {
    public let contacts: [Contact]
    /// For each contact the property that it was made for; `nil` for a generated contact.
    public let properties: [SampleProperty?]

    /// Returns for each property of ``SampleProperty`` the person who has them all, and that person with other values of
    /// this property, and then generated contacts. The given name tells the people of different properties apart.
    public init(_ number: Int, generated count: Int) {
        var contacts: [Contact] = []
        var properties: [SampleProperty?] = []
        for (place, property) in SampleProperty.all.enumerated() {
            for var contact in [SampleProperty.whole] + property.variants() {
                if !contact.givenName.isEmpty { contact.givenName += " \(place)" }
                contacts.append(contact)
                properties.append(property)
            }
        }
        for place in 0..<count {
            var generator = GeneratedContacts(1_000_000 * number + place)
            var contact = generator.contact()
            switch place % 3 {
            case 0: contact.extraProperties.append("UID:person-\(place)")
            case 1: contact.extraProperties.append("UID:8bf87495-a576-b43e-7ede-\(100_000_000_000 + place)")
            default: break
            }
            contacts.append(contact)
            properties.append(nil)
        }
        (self.contacts, self.properties) = (contacts, properties)
    }

    /// The name of the group of the contact in this place.
    public static func group(_ place: Int) -> String { "Group \(place)" }
}

extension Contact {
    /// The contact as another book has it after it was written and read: without what each book and export makes itself,
    /// that is value identifiers, the UID of a contact that has none, and the check of a formatted name.
    public func inAnyBook(hadUID: Bool) -> Contact {
        var contact = self
        contact.extraProperties = extraProperties.compactMap { line in
            if !hadUID, SampleProperty.isUID(line) { return nil }
            return ExtraProperty.value(of: "FN", in: line).map { "FN:\($0)" } ?? line
        }
        for key in [ContactKey.creationDate, .modificationDate, .thumbnailImageData] { contact.setText("", of: key) }
        contact.imageDataAvailable = false
        return contact
    }
}
