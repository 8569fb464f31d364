import BrokerModel

/// What may be told to one caller: of which contacts, which keys.
///
/// The lock between the book and the wire: the bytes of a ``StoredContact`` have no way into a reply. Only ``project(_:of:under:as:)``
/// makes ``DisclosedContacts``, and only the broker's `DisclosedReply` takes those.
public struct Disclosure: Hashable, Sendable {
    public let scope: RecordScope
    public let keys: ContactKeySet
    /// The grant's revision that this rests on; what was read under another one is not sent.
    public let revision: Int64

    /// For the prompt agent: the person looks at their own book, under identifiers that live for one prompt.
    public static func forPerson(keys: ContactKeySet) -> Disclosure {
        Disclosure(scope: .all, keys: keys, revision: 0)
    }

    /// Named keys that were asked for and not granted. Asking for them is an error, not an empty value.
    public func unauthorized(of requested: ContactKeySet) -> ContactKeySet {
        requested.intersection(.named).subtracting(keys)
    }

    /// For one answer of the one-time picker: these contacts, which the person picked at that prompt and confirmed, and
    /// the keys that the prompt named.
    ///
    /// It rests on no grant and gives none. Only an answered prompt of kind ``PromptKind/pick`` makes one, with the rows
    /// of that answer and nothing else.
    public static func picked(_ records: Set<RecordNumber>, keys: ContactKeySet) -> Disclosure {
        Disclosure(scope: .only(records), keys: keys, revision: 0)
    }
}
