import BrokerModel
import Foundation

extension CNContact {
    /// Returns the name of a property in the person’s language; an unknown key is returned unchanged.
    public class func localizedString(forKey key: String) -> String { Languages.key(key) }

    /// Returns the value of the property with this key; `nil` if there is no such key, or if the property has
    /// no value. Like any read, this traps if the property was not fetched.
    public func value(forKey key: String) -> Any? {
        if key == CNContactIdentifierKey { return identifier }
        guard let key = ContactKey(rawValue: key) else { return nil }
        switch key {
        case .contactType: return contactType
        case .imageDataAvailable: return imageDataAvailable
        case .birthday: return birthday
        case .nonGregorianBirthday: return nonGregorianBirthday
        case .phoneNumbers: return phoneNumbers
        case .emailAddresses: return emailAddresses
        case .postalAddresses: return postalAddresses
        case .dates: return dates
        case .urlAddresses: return urlAddresses
        case .contactRelations: return contactRelations
        case .socialProfiles: return socialProfiles
        case .instantMessageAddresses: return instantMessageAddresses
        case .imageData: return imageData
        case .thumbnailImageData: return thumbnailImageData
        case .creationDate: return creationDate
        case .modificationDate: return modificationDate
        case .extraProperties: return extraProperties
        case .namePrefix, .givenName, .middleName, .familyName, .previousFamilyName, .nameSuffix, .nickname,
            .phoneticGivenName, .phoneticMiddleName, .phoneticFamilyName, .organizationName, .departmentName,
            .jobTitle, .phoneticOrganizationName, .note:
            return fetched(key).values.card.text(of: key)
        }
    }
}

extension CNContact {
    /// Sets a property by its key.
    @available(*, unavailable, message: "set the property itself: Foundation on Linux has no key-value coding")
    public func setValue(_ value: Any?, forKey key: String) {}
}

// Extensions of this library, which Apple's Contacts does not have.
extension CNContact {
    /// The time when the contact was created, to the second. Fetch it with ``CNContactCreationDateKey``. An
    /// extension of this library.
    public var creationDate: Date? { Date(wire: fetched(.creationDate).values.card.creationDate) }

    /// The time of the last change that the app may see, to the second. Fetch it with
    /// ``CNContactModificationDateKey``. An extension of this library.
    public var modificationDate: Date? { Date(wire: fetched(.modificationDate).values.card.modificationDate) }

    /// vCard properties that have no key of their own, as unfolded content lines (RFC 6350 §3.2). Fetch them
    /// with ``CNContactExtraPropertiesKey``, which must be granted by name. An extension of this library.
    public var extraProperties: [String] { fetched(.extraProperties).values.card.extraProperties }
}

extension Date {
    /// Parses a time of the interface: UTC, to the second.
    init?(wire text: String) {
        guard let seconds = Timestamp.seconds(text) else { return nil }
        self.init(timeIntervalSince1970: TimeInterval(seconds))
    }
}
