import BrokerModel

/// The contacts and keys that one caller's replies may contain.
///
/// No bytes of a ``StoredContact`` get into a reply unchecked. Only ``project(_:of:under:as:)`` creates
/// ``DisclosedContacts``, and the broker's `DisclosedReply` accepts no other contacts.
public struct Disclosure: Hashable, Sendable {
    public let scope: RecordScope
    public let keys: ContactKeySet
    /// The revision of the grant that this disclosure is based on. Data read under another revision is not sent.
    public let revision: Int64

    /// The disclosure for the agent, in which the person sees their own book. Its identifiers are valid for
    /// one prompt.
    public static func forPerson(keys: ContactKeySet) -> Disclosure {
        Disclosure(scope: .all, keys: keys, revision: 0)
    }

    /// The requested keys that must be granted by name and are not. A request for them fails; it does not
    /// return empty values.
    public func unauthorized(of requested: ContactKeySet) -> ContactKeySet {
        requested.intersection(.named).subtracting(keys)
    }

    /// The disclosure for one answer of the one-time picker: the contacts that the person picked and
    /// confirmed at that prompt, with the keys that the prompt named.
    ///
    /// It depends on no grant and makes no grant. Only the answer to a prompt of kind ``PromptKind/pick``
    /// leads to such a disclosure.
    public static func picked(_ records: Set<RecordNumber>, keys: ContactKeySet) -> Disclosure {
        Disclosure(scope: .only(records), keys: keys, revision: 0)
    }
}
