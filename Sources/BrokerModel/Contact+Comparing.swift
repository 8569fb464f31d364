extension ContactKeySet {
    /// Keys that only the broker sets.
    public static let ofBroker = ContactKeySet([
        .creationDate, .modificationDate, .imageDataAvailable, .thumbnailImageData,
    ])
}

extension Contact {
    /// The contact without value identifiers, which are valid in one book only.
    public var withoutValueIdentifiers: Contact {
        func bare<Value: ContactValue>(_ values: [Value]) -> [Value] {
            values.map {
                var value = $0
                value.identifier = nil
                return value
            }
        }
        var contact = self
        contact.phoneNumbers = bare(phoneNumbers)
        contact.emailAddresses = bare(emailAddresses)
        contact.postalAddresses = bare(postalAddresses)
        contact.dates = bare(dates)
        contact.urlAddresses = bare(urlAddresses)
        contact.contactRelations = bare(contactRelations)
        contact.socialProfiles = bare(socialProfiles)
        contact.instantMessageAddresses = bare(instantMessageAddresses)
        return contact
    }

    /// Returns the keys in which two contacts differ. Ignores value identifiers and the broker's keys.
    public func keys(differingFrom other: Contact, of keys: ContactKeySet = .all) -> ContactKeySet {
        let (one, two) = (withoutValueIdentifiers, other.withoutValueIdentifiers)
        return ContactKeySet(
            keys.subtracting(.ofBroker).keys.filter { one.applying(two, keys: ContactKeySet($0)) != one })
    }
}
