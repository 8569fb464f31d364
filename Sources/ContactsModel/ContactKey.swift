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

    /// Place in the stored form, and bit in a ``ContactKeySet``.
    public var index: Int { Int(Self.indices[self] ?? 0) }

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

    private static let indices = Dictionary(
        uniqueKeysWithValues: allCases.enumerated().map { ($0.element, UInt8($0.offset)) })
}

/// A set of keys, as cheap as a number.
public struct ContactKeySet: OptionSet, Hashable, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public init(_ keys: some Sequence<ContactKey>) {
        self.init(rawValue: keys.reduce(0) { $0 | 1 << UInt64($1.index) })
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

    public func contains(_ key: ContactKey) -> Bool { rawValue & (1 << UInt64(key.index)) != 0 }

    /// The keys, in the order of the stored form.
    public var keys: [ContactKey] { ContactKey.allCases.filter(contains) }
}
