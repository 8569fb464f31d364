import BrokerAccessControl
@_spi(StoredBytes) import BrokerModel

/// Contacts in the form in which one caller may have them. Only ``Disclosure/project(_:of:under:as:)`` makes it.
public struct DisclosedContacts: Hashable, Sendable {
    /// The contacts as elements of a JSON array, with commas between them and no brackets. Only what hands replies to connections
    /// may read them; see `DisclosedReply` in the broker.
    @_spi(Disclosed) public let elements: [UInt8]
    /// How many elements there are.
    public let count: Int
    /// Which cards were told, for the record: of a unified contact those that it is of.
    public let records: [RecordNumber]
    /// The keys that were told.
    public let keys: ContactKeySet
    /// The grant's revision that allowed it.
    public let revision: Int64

    /// Bytes of the elements.
    public var size: Int { elements.count }
}

/// The members of a contact that are kept apart from its stored form, each with its leading comma.
public struct ImageMembers: Hashable, Sendable {
    public let thumbnailImageData: [UInt8]?
    public let imageData: [UInt8]?

    public init(thumbnailImageData: [UInt8]? = nil, imageData: [UInt8]? = nil) {
        self.thumbnailImageData = thumbnailImageData
        self.imageData = imageData
    }

    public static let none = ImageMembers()
}

/// Copies the permitted ranges of stored contacts, one contact after the other.
///
/// The order of members in a JSON object means nothing, so what has a value is copied first, in long runs, and
/// then, from a contact that has nothing, what has none.
struct Projection {
    private let disclosure: Disclosure
    private let identifiers: IdentifierCipher
    private let kind: RecordKind
    private let requested: ContactKeySet
    private let permitted: ContactKeySet
    private var records: [RecordNumber] = []
    /// Further cards of unified contacts.
    private var others: [RecordNumber] = []
    /// Which elements are unified contacts.
    private var unified: [Int] = []
    /// The elements as they will be, with room for the identifiers.
    private var elements: [UInt8] = []
    /// Where the identifiers belong.
    private var places: [Int] = []
    /// Members without a value, by their keys: most contacts lack what another one lacks too.
    private var empty: [ContactKeySet: [UInt8]] = [:]

    init(disclosure: Disclosure, requested: ContactKeySet, identifiers: IdentifierCipher, kind: RecordKind) {
        self.disclosure = disclosure
        self.requested = requested
        self.identifiers = identifiers
        self.kind = kind
        // The date tells of edits to any ordinary key, so it is for those who may read all of them.
        var permitted = requested.intersection(disclosure.keys)
        if !disclosure.keys.isSuperset(of: Grant.ordinaryKeys) { permitted.subtract(ContactKeySet(.modificationDate)) }
        self.permitted = permitted
    }

    /// Cards that are one contact for the caller, as far as it sees them; one alone is that card.
    mutating func append(unified first: DisclosableContact, _ others: [DisclosableContact]) {
        // Most contacts are one card.
        if others.isEmpty { return append(first.record, first.contact, first.images) }
        let cards = ([first] + others).filter { disclosure.scope.contains($0.record) }
        guard let first = cards.first else { return }
        guard cards.count > 1 else { return append(first.record, first.contact, first.images) }
        unified.append(records.count)
        self.others += cards.dropFirst().map(\.record)
        let members = cards.map { (name: identifiers.identifier(of: $0.record, as: .contact), contact: $0.contact) }
        let images = cards.lazy.map(\.images).first { $0 != .none }
        append(first.record, UnifiedContact.merged(members, of: permitted), images ?? .none)
    }

    /// Makes room for all of these at once, their images aside.
    mutating func reserve(_ contacts: [DisclosableContact]) {
        let around = StoredContact.empty.size(of: requested) + Self.opening.count + Self.room.count + 2
        elements.reserveCapacity(contacts.reduce(0) { $0 + $1.contact.size(of: permitted) + around })
        places.reserveCapacity(contacts.count)
        records.reserveCapacity(contacts.count)
    }

    mutating func append(_ record: RecordNumber, _ contact: StoredContact, _ images: ImageMembers) {
        guard disclosure.scope.contains(record) else { return }
        if !records.isEmpty { elements.append(UInt8(ascii: ",")) }
        elements.append(contentsOf: Self.opening)
        places.append(elements.count)
        elements.append(contentsOf: Self.room)
        var told = contact.present.intersection(permitted)
        contact.ranges(of: told) { elements.append(contentsOf: contact.bytes[$0]) }
        if permitted.contains(.imageData), let member = images.imageData {
            elements.append(contentsOf: member)
            told.formUnion(ContactKeySet(.imageData))
        }
        if permitted.contains(.thumbnailImageData), let member = images.thumbnailImageData {
            elements.append(contentsOf: member)
            told.formUnion(ContactKeySet(.thumbnailImageData))
        }
        appendEmpty(requested.subtracting(told))
        elements.append(UInt8(ascii: "}"))
        records.append(record)
    }

    /// What has no value lies together in long runs too.
    private mutating func appendEmpty(_ keys: ContactKeySet) {
        if let known = empty[keys] { return elements.append(contentsOf: known) }
        let start = elements.count
        let nothing = StoredContact.empty
        nothing.ranges(of: keys) { elements.append(contentsOf: nothing.bytes[$0]) }
        empty[keys] = Array(elements[start...])
    }

    /// Puts the identifiers in, all sealed at once.
    mutating func finish() -> DisclosedContacts {
        let names = identifiers.identifiers(of: records, as: kind)
        for (index, place) in places.enumerated() {
            for offset in 0..<Self.nameSize { elements[place + offset] = names[index * Self.nameSize + offset] }
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
    /// An identifier that is still to come, and its closing quote.
    private static let room = [UInt8](repeating: UInt8(ascii: "0"), count: nameSize) + [UInt8(ascii: "\"")]
}
