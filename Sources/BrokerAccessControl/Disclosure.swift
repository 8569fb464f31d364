import BrokerModel

/// The contacts and keys that one caller's replies may contain.
///
/// No bytes of a ``StoredContact`` reach a reply unchecked: only methods of this type copy them, and the
/// broker's `DisclosedReply` accepts only the results of these methods.
public struct Disclosure: Hashable, Sendable {
    public let scope: RecordScope
    public let keys: ContactKeySet
    /// The revision of the grant that this disclosure is based on. The broker does not send data that it read
    /// under a different revision.
    public let revision: Int64

    /// The disclosure for the agent, through which the person sees their own book. The identifiers in the
    /// agent's replies are valid for one prompt.
    public static func forPerson(keys: ContactKeySet) -> Disclosure {
        Disclosure(scope: .all, keys: keys, revision: 0)
    }

    /// Whether all ordinary keys may be read.
    public var hasWholeCards: Bool { keys.isSuperset(of: Grant.ordinaryKeys) }

    /// Returns the requested keys that must be granted by name but are not. A request for such a key fails; it
    /// does not return empty values.
    public func unauthorized(of requested: ContactKeySet) -> ContactKeySet {
        let unauthorized = requested.intersection(.named).subtracting(keys)
        return hasWholeCards ? unauthorized.subtracting(ContactKeySet(.extraProperties)) : unauthorized
    }

    /// Returns the keys to read for a reply. An app that may read whole cards also gets their UIDs, by which other
    /// programs recognise a card, even if the other extra properties are not granted.
    public func readable(of requested: ContactKeySet) -> ContactKeySet {
        let granted = requested.intersection(keys)
        let hasUIDs = requested.contains(.extraProperties) && !granted.contains(.extraProperties) && hasWholeCards
        return hasUIDs ? granted.union(.uids) : granted
    }

    /// The disclosure for one one-time pick: the contacts that the person picked and confirmed at the prompt,
    /// with the keys that the prompt named.
    ///
    /// It depends on no grant and changes none. Only the answer to a prompt of kind ``PromptKind/pick`` leads
    /// to such a disclosure.
    public static func picked(_ records: Set<RecordNumber>, keys: ContactKeySet) -> Disclosure {
        Disclosure(scope: .only(records), keys: keys, revision: 0)
    }
}
