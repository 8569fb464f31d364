import BrokerAccessControl
import BrokerModel

/// A card as it was read, before projection.
public typealias DisclosableContact = (record: RecordNumber, contact: StoredContact, images: ContactImages)

extension Disclosure {
    /// Projects contacts for the caller.
    ///
    /// Every requested key is present: with its value if the caller may read it, empty otherwise. A key that the
    /// caller may not read therefore looks like one without a value. Records out of scope are left out even if the
    /// read returned them.
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

    /// Projects contacts that may each consist of several linked cards, which are in order of precedence. If
    /// the caller may see two or more cards of a contact, the result is one unified contact, made of those
    /// cards only.
    ///
    /// - Parameter revisions: if given, each contact has its revision. The contacts must then have been read for it.
    public func project(
        unified contacts: [(first: DisclosableContact, others: [DisclosableContact])], of requested: ContactKeySet,
        under identifiers: IdentifierCipher, revisions: ContactRevisions? = nil
    ) -> DisclosedContacts {
        var projection = Projection(
            disclosure: self, requested: requested, identifiers: identifiers, kind: .contact, revisions: revisions)
        projection.reserve(contacts.lazy.map(\.first))
        for (first, others) in contacts { projection.append(unified: first, others) }
        return projection.finish()
    }
}
