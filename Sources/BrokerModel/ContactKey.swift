/// A property of a contact, by its name on the wire (and in Apple's Contacts).
///
/// The cases are in the order of the stored form. Keys that apps request together are adjacent. Keys that
/// need their own permission (notes) or are large (images) come last. You may append cases, but never move
/// one: stored bytes depend on the order.
public enum ContactKey: String, CaseIterable, Sendable {
    case contactType, namePrefix, givenName, middleName, familyName, previousFamilyName, nameSuffix, nickname
    case phoneticGivenName, phoneticMiddleName, phoneticFamilyName
    case organizationName, departmentName, jobTitle, phoneticOrganizationName
    case birthday, nonGregorianBirthday
    case phoneNumbers, emailAddresses, postalAddresses, dates, urlAddresses, contactRelations
    case socialProfiles, instantMessageAddresses
    case creationDate, modificationDate, imageDataAvailable
    case note, extraProperties
    case thumbnailImageData, imageData

    fileprivate static let inOrder = allCases

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })

    /// Does the same as `init(rawValue:)`, but with a dictionary look-up instead of a linear search.
    static func named(_ name: String) -> ContactKey? { byName[name] }

    /// Whether the key's value is a list whose elements have identifiers.
    public var hasSeveralValues: Bool {
        switch self {
        case .phoneNumbers, .emailAddresses, .postalAddresses, .dates, .urlAddresses, .contactRelations,
            .socialProfiles, .instantMessageAddresses:
            true
        case .contactType, .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix,
            .nickname, .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName, .organizationName,
            .departmentName, .jobTitle, .phoneticOrganizationName, .birthday, .nonGregorianBirthday, .creationDate,
            .modificationDate, .imageDataAvailable, .note, .extraProperties, .thumbnailImageData, .imageData:
            false
        }
    }

    /// The position in the stored form, and the bit in a ``ContactKeySet``. It equals the case's ordinal, so
    /// the compiler emits a plain load. Reading one contact uses it many times.
    public var index: Int {
        switch self {
        case .contactType: 0
        case .namePrefix: 1
        case .givenName: 2
        case .middleName: 3
        case .familyName: 4
        case .previousFamilyName: 5
        case .nameSuffix: 6
        case .nickname: 7
        case .phoneticGivenName: 8
        case .phoneticMiddleName: 9
        case .phoneticFamilyName: 10
        case .organizationName: 11
        case .departmentName: 12
        case .jobTitle: 13
        case .phoneticOrganizationName: 14
        case .birthday: 15
        case .nonGregorianBirthday: 16
        case .phoneNumbers: 17
        case .emailAddresses: 18
        case .postalAddresses: 19
        case .dates: 20
        case .urlAddresses: 21
        case .contactRelations: 22
        case .socialProfiles: 23
        case .instantMessageAddresses: 24
        case .creationDate: 25
        case .modificationDate: 26
        case .imageDataAvailable: 27
        case .note: 28
        case .extraProperties: 29
        case .thumbnailImageData: 30
        case .imageData: 31
        }
    }
}

/// A set of keys in one 64-bit integer.
public struct ContactKeySet: OptionSet, Hashable, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public init(_ keys: some Sequence<ContactKey>) {
        var bits: UInt64 = 0
        for key in keys { bits |= 1 << UInt64(key.index) }
        self.init(rawValue: bits)
    }

    public static let all = ContactKeySet(ContactKey.allCases)

    /// Keys that an app can read only if they were granted to it by name. Apple requires an entitlement for notes.
    public static let named: ContactKeySet = ContactKeySet([.note, .extraProperties])

    /// Keys by which the person recognises a contact in a list.
    public static let names = ContactKeySet([
        .contactType, .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix, .nickname,
        .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName, .organizationName, .phoneticOrganizationName,
    ])

    /// Keys that make up the name on the screen.
    public static let formattedName = ContactKeySet([
        .contactType, .namePrefix, .givenName, .middleName, .familyName, .nameSuffix, .organizationName,
    ])

    public static let images = ContactKeySet([.thumbnailImageData, .imageData])

    /// Keys that the broker sets; clients do not write them.
    public static let readOnly = ContactKeySet([
        .creationDate, .modificationDate, .imageDataAvailable, .thumbnailImageData,
    ])

    /// Creates a set with one key.
    public init(_ key: ContactKey) { self.init(rawValue: 1 << UInt64(key.index)) }

    public func contains(_ key: ContactKey) -> Bool { rawValue & (1 << UInt64(key.index)) != 0 }

    /// The keys, in the order of the stored form.
    public var keys: [ContactKey] {
        var keys: [ContactKey] = []
        keys.reserveCapacity(rawValue.nonzeroBitCount)
        forEach { keys.append($0) }
        return keys
    }

    /// Calls `body` for each key, in the order of the stored form.
    public func forEach(_ body: (ContactKey) -> Void) {
        var bits = rawValue & Self.all.rawValue
        while bits != 0 {
            body(ContactKey.inOrder[bits.trailingZeroBitCount])
            bits &= bits - 1
        }
    }
}
