import ContactsModel

/// Contacts in the form in which one caller may have them. Only ``Disclosure/project(_:of:under:as:)`` makes it.
public struct DisclosedContacts: Hashable, Sendable {
    /// The contacts as elements of a JSON array, with commas between them and no brackets.
    public let elements: [UInt8]
    /// Which ones they are, for the record.
    public let records: [RecordNumber]
    /// The keys that were told.
    public let keys: ContactKeySet
    /// The grant's revision that allowed it.
    public let revision: Int64

    init(elements: [UInt8], records: [RecordNumber], keys: ContactKeySet, revision: Int64) {
        self.elements = elements
        self.records = records
        self.keys = keys
        self.revision = revision
    }
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
    private var pending: [(record: RecordNumber, start: Int, end: Int)] = []
    private var bodies: [UInt8] = []

    init(disclosure: Disclosure, requested: ContactKeySet, identifiers: IdentifierCipher, kind: RecordKind) {
        self.disclosure = disclosure
        self.requested = requested
        self.identifiers = identifiers
        self.kind = kind
        // The date tells of edits to any ordinary key, so it is for those who may read all of them.
        let isWhole = disclosure.keys.isSuperset(of: Grant.ordinaryKeys)
        permitted = requested.intersection(disclosure.keys)
            .subtracting(isWhole ? [] : ContactKeySet([.modificationDate]))
    }

    mutating func append(_ record: RecordNumber, _ contact: StoredContact, _ images: ImageMembers) {
        guard disclosure.scope.contains(record) else { return }
        let start = bodies.count
        if pending.isEmpty { bodies.reserveCapacity(contact.bytes.count + StoredContact.empty.bytes.count) }
        var told = contact.present.intersection(permitted)
        contact.ranges(of: told) { bodies.append(contentsOf: contact.bytes[$0]) }
        if permitted.contains(.imageData), let member = images.imageData {
            bodies.append(contentsOf: member)
            told.formUnion(ContactKeySet([.imageData]))
        }
        if permitted.contains(.thumbnailImageData), let member = images.thumbnailImageData {
            bodies.append(contentsOf: member)
            told.formUnion(ContactKeySet([.thumbnailImageData]))
        }
        appendEmpty(requested.subtracting(told))
        pending.append((record, start, bodies.count))
    }

    /// What has no value lies together in long runs too.
    private mutating func appendEmpty(_ keys: ContactKeySet) {
        let empty = StoredContact.empty
        empty.ranges(of: keys) { bodies.append(contentsOf: empty.bytes[$0]) }
    }

    func finish() -> DisclosedContacts {
        let records = pending.map(\.record)
        let names = identifiers.identifiers(of: records, as: kind)
        let nameSize = 2 * 16
        var elements: [UInt8] = []
        elements.reserveCapacity(bodies.count + pending.count * 52)
        for (index, part) in pending.enumerated() {
            if index > 0 { elements.append(UInt8(ascii: ",")) }
            elements.append(contentsOf: Self.opening)
            elements.append(contentsOf: names[index * nameSize..<(index + 1) * nameSize])
            elements.append(UInt8(ascii: "\""))
            elements.append(contentsOf: bodies[part.start..<part.end])
            elements.append(UInt8(ascii: "}"))
        }
        return DisclosedContacts(
            elements: elements, records: records, keys: permitted, revision: disclosure.revision)
    }

    private static let opening = Array("{\"identifier\":\"".utf8)
}
