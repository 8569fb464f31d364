/// A property of a contact, by the name it has on the wire (and in Apple's Contacts).
///
/// The order of the cases is the order of the stored form: what is asked for together lies together, and what
/// needs a word of its own (notes) or is large (images) comes last. Add cases, never move one: stored bytes count by it.
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

    /// The same as `init(rawValue:)`, which compares a name with those of all cases one after the other.
    static func named(_ name: String) -> ContactKey? { byName[name] }

    /// Whether its value is a list of which each member has an identifier.
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

    /// Place in the stored form, and bit in a ``ContactKeySet``: the place of the case, so that the compiler makes a
    /// plain load of it. Every contact that is read asks for it many times.
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

/// A set of keys, as cheap as a number.
public struct ContactKeySet: OptionSet, Hashable, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public init(_ keys: some Sequence<ContactKey>) {
        var bits: UInt64 = 0
        for key in keys { bits |= 1 << UInt64(key.index) }
        self.init(rawValue: bits)
    }

    public static let all = ContactKeySet(ContactKey.allCases)

    /// Returned only to who asks for them by name and was granted them (Apple's entitlement for notes).
    public static let named: ContactKeySet = ContactKeySet([.note, .extraProperties])

    /// What the person needs to recognise a contact in a list.
    public static let names = ContactKeySet([
        .contactType, .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix, .nickname,
        .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName, .organizationName, .phoneticOrganizationName,
    ])

    public static let images = ContactKeySet([.thumbnailImageData, .imageData])

    /// The broker's: not written by clients.
    public static let readOnly = ContactKeySet([
        .creationDate, .modificationDate, .imageDataAvailable, .thumbnailImageData,
    ])

    /// A set of one.
    public init(_ key: ContactKey) { self.init(rawValue: 1 << UInt64(key.index)) }

    public func contains(_ key: ContactKey) -> Bool { rawValue & (1 << UInt64(key.index)) != 0 }

    /// The keys, in the order of the stored form.
    public var keys: [ContactKey] {
        var keys: [ContactKey] = []
        keys.reserveCapacity(rawValue.nonzeroBitCount)
        forEach { keys.append($0) }
        return keys
    }

    /// Hands out the keys, in the order of the stored form.
    public func forEach(_ body: (ContactKey) -> Void) {
        var bits = rawValue & Self.all.rawValue
        while bits != 0 {
            body(ContactKey.inOrder[bits.trailingZeroBitCount])
            bits &= bits - 1
        }
    }
}
