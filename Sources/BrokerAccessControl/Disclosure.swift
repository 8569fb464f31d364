import BrokerModel

/// What one caller's replies may contain: which keys of which contacts.
///
/// It guards the way from the book to the wire: the bytes of a ``StoredContact`` cannot get into a reply. Only
/// ``project(_:of:under:as:)`` creates ``DisclosedContacts``, and only the broker's `DisclosedReply` accepts those.
public struct Disclosure: Hashable, Sendable {
    public let scope: RecordScope
    public let keys: ContactKeySet
    /// The grant's revision that this is based on. Data read under another revision is not sent.
    public let revision: Int64

    /// For the agent: the person sees their own book, with identifiers that are valid for one prompt.
    public static func forPerson(keys: ContactKeySet) -> Disclosure {
        Disclosure(scope: .all, keys: keys, revision: 0)
    }

    /// Requested keys that must be granted by name and are not. Requesting them is an error, not an empty value.
    public func unauthorized(of requested: ContactKeySet) -> ContactKeySet {
        requested.intersection(.named).subtracting(keys)
    }

    /// For one answer of the one-time picker: the contacts that the person picked and confirmed at that prompt, with
    /// the keys that the prompt named.
    ///
    /// It is based on no grant and creates none. Only an answered prompt of kind ``PromptKind/pick`` creates one, from
    /// the rows of that answer.
    public static func picked(_ records: Set<RecordNumber>, keys: ContactKeySet) -> Disclosure {
        Disclosure(scope: .only(records), keys: keys, revision: 0)
    }
}
