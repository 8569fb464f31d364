import BrokerAccessControl
import BrokerModel

/// A card as it was read, before it is cut to what may be told.
public typealias DisclosableContact = (record: RecordNumber, contact: StoredContact, images: ImageMembers)

extension Disclosure {
    /// Puts contacts into the form in which the caller may have them.
    ///
    /// Every requested key is there: its value where the caller may read it, empty where it may not or where there
    /// is none, so that the two look alike. A record out of scope is left out: what was read is cut again.
    public func project(
        _ contacts: [DisclosableContact],
        of requested: ContactKeySet, under identifiers: IdentifierCipher, as kind: RecordKind = .contact
    ) -> DisclosedContacts {
        var projection = Projection(
            disclosure: self, requested: requested, identifiers: identifiers, kind: kind)
        projection.reserve(contacts)
        for (record, contact, images) in contacts { projection.append(record, contact, images) }
        return projection.finish()
    }

    /// The same of contacts each of which may be several linked cards, in the order in which these count. Where the
    /// caller sees two of them at least they are one unified contact, made of those that it sees.
    public func project(
        unified contacts: some Sequence<(first: DisclosableContact, others: [DisclosableContact])>,
        of requested: ContactKeySet,
        under identifiers: IdentifierCipher
    ) -> DisclosedContacts {
        var projection = Projection(
            disclosure: self, requested: requested, identifiers: identifiers, kind: .contact)
        for (first, others) in contacts { projection.append(unified: first, others) }
        return projection.finish()
    }
}
