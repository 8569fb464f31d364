/// A whole contact as one byte string: every property that has a value, in wire form, and the offset at which
/// each property ends.
///
/// A reply copies ranges of these bytes, and only a disclosure may select the ranges. This type therefore
/// offers no way to encode itself. Only modules that import this one with `@_spi(StoredBytes)` can read the
/// bytes: the store, which saves them, and the disclosure.
///
///     version    1 byte, 1
///     count      1 byte, number of properties present
///     present    8 bytes, little endian: a bit for each ``ContactKey``
///     ends       4 bytes each, little endian, in the order of the keys: the end of the member in `members`
///     members    ,"givenName":"Ada","familyName":"Lovelace"…  each with its leading comma
///
/// A property without a value is absent here; on the wire it is empty (see ``ContactKey/emptyValue``). Images
/// are stored elsewhere, so their bits are not set.
public struct StoredContact: Hashable, Sendable {
    @_spi(StoredBytes) public let bytes: [UInt8]
    /// The keys that have a value here.
    public let present: ContactKeySet
    private let members: Int

    static let version: UInt8 = 1
    static let fixedHeader = 10

    /// Wraps stored bytes; returns `nil` if they are not a stored contact, which means that the file is damaged.
    public init?(bytes: [UInt8]) {
        guard bytes.count >= Self.fixedHeader, bytes[0] == Self.version else { return nil }
        var present: UInt64 = 0
        for index in 0..<8 { present |= UInt64(bytes[2 + index]) << UInt64(8 * index) }
        let count = Int(bytes[1])
        guard present.nonzeroBitCount == count, ContactKeySet(rawValue: present).isSubset(of: .all) else { return nil }
        let members = Self.fixedHeader + 4 * count
        guard bytes.count >= members else { return nil }
        var last = 0
        for place in 0..<count {
            let end = Self.end(bytes, place)
            guard end > last else { return nil }
            last = end
        }
        guard members + last == bytes.count else { return nil }
        self.bytes = bytes
        self.present = ContactKeySet(rawValue: present)
        self.members = members
    }

    /// Encodes a contact from its members.
    ///
    /// - Parameter values: the JSON text of each key that has a value.
    public init(values: [(key: ContactKey, json: [UInt8])]) {
        let sorted = values.sorted { $0.key.index < $1.key.index }
        var body: [UInt8] = []
        var ends: [Int] = []
        for (key, json) in sorted {
            body.append(contentsOf: ",\"\(key.rawValue)\":".utf8)
            body.append(contentsOf: json)
            ends.append(body.count)
        }
        present = ContactKeySet(sorted.map(\.key))
        var bytes: [UInt8] = [Self.version, UInt8(sorted.count)]
        bytes.reserveCapacity(Self.fixedHeader + 4 * ends.count + body.count)
        for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: present.rawValue >> UInt64(8 * shift))) }
        for end in ends {
            for shift in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: end >> (8 * shift))) }
        }
        members = bytes.count
        bytes.append(contentsOf: body)
        self.bytes = bytes
    }

    /// Returns the part with only these keys.
    public func only(_ keys: ContactKeySet) -> StoredContact {
        if present.isSubset(of: keys) { return self }
        return StoredContact(
            values: present.intersection(keys).keys.compactMap { key in value(of: key).map { (key, Array($0)) } })
    }

    /// Returns a contact with the values of both. Each key of `other` must come after all keys of this one in the
    /// stored form; otherwise the result is `nil`.
    public func followed(by other: StoredContact) -> StoredContact? {
        guard 63 - present.rawValue.leadingZeroBitCount < other.present.rawValue.trailingZeroBitCount else {
            return nil
        }
        var bytes = [Self.version, self.bytes[1] + other.bytes[1]]
        bytes.reserveCapacity(self.bytes.count + other.bytes.count)
        let present = present.union(other.present).rawValue
        for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: present >> UInt64(8 * shift))) }
        bytes.append(contentsOf: self.bytes[Self.fixedHeader..<members])
        let size = self.bytes.count - members
        for place in 0..<Int(other.bytes[1]) {
            let end = Self.end(other.bytes, place) + size
            for shift in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: end >> (8 * shift))) }
        }
        bytes.append(contentsOf: self.bytes[members...])
        bytes.append(contentsOf: other.bytes[other.members...])
        return StoredContact(bytes: bytes)
    }

    private static func end(_ bytes: [UInt8], _ place: Int) -> Int {
        let at = fixedHeader + 4 * place
        return Int(bytes[at]) | Int(bytes[at + 1]) << 8 | Int(bytes[at + 2]) << 16 | Int(bytes[at + 3]) << 24
    }

    /// Passes the ranges of ``bytes`` with the members of these keys to `body`; adjacent ranges are joined.
    /// Keys without a value have no range.
    @_spi(StoredBytes) public func ranges(of keys: ContactKeySet, _ body: (Range<Int>) -> Void) {
        var bits = present.rawValue
        var start = members
        var run: Range<Int>?
        var place = 0
        while bits != 0 {
            let bit = bits & (~bits &+ 1)
            bits ^= bit
            let end = members + Self.end(bytes, place)
            if keys.rawValue & bit != 0 {
                if let open = run, open.upperBound == start {
                    run = open.lowerBound..<end
                } else {
                    if let open = run { body(open) }
                    run = start..<end
                }
            }
            start = end
            place += 1
        }
        if let open = run { body(open) }
    }

    /// Returns the keys whose values differ.
    public func keysDiffering(from other: StoredContact) -> ContactKeySet {
        ContactKeySet(present.union(other.present).keys.filter { value(of: $0) != other.value(of: $0) })
    }

    /// Returns the size of the members for these keys, in bytes. A key without a value adds nothing.
    public func size(of keys: ContactKeySet) -> Int {
        if present.isSubset(of: keys) { return bytes.count - members }
        var size = 0
        ranges(of: keys) { size += $0.count }
        return size
    }

    /// A contact in which each property has its empty wire form (see ``ContactKey/emptyValue``).
    public static let empty = StoredContact(
        values: ContactKey.allCases.map { ($0, Array($0.emptyValue.utf8)) })

    /// Returns the JSON text of one property's value; `nil` if the property has none.
    @_spi(StoredBytes) public func value(of key: ContactKey) -> ArraySlice<UInt8>? {
        guard present.contains(key) else { return nil }
        var range: Range<Int>?
        ranges(of: ContactKeySet(key)) { range = $0 }
        // Skips the comma, the quoted name and the colon.
        return range.map { bytes[$0.lowerBound + key.rawValue.utf8.count + 4..<$0.upperBound] }
    }
}

extension ContactKey {
    /// The JSON text of a property without a value.
    public var emptyValue: String {
        switch self {
        case .contactType: "\"person\""
        case .imageDataAvailable: "false"
        case .phoneNumbers, .emailAddresses, .postalAddresses, .dates, .urlAddresses, .contactRelations,
            .socialProfiles, .instantMessageAddresses, .extraProperties:
            "[]"
        case .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix, .nickname,
            .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName, .organizationName, .departmentName,
            .jobTitle, .phoneticOrganizationName, .birthday, .nonGregorianBirthday, .creationDate, .modificationDate,
            .note, .thumbnailImageData, .imageData:
            "\"\""
        }
    }
}
