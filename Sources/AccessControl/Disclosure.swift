import ContactsModel

/// A card as it was read, before it is cut to what may be told.
public typealias DisclosableContact = (record: RecordNumber, contact: StoredContact, images: ImageMembers)

/// What may be told to one caller: of which contacts, which keys.
///
/// The lock between the book and the wire: the bytes of a ``StoredContact`` have no way into a reply. Only ``project(_:of:under:as:)``
/// makes ``DisclosedContacts``, and only the broker's `DisclosedReply` takes those.
public struct Disclosure: Hashable, Sendable {
    public let scope: RecordScope
    public let keys: ContactKeySet
    /// The grant's revision that this rests on; what was read under another one is not sent.
    public let revision: Int64

    init(scope: RecordScope, keys: ContactKeySet, revision: Int64) {
        self.scope = scope
        self.keys = keys
        self.revision = revision
    }

    /// For the prompt agent: the person looks at their own book, under identifiers that live for one prompt.
    public static func forPerson(keys: ContactKeySet) -> Disclosure {
        Disclosure(scope: .all, keys: keys, revision: 0)
    }

    /// Named keys that were asked for and not granted. Asking for them is an error, not an empty value.
    public func unauthorized(of requested: ContactKeySet) -> ContactKeySet {
        requested.intersection(.named).subtracting(keys)
    }

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
