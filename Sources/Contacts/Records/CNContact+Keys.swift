import BrokerModel
import Foundation

extension CNContact {
    /// Whether the property of a key may be looked at.
    public func isKeyAvailable(_ key: String) -> Bool {
        if key == CNContactIdentifierKey { return true }
        return ContactKey(rawValue: key).map(keysThatCanBeRead.contains) ?? false
    }

    /// Whether all that these descriptors need may be looked at.
    public func areKeysAvailable(_ descriptors: [any CNKeyDescriptor]) -> Bool {
        guard let keys = try? ContactKeySet(descriptors) else { return false }
        return keys.isSubset(of: keysThatCanBeRead)
    }

    /// The name of a property in the person’s language; a key that no contact has as it is.
    public class func localizedString(forKey key: String) -> String { Languages.key(key) }

    /// What a list of contacts is sorted with, by name; ``descriptorForAllComparatorKeys()`` names what it looks at.
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

    /// What ``comparator(forNameSortOrder:)`` looks at.
    public class func descriptorForAllComparatorKeys() -> any CNKeyDescriptor { TaskKeys(keys: comparatorKeys) }

    private static let comparatorKeys = ContactKeySet([
        .contactType, .givenName, .middleName, .familyName, .nameSuffix, .nickname, .phoneticGivenName,
        .phoneticMiddleName, .phoneticFamilyName, .organizationName, .phoneticOrganizationName,
    ])

    /// The texts by which a contact stands in a list, first the most important one. Who has no name stands by what else they
    /// are called.
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

    /// Whether this unified contact has the contact of that identifier as a member, or is it itself.
    ///
    /// The store is asked, since a contact does not carry its members; where that is not possible the answer is `false`.
    public func isUnifiedWithContact(withIdentifier identifier: String) -> Bool {
        if self.identifier == identifier { return true }
        return (try? CNContactStore().linkedContactIdentifiers(ofContactWithIdentifier: self.identifier))?
            .contains(identifier) ?? false
    }

    /// The property of a key as an object; `nil` for what is no key.
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

// What Apple's library has no place for.
extension CNContact {
    /// When the contact was made, to the second. An extension of this library; fetched with ``CNContactCreationDateKey``.
    public var creationDate: Date? { Date(wire: fetched(.creationDate).values.card.creationDate) }

    /// When the contact was last changed, as far as the app may see, to the second. An extension of this library; fetched with
    /// ``CNContactModificationDateKey``.
    public var modificationDate: Date? { Date(wire: fetched(.modificationDate).values.card.modificationDate) }

    /// vCard properties that have no key of their own, as unfolded content lines (RFC 6350 §3.2). An extension of this
    /// library; fetched with ``CNContactExtraPropertiesKey``, which must be granted by name.
    public var extraProperties: [String] { fetched(.extraProperties).values.card.extraProperties }
}

extension Date {
    /// A time as the interface writes it: UTC, to the second.
    init?(wire text: String) {
        guard let seconds = Timestamp.seconds(text) else { return nil }
        self.init(timeIntervalSince1970: TimeInterval(seconds))
    }
}
