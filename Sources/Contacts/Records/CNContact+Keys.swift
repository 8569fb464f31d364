import BrokerModel
import Foundation

extension CNContact {
    /// Returns the name of a property in the person’s language; an unknown key is returned unchanged.
    public class func localizedString(forKey key: String) -> String { Languages.key(key) }

    /// Returns a comparator that sorts contacts by name. Fetch the contacts with
    /// ``descriptorForAllComparatorKeys()``; the comparator ignores properties that were not fetched.
    public class func comparator(forNameSortOrder order: CNContactSortOrder) -> Comparator {
        let order = order == .userDefault ? CNContactsUserDefaults.shared().sortOrder : order
        return { left, right in
            guard let left = left as? CNContact, let right = right as? CNContact else { return .orderedSame }
            for (a, b) in zip(left.sortTexts(order), right.sortTexts(order)) {
                let result = a.compare(b, options: [.caseInsensitive, .widthInsensitive, .numeric], locale: .current)
                if result != .orderedSame { return result }
            }
            return .orderedSame
        }
    }

    /// Returns the keys that ``comparator(forNameSortOrder:)`` needs.
    public class func descriptorForAllComparatorKeys() -> any CNKeyDescriptor { TaskKeys(keys: comparatorKeys) }

    private static let comparatorKeys = ContactKeySet([
        .contactType, .givenName, .middleName, .familyName, .nameSuffix, .nickname, .phoneticGivenName,
        .phoneticMiddleName, .phoneticFamilyName, .organizationName, .phoneticOrganizationName,
    ])

    /// The texts by which a contact is sorted, the most important first. A contact without a name is sorted
    /// by its organization, nickname or name suffix.
    private func sortTexts(_ order: CNContactSortOrder) -> [String] {
        func spoken(_ phonetic: ContactKey, _ written: ContactKey) -> String {
            for key in [phonetic, written] where keysThatCanBeRead.contains(key) {
                if let text = fetched(key).values.card.text(of: key), !text.isEmpty { return text }
            }
            return ""
        }
        let given = spoken(.phoneticGivenName, .givenName)
        let family = spoken(.phoneticFamilyName, .familyName)
        let middle = spoken(.phoneticMiddleName, .middleName)
        let organization = spoken(.phoneticOrganizationName, .organizationName)
        let isOrganization = keysThatCanBeRead.contains(.contactType) && contactType == .organization
        var texts = isOrganization ? [organization] : order == .familyName ? [family, given] : [given, family]
        texts += [middle, organization, spoken(.nickname, .nickname), spoken(.nameSuffix, .nameSuffix)]
        return texts.filter { !$0.isEmpty } + [""]
    }

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
