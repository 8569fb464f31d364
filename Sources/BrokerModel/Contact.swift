/// A contact taken apart: every property of the interface's `Contact` but its identifier.
///
/// An empty string, date, image or list is a property without a value. It has no way onto the wire of an app: it is
/// made to be saved, merged, formatted or sent by a client. Text is as it came; see ``Contact/validate(writing:limits:)``.
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
    /// Base64. The broker's: not written by clients.
    public var thumbnailImageData = ""
    /// The broker's: not written by clients.
    public var imageDataAvailable = false
    public var phoneNumbers: [LabeledString] = []
    public var emailAddresses: [LabeledString] = []
    public var postalAddresses: [PostalAddress] = []
    public var dates: [LabeledDate] = []
    public var urlAddresses: [LabeledString] = []
    public var contactRelations: [LabeledString] = []
    public var socialProfiles: [SocialProfile] = []
    public var instantMessageAddresses: [InstantMessageAddress] = []
    /// UTC, to the second: `2026-03-01T12:00:00Z`. The broker's: not written by clients.
    public var creationDate = ""
    /// UTC, to the second. The broker's: not written by clients.
    public var modificationDate = ""
    /// vCard properties without a key of their own, as content lines (RFC 6350 §3.2), unfolded.
    public var extraProperties: [String] = []

    public init() {}
}

/// What a contact stands for.
public enum ContactType: String, CaseIterable, Hashable, Sendable {
    case person, organization
}

extension Contact {
    /// The text of a key that holds one text, image or date; `nil` for every other key.
    public func text(of key: ContactKey) -> String? { Self.textPath(of: key).map { self[keyPath: $0] } }

    /// Sets the text of a key that ``text(of:)`` answers for; other keys stay as they are.
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

    /// Whether the key has a value. `person` and `false` are what a contact without a value has.
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

    /// Those of the keys that have a value.
    public func present(of keys: ContactKeySet) -> ContactKeySet {
        var present = ContactKeySet()
        keys.forEach { if hasValue($0) { present.formUnion(ContactKeySet($0)) } }
        return present
    }

    /// This contact with what `patch` says of `keys`. A key that is empty in the patch is cleared; others stay.
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
