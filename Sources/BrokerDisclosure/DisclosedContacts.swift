import BrokerAccessControl
@_spi(StoredBytes) import BrokerModel

/// Contacts as one caller may receive them. Only ``Disclosure/project(_:of:under:as:)`` and
/// ``Disclosure/project(unified:of:under:revisions:)`` create values of this type.
public struct DisclosedContacts: Hashable, Sendable {
    /// The contacts as elements of a JSON array, separated by commas and without brackets. Only code that sends
    /// replies may read them; see `DisclosedReply` in the broker.
    @_spi(Disclosed) public let elements: [UInt8]
    /// The number of elements.
    public let count: Int
    /// The cards that were disclosed, for the audit; for a unified contact, all its disclosed cards.
    public let records: [RecordNumber]
    /// The requested keys that the disclosure permitted.
    public let keys: ContactKeySet
    /// The revision of the grant that permitted the disclosure.
    public let revision: Int64

    /// The size of the elements in bytes.
    public var size: Int { elements.count }
}

/// Copies the permitted ranges of stored contacts, one contact after another.
///
/// The order of members in a JSON object has no meaning. Members with a value are therefore copied first, in long
/// runs. The members without a value follow, copied from an empty contact.
struct Projection {
    private let disclosure: Disclosure
    private let identifiers: IdentifierCipher
    private let kind: RecordKind
    private let requested: ContactKeySet
    /// If the reply names the contacts' revisions.
    private let revisions: ContactRevisions?
    private let permitted: ContactKeySet
    /// Whether the UIDs among the extra properties are disclosed, without the others.
    private let hasUIDs: Bool
    private var records: [RecordNumber] = []
    /// The cards of unified contacts, without the first card of each.
    private var others: [RecordNumber] = []
    /// The indices of the elements that are unified contacts.
    private var unified: [Int] = []
    /// The elements, with placeholders for the identifiers.
    private var elements: [UInt8] = []
    /// The offset of each identifier in `elements`.
    private var places: [Int] = []
    /// The JSON of members without a value, by their set of keys. Most contacts lack the same keys.
    private var empty: [ContactKeySet: [UInt8]] = [:]

    init(
        disclosure: Disclosure, requested: ContactKeySet, identifiers: IdentifierCipher, kind: RecordKind,
        revisions: ContactRevisions? = nil
    ) {
        self.revisions = revisions
        self.disclosure = disclosure
        self.requested = requested
        self.identifiers = identifiers
        self.kind = kind
        // The modification date reveals edits to any ordinary key, so only callers that may read all of them receive
        // it.
        var permitted = requested.intersection(disclosure.keys)
        if !disclosure.hasWholeCards { permitted.subtract(ContactKeySet(.modificationDate)) }
        self.permitted = permitted
        hasUIDs = disclosure.readable(of: requested).contains(.uids)
    }

    /// Appends the cards in scope as one unified contact. If only one card is in scope, appends that card.
    mutating func append(unified first: DisclosableContact, _ others: [DisclosableContact]) {
        // Most contacts are one card.
        if others.isEmpty {
            return append(first.record, first.contact, first.images, revisionOf: revisions == nil ? [] : [first])
        }
        let cards = ([first] + others).filter { disclosure.scope.contains($0.record) }
        guard let first = cards.first else { return }
        guard cards.count > 1 else {
            return append(first.record, first.contact, first.images, revisionOf: revisions == nil ? [] : [first])
        }
        unified.append(records.count)
        self.others += cards.dropFirst().map(\.record)
        let members = cards.map { (name: identifiers.identifier(of: $0.record, as: .contact), contact: $0.contact) }
        let images = cards.lazy.map(\.images).first { $0 != .none }
        let merged = UnifiedContact.merged(
            members, of: hasUIDs ? permitted.union(ContactKeySet(.extraProperties)) : permitted)
        append(first.record, merged, images ?? .none, revisionOf: cards)
    }

    /// Reserves memory for all of these contacts, without their images. It is enough for every key that they have.
    mutating func reserve(_ contacts: some Collection<DisclosableContact>) {
        let around = StoredContact.empty.size(of: requested) + Self.opening.count + Self.room.count + 2
        elements.reserveCapacity(contacts.reduce(0) { $0 + $1.contact.bytes.count + around })
        places.reserveCapacity(contacts.count)
        records.reserveCapacity(contacts.count)
    }

    /// - Parameter cards: the cards that the contact's revision names.
    mutating func append(
        _ record: RecordNumber, _ contact: StoredContact, _ images: ContactImages,
        revisionOf cards: [DisclosableContact] = []
    ) {
        guard disclosure.scope.contains(record) else { return }
        if !records.isEmpty { elements.append(UInt8(ascii: ",")) }
        elements.append(contentsOf: Self.opening)
        places.append(elements.count)
        elements.append(contentsOf: Self.room)
        var disclosed = contact.present.intersection(permitted)
        contact.ranges(of: disclosed) { elements.append(contentsOf: contact.bytes[$0]) }
        // The read has left out the other extra properties, and so does this.
        if hasUIDs, let uids = contact.uids {
            uids.ranges(of: .all) { elements.append(contentsOf: uids.bytes[$0]) }
            disclosed.formUnion(uids.present)
        }
        if permitted.contains(.imageData), let member = images.imageData {
            elements.append(contentsOf: member)
            disclosed.formUnion(ContactKeySet(.imageData))
        }
        if permitted.contains(.thumbnailImageData), let member = images.thumbnailImageData {
            elements.append(contentsOf: member)
            disclosed.formUnion(ContactKeySet(.thumbnailImageData))
        }
        appendEmpty(requested.subtracting(disclosed))
        if let revisions, let revision = revisions.revision(of: cards) {
            elements.append(contentsOf: ",\"revision\":\"\(revision)\"".utf8)
        }
        elements.append(UInt8(ascii: "}"))
        records.append(record)
    }

    /// Appends the members without a value for these keys, copied from the empty contact.
    private mutating func appendEmpty(_ keys: ContactKeySet) {
        if let known = empty[keys] { return elements.append(contentsOf: known) }
        let start = elements.count
        let nothing = StoredContact.empty
        nothing.ranges(of: keys) { elements.append(contentsOf: nothing.bytes[$0]) }
        empty[keys] = Array(elements[start...])
    }

    /// Fills in the identifiers, encrypted in one batch. Unified contacts then get identifiers of their own
    /// kind.
    mutating func finish() -> DisclosedContacts {
        let (names, places) = (identifiers.identifiers(of: records, as: kind), places)
        var written = elements.mutableSpan
        for (index, place) in places.enumerated() {
            for offset in 0..<Self.nameSize { written[place + offset] = names[index * Self.nameSize + offset] }
        }
        for index in unified {
            let name = identifiers.identifier(of: records[index], as: .unifiedContact)
            elements.replaceSubrange(places[index]..<places[index] + Self.nameSize, with: name.utf8)
        }
        return DisclosedContacts(
            elements: elements, count: records.count, records: records + others, keys: permitted,
            revision: disclosure.revision)
    }

    private static let opening = Array("{\"identifier\":\"".utf8)
    private static let nameSize = 2 * 16
    /// A placeholder for an identifier, and its closing quote.
    private static let room = [UInt8](repeating: UInt8(ascii: "0"), count: nameSize) + [UInt8(ascii: "\"")]
}
