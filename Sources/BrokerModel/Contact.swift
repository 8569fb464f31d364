/// A decoded contact: every property of the interface's `Contact` except its identifier.
///
/// An empty string, date, image or list means that the property has no value. The broker uses this type for
/// saving, merging and formatting, and never sends it to an app; clients use it to send contacts. Text is
/// unchecked; see ``Contact/validate(writing:limits:)``.
public struct Contact: Hashable, Sendable {
    public var contactType = ContactType.person
    public var namePrefix = ""
    public var givenName = ""
    public var middleName = ""
    public var familyName = ""
    public var previousFamilyName = ""
    public var nameSuffix = ""
    public var nickname = ""
    public var phoneticGivenName = ""
    public var phoneticMiddleName = ""
    public var phoneticFamilyName = ""
    public var organizationName = ""
    public var departmentName = ""
    public var jobTitle = ""
    public var phoneticOrganizationName = ""
    /// `YYYY-MM-DD`, or `--MM-DD` without a year.
    public var birthday = ""
    /// A BCP 47 calendar name, a colon and the date: `chinese:--08-15`.
    public var nonGregorianBirthday = ""
    public var note = ""
    /// Base64 (RFC 4648 §4).
    public var imageData = ""
    /// Base64. Set by the broker; clients do not write it.
    public var thumbnailImageData = ""
    /// Set by the broker; clients do not write it.
    public var imageDataAvailable = false
    public var phoneNumbers: [LabeledString] = []
    public var emailAddresses: [LabeledString] = []
    public var postalAddresses: [PostalAddress] = []
    public var dates: [LabeledDate] = []
    public var urlAddresses: [LabeledString] = []
    public var contactRelations: [LabeledString] = []
    public var socialProfiles: [SocialProfile] = []
    public var instantMessageAddresses: [InstantMessageAddress] = []
    /// UTC, to the second: `2026-03-01T12:00:00Z`. Set by the broker; clients do not write it.
    public var creationDate = ""
    /// UTC, to the second. Set by the broker; clients do not write it.
    public var modificationDate = ""
    /// vCard properties without their own key, as unfolded content lines (RFC 6350 §3.2).
    public var extraProperties: [String] = []

    public init() {}
}

/// Whether a contact is a person or an organisation.
public enum ContactType: String, CaseIterable, Hashable, Sendable {
    case person, organization
}

extension Contact {
    /// Returns the value of a key that has one text, image or date; `nil` for every other key.
    public func text(of key: ContactKey) -> String? { Self.textPath(of: key).map { self[keyPath: $0] } }

    /// Sets the text of a key for which ``text(of:)`` returns a value; ignores other keys.
    public mutating func setText(_ text: String, of key: ContactKey) {
        if let path = Self.textPath(of: key) { self[keyPath: path] = text }
    }

    private static func textPath(of key: ContactKey) -> WritableKeyPath<Contact, String>? {
        switch key {
        case .namePrefix: \.namePrefix
        case .givenName: \.givenName
        case .middleName: \.middleName
        case .familyName: \.familyName
        case .previousFamilyName: \.previousFamilyName
        case .nameSuffix: \.nameSuffix
        case .nickname: \.nickname
        case .phoneticGivenName: \.phoneticGivenName
        case .phoneticMiddleName: \.phoneticMiddleName
        case .phoneticFamilyName: \.phoneticFamilyName
        case .organizationName: \.organizationName
        case .departmentName: \.departmentName
        case .jobTitle: \.jobTitle
        case .phoneticOrganizationName: \.phoneticOrganizationName
        case .birthday: \.birthday
        case .nonGregorianBirthday: \.nonGregorianBirthday
        case .creationDate: \.creationDate
        case .modificationDate: \.modificationDate
        case .note: \.note
        case .thumbnailImageData: \.thumbnailImageData
        case .imageData: \.imageData
        case .contactType, .imageDataAvailable, .phoneNumbers, .emailAddresses, .postalAddresses, .dates,
            .urlAddresses, .contactRelations, .socialProfiles, .instantMessageAddresses, .extraProperties:
            nil
        }
    }

    /// Whether the key has a value. The defaults `person` and `false` do not count as values.
    public func hasValue(_ key: ContactKey) -> Bool {
        switch key {
        case .contactType: contactType != .person
        case .imageDataAvailable: imageDataAvailable
        case .phoneNumbers: !phoneNumbers.isEmpty
        case .emailAddresses: !emailAddresses.isEmpty
        case .postalAddresses: !postalAddresses.isEmpty
        case .dates: !dates.isEmpty
        case .urlAddresses: !urlAddresses.isEmpty
        case .contactRelations: !contactRelations.isEmpty
        case .socialProfiles: !socialProfiles.isEmpty
        case .instantMessageAddresses: !instantMessageAddresses.isEmpty
        case .extraProperties: !extraProperties.isEmpty
        case .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix, .nickname,
            .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName, .organizationName, .departmentName,
            .jobTitle, .phoneticOrganizationName, .birthday, .nonGregorianBirthday, .creationDate, .modificationDate,
            .note, .thumbnailImageData, .imageData:
            text(of: key)?.isEmpty == false
        }
    }

    /// The keys that have a value.
    public var present: ContactKeySet { present(of: .all) }

    /// The keys among `keys` that have a value.
    public func present(of keys: ContactKeySet) -> ContactKeySet {
        var present = ContactKeySet()
        keys.forEach { if hasValue($0) { present.formUnion(ContactKeySet($0)) } }
        return present
    }

    /// Returns this contact with the values of `keys` replaced by those of `patch`. A key that is empty in
    /// the patch is cleared.
    public func applying(_ patch: Contact, keys: ContactKeySet) -> Contact {
        var result = self
        for key in keys.keys {
            switch key {
            case .contactType: result.contactType = patch.contactType
            case .imageDataAvailable: result.imageDataAvailable = patch.imageDataAvailable
            case .phoneNumbers: result.phoneNumbers = patch.phoneNumbers
            case .emailAddresses: result.emailAddresses = patch.emailAddresses
            case .postalAddresses: result.postalAddresses = patch.postalAddresses
            case .dates: result.dates = patch.dates
            case .urlAddresses: result.urlAddresses = patch.urlAddresses
            case .contactRelations: result.contactRelations = patch.contactRelations
            case .socialProfiles: result.socialProfiles = patch.socialProfiles
            case .instantMessageAddresses: result.instantMessageAddresses = patch.instantMessageAddresses
            case .extraProperties: result.extraProperties = patch.extraProperties
            case .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix, .nickname,
                .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName, .organizationName, .departmentName,
                .jobTitle, .phoneticOrganizationName, .birthday, .nonGregorianBirthday, .creationDate,
                .modificationDate, .note, .thumbnailImageData, .imageData:
                result.setText(patch.text(of: key) ?? "", of: key)
            }
        }
        return result
    }
}
