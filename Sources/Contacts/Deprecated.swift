import Foundation

// The spellings of 2015, as Swift 2 had them, for sources that still use them. Each says what to write now.

extension CNContact {
    @available(*, deprecated, renamed: "predicateForContacts(matchingName:)")
    public class func predicateForContactsMatchingName(_ name: String) -> NSPredicate {
        predicateForContacts(matchingName: name)
    }

    @available(*, deprecated, renamed: "predicateForContacts(withIdentifiers:)")
    public class func predicateForContactsWithIdentifiers(_ identifiers: [String]) -> NSPredicate {
        predicateForContacts(withIdentifiers: identifiers)
    }

    @available(*, deprecated, renamed: "predicateForContactsInGroup(withIdentifier:)")
    public class func predicateForContactsInGroupWithIdentifier(_ identifier: String) -> NSPredicate {
        predicateForContactsInGroup(withIdentifier: identifier)
    }

    @available(*, deprecated, renamed: "predicateForContactsInContainer(withIdentifier:)")
    public class func predicateForContactsInContainerWithIdentifier(_ identifier: String) -> NSPredicate {
        predicateForContactsInContainer(withIdentifier: identifier)
    }

    @available(*, deprecated, renamed: "localizedString(forKey:)")
    public class func localizedStringForKey(_ key: String) -> String { localizedString(forKey: key) }

    @available(*, deprecated, renamed: "comparator(forNameSortOrder:)")
    public class func comparatorForNameSortOrder(_ order: CNContactSortOrder) -> Comparator {
        comparator(forNameSortOrder: order)
    }

    @available(*, deprecated, renamed: "isUnifiedWithContact(withIdentifier:)")
    public func isUnifiedWithContactWithIdentifier(_ identifier: String) -> Bool {
        isUnifiedWithContact(withIdentifier: identifier)
    }
}

extension CNLabeledValue {
    @available(*, deprecated, renamed: "localizedString(forLabel:)")
    public class func localizedStringForLabel(_ label: String) -> String { localizedString(forLabel: label) }
}

extension CNContactStore {
    @available(*, deprecated, renamed: "authorizationStatus(for:)")
    public class func authorizationStatusForEntityType(_ entityType: CNEntityType) -> CNAuthorizationStatus {
        authorizationStatus(for: entityType)
    }

    @available(*, deprecated, renamed: "requestAccess(for:completionHandler:)")
    public func requestAccessForEntityType(
        _ entityType: CNEntityType, completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        requestAccess(for: entityType, completionHandler: completionHandler)
    }

    @available(*, deprecated, renamed: "unifiedContact(withIdentifier:keysToFetch:)")
    public func unifiedContactWithIdentifier(
        _ identifier: String, keysToFetch keys: [any CNKeyDescriptor]
    ) throws -> CNContact {
        try unifiedContact(withIdentifier: identifier, keysToFetch: keys)
    }

    @available(*, deprecated, renamed: "unifiedContacts(matching:keysToFetch:)")
    public func unifiedContactsMatchingPredicate(
        _ predicate: NSPredicate, keysToFetch keys: [any CNKeyDescriptor]
    ) throws -> [CNContact] {
        try unifiedContacts(matching: predicate, keysToFetch: keys)
    }

    @available(*, deprecated, renamed: "enumerateContacts(with:usingBlock:)")
    public func enumerateContactsWithFetchRequest(
        _ request: CNContactFetchRequest, usingBlock block: (CNContact, UnsafeMutablePointer<ObjCBool>) -> Void
    ) throws {
        try enumerateContacts(with: request, usingBlock: block)
    }

    @available(*, deprecated, renamed: "groups(matching:)")
    public func groupsMatchingPredicate(_ predicate: NSPredicate?) throws -> [CNGroup] {
        try groups(matching: predicate)
    }

    @available(*, deprecated, renamed: "containers(matching:)")
    public func containersMatchingPredicate(_ predicate: NSPredicate?) throws -> [CNContainer] {
        try containers(matching: predicate)
    }

    @available(*, deprecated, renamed: "execute(_:)")
    public func executeSaveRequest(_ saveRequest: CNSaveRequest) throws { try execute(saveRequest) }
}

extension CNSaveRequest {
    @available(*, deprecated, renamed: "add(_:toContainerWithIdentifier:)")
    public func addContact(_ contact: CNMutableContact, toContainerWithIdentifier identifier: String?) {
        add(contact, toContainerWithIdentifier: identifier)
    }

    @available(*, deprecated, renamed: "update(_:)")
    public func updateContact(_ contact: CNMutableContact) { update(contact) }

    @available(*, deprecated, renamed: "delete(_:)")
    public func deleteContact(_ contact: CNMutableContact) { delete(contact) }

    @available(*, deprecated, renamed: "add(_:toContainerWithIdentifier:)")
    public func addGroup(_ group: CNMutableGroup, toContainerWithIdentifier identifier: String?) {
        add(group, toContainerWithIdentifier: identifier)
    }

    @available(*, deprecated, renamed: "update(_:)")
    public func updateGroup(_ group: CNMutableGroup) { update(group) }

    @available(*, deprecated, renamed: "delete(_:)")
    public func deleteGroup(_ group: CNMutableGroup) { delete(group) }

    @available(*, deprecated, renamed: "addMember(_:to:)")
    public func addMember(_ contact: CNContact, toGroup group: CNGroup) { addMember(contact, to: group) }

    @available(*, deprecated, renamed: "removeMember(_:from:)")
    public func removeMember(_ contact: CNContact, fromGroup group: CNGroup) { removeMember(contact, from: group) }
}

extension CNContactFormatter {
    @available(*, deprecated, renamed: "string(from:style:)")
    public class func stringFromContact(_ contact: CNContact, style: CNContactFormatterStyle) -> String? {
        string(from: contact, style: style)
    }

    @available(*, deprecated, renamed: "descriptorForRequiredKeys(for:)")
    public class func descriptorForRequiredKeysForStyle(_ style: CNContactFormatterStyle) -> any CNKeyDescriptor {
        descriptorForRequiredKeys(for: style)
    }
}

extension CNPostalAddressFormatter {
    @available(*, deprecated, renamed: "string(from:style:)")
    public class func stringFromPostalAddress(
        _ postalAddress: CNPostalAddress, style: CNPostalAddressFormatterStyle = .mailingAddress
    ) -> String {
        string(from: postalAddress, style: style)
    }
}

extension CNContactVCardSerialization {
    @available(*, deprecated, renamed: "contacts(with:)")
    public class func contactsWithData(_ data: Data) throws -> [CNContact] { try contacts(with: data) }

    @available(*, deprecated, renamed: "data(with:)")
    public class func dataWithContacts(_ contacts: [CNContact]) throws -> Data { try data(with: contacts) }
}

extension CNContactsUserDefaults {
    @available(*, deprecated, renamed: "shared()")
    public class func sharedDefaults() -> CNContactsUserDefaults { shared() }
}

extension CNEntityType {
    @available(*, deprecated, renamed: "contacts")
    public static var Contacts: CNEntityType { .contacts }
}

extension CNAuthorizationStatus {
    @available(*, deprecated, renamed: "notDetermined")
    public static var NotDetermined: CNAuthorizationStatus { .notDetermined }
    @available(*, deprecated, renamed: "restricted")
    public static var Restricted: CNAuthorizationStatus { .restricted }
    @available(*, deprecated, renamed: "denied")
    public static var Denied: CNAuthorizationStatus { .denied }
    @available(*, deprecated, renamed: "authorized")
    public static var Authorized: CNAuthorizationStatus { .authorized }
}

extension CNContactFormatterStyle {
    @available(*, deprecated, renamed: "fullName")
    public static var FullName: CNContactFormatterStyle { .fullName }
    @available(*, deprecated, renamed: "phoneticFullName")
    public static var PhoneticFullName: CNContactFormatterStyle { .phoneticFullName }
}

extension CNContactSortOrder {
    @available(*, deprecated, renamed: "none")
    public static var None: CNContactSortOrder { .none }
    @available(*, deprecated, renamed: "userDefault")
    public static var UserDefault: CNContactSortOrder { .userDefault }
    @available(*, deprecated, renamed: "givenName")
    public static var GivenName: CNContactSortOrder { .givenName }
    @available(*, deprecated, renamed: "familyName")
    public static var FamilyName: CNContactSortOrder { .familyName }
}

@available(*, deprecated, renamed: "NSNotification.Name.CNContactStoreDidChange")
public let CNContactStoreDidChangeNotification = "CNContactStoreDidChangeNotification"

@available(*, deprecated, renamed: "CNError.Code")
public typealias CNErrorCode = CNError.Code
