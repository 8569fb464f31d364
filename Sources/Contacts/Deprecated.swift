import Foundation

// Names from Swift 2 (2015), for source code that still uses them. Each declaration names its replacement.

extension CNContact {
    /// The Swift 2 name of `predicateForContacts(matchingName:)`.
    @available(*, deprecated, renamed: "predicateForContacts(matchingName:)")
    public class func predicateForContactsMatchingName(_ name: String) -> NSPredicate {
        predicateForContacts(matchingName: name)
    }

    /// The Swift 2 name of `predicateForContacts(withIdentifiers:)`.
    @available(*, deprecated, renamed: "predicateForContacts(withIdentifiers:)")
    public class func predicateForContactsWithIdentifiers(_ identifiers: [String]) -> NSPredicate {
        predicateForContacts(withIdentifiers: identifiers)
    }

    /// The Swift 2 name of `predicateForContactsInGroup(withIdentifier:)`.
    @available(*, deprecated, renamed: "predicateForContactsInGroup(withIdentifier:)")
    public class func predicateForContactsInGroupWithIdentifier(_ identifier: String) -> NSPredicate {
        predicateForContactsInGroup(withIdentifier: identifier)
    }

    /// The Swift 2 name of `predicateForContactsInContainer(withIdentifier:)`.
    @available(*, deprecated, renamed: "predicateForContactsInContainer(withIdentifier:)")
    public class func predicateForContactsInContainerWithIdentifier(_ identifier: String) -> NSPredicate {
        predicateForContactsInContainer(withIdentifier: identifier)
    }

    /// The Swift 2 name of `localizedString(forKey:)`.
    @available(*, deprecated, renamed: "localizedString(forKey:)")
    public class func localizedStringForKey(_ key: String) -> String { localizedString(forKey: key) }

    /// The Swift 2 name of `comparator(forNameSortOrder:)`.
    @available(*, deprecated, renamed: "comparator(forNameSortOrder:)")
    public class func comparatorForNameSortOrder(_ order: CNContactSortOrder) -> Comparator {
        comparator(forNameSortOrder: order)
    }

    /// The Swift 2 name of `isUnifiedWithContact(withIdentifier:)`.
    @available(*, deprecated, renamed: "isUnifiedWithContact(withIdentifier:)")
    public func isUnifiedWithContactWithIdentifier(_ identifier: String) -> Bool {
        isUnifiedWithContact(withIdentifier: identifier)
    }
}

extension CNLabeledValue {
    /// The Swift 2 name of `localizedString(forLabel:)`.
    @available(*, deprecated, renamed: "localizedString(forLabel:)")
    public class func localizedStringForLabel(_ label: String) -> String { localizedString(forLabel: label) }
}

extension CNContactStore {
    /// The Swift 2 name of `authorizationStatus(for:)`.
    @available(*, deprecated, renamed: "authorizationStatus(for:)")
    public class func authorizationStatusForEntityType(_ entityType: CNEntityType) -> CNAuthorizationStatus {
        authorizationStatus(for: entityType)
    }

    /// The Swift 2 name of `requestAccess(for:completionHandler:)`.
    @available(*, deprecated, renamed: "requestAccess(for:completionHandler:)")
    @preconcurrency public func requestAccessForEntityType(
        _ entityType: CNEntityType, completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        requestAccess(for: entityType, completionHandler: completionHandler)
    }

    /// The Swift 2 name of `unifiedContact(withIdentifier:keysToFetch:)`.
    @available(*, deprecated, renamed: "unifiedContact(withIdentifier:keysToFetch:)")
    public func unifiedContactWithIdentifier(
        _ identifier: String, keysToFetch keys: [any CNKeyDescriptor]
    ) throws -> CNContact {
        try unifiedContact(withIdentifier: identifier, keysToFetch: keys)
    }

    /// The Swift 2 name of `unifiedContacts(matching:keysToFetch:)`.
    @available(*, deprecated, renamed: "unifiedContacts(matching:keysToFetch:)")
    public func unifiedContactsMatchingPredicate(
        _ predicate: NSPredicate, keysToFetch keys: [any CNKeyDescriptor]
    ) throws -> [CNContact] {
        try unifiedContacts(matching: predicate, keysToFetch: keys)
    }

    /// The Swift 2 name of `enumerateContacts(with:usingBlock:)`.
    @available(*, deprecated, renamed: "enumerateContacts(with:usingBlock:)")
    public func enumerateContactsWithFetchRequest(
        _ request: CNContactFetchRequest, usingBlock block: (CNContact, UnsafeMutablePointer<ObjCBool>) -> Void
    ) throws {
        try enumerateContacts(with: request, usingBlock: block)
    }

    /// The Swift 2 name of `groups(matching:)`.
    @available(*, deprecated, renamed: "groups(matching:)")
    public func groupsMatchingPredicate(_ predicate: NSPredicate?) throws -> [CNGroup] {
        try groups(matching: predicate)
    }

    /// The Swift 2 name of `containers(matching:)`.
    @available(*, deprecated, renamed: "containers(matching:)")
    public func containersMatchingPredicate(_ predicate: NSPredicate?) throws -> [CNContainer] {
        try containers(matching: predicate)
    }

    /// The Swift 2 name of `execute(_:)`.
    @available(*, deprecated, renamed: "execute(_:)")
    public func executeSaveRequest(_ saveRequest: CNSaveRequest) throws { try execute(saveRequest) }
}

extension CNSaveRequest {
    /// The Swift 2 name of `add(_:toContainerWithIdentifier:)`.
    @available(*, deprecated, renamed: "add(_:toContainerWithIdentifier:)")
    public func addContact(_ contact: CNMutableContact, toContainerWithIdentifier identifier: String?) {
        add(contact, toContainerWithIdentifier: identifier)
    }

    /// The Swift 2 name of `update(_:)`.
    @available(*, deprecated, renamed: "update(_:)")
    public func updateContact(_ contact: CNMutableContact) { update(contact) }

    /// The Swift 2 name of `delete(_:)`.
    @available(*, deprecated, renamed: "delete(_:)")
    public func deleteContact(_ contact: CNMutableContact) { delete(contact) }

    /// The Swift 2 name of `add(_:toContainerWithIdentifier:)`.
    @available(*, deprecated, renamed: "add(_:toContainerWithIdentifier:)")
    public func addGroup(_ group: CNMutableGroup, toContainerWithIdentifier identifier: String?) {
        add(group, toContainerWithIdentifier: identifier)
    }

    /// The Swift 2 name of `update(_:)`.
    @available(*, deprecated, renamed: "update(_:)")
    public func updateGroup(_ group: CNMutableGroup) { update(group) }

    /// The Swift 2 name of `delete(_:)`.
    @available(*, deprecated, renamed: "delete(_:)")
    public func deleteGroup(_ group: CNMutableGroup) { delete(group) }

    /// The Swift 2 name of `addMember(_:to:)`.
    @available(*, deprecated, renamed: "addMember(_:to:)")
    public func addMember(_ contact: CNContact, toGroup group: CNGroup) { addMember(contact, to: group) }

    /// The Swift 2 name of `removeMember(_:from:)`.
    @available(*, deprecated, renamed: "removeMember(_:from:)")
    public func removeMember(_ contact: CNContact, fromGroup group: CNGroup) { removeMember(contact, from: group) }
}

extension CNContactFormatter {
    /// The Swift 2 name of `string(from:style:)`.
    @available(*, deprecated, renamed: "string(from:style:)")
    public class func stringFromContact(_ contact: CNContact, style: CNContactFormatterStyle) -> String? {
        string(from: contact, style: style)
    }

    /// The Swift 2 name of `descriptorForRequiredKeys(for:)`.
    @available(*, deprecated, renamed: "descriptorForRequiredKeys(for:)")
    public class func descriptorForRequiredKeysForStyle(_ style: CNContactFormatterStyle) -> any CNKeyDescriptor {
        descriptorForRequiredKeys(for: style)
    }
}

extension CNPostalAddressFormatter {
    /// The Swift 2 name of `string(from:style:)`.
    @available(*, deprecated, renamed: "string(from:style:)")
    public class func stringFromPostalAddress(
        _ postalAddress: CNPostalAddress, style: CNPostalAddressFormatterStyle = .mailingAddress
    ) -> String {
        string(from: postalAddress, style: style)
    }
}

extension CNContactVCardSerialization {
    /// The Swift 2 name of `contacts(with:)`.
    @available(*, deprecated, renamed: "contacts(with:)")
    public class func contactsWithData(_ data: Data) throws -> [CNContact] { try contacts(with: data) }

    /// The Swift 2 name of `data(with:)`.
    @available(*, deprecated, renamed: "data(with:)")
    public class func dataWithContacts(_ contacts: [CNContact]) throws -> Data { try data(with: contacts) }
}

extension CNContactsUserDefaults {
    /// The Swift 2 name of `shared()`.
    @available(*, deprecated, renamed: "shared()")
    public class func sharedDefaults() -> CNContactsUserDefaults { shared() }
}

extension CNEntityType {
    /// The Swift 2 name of `contacts`.
    @available(*, deprecated, renamed: "contacts")
    public static var Contacts: CNEntityType { .contacts }
}

extension CNAuthorizationStatus {
    /// The Swift 2 name of `notDetermined`.
    @available(*, deprecated, renamed: "notDetermined")
    public static var NotDetermined: CNAuthorizationStatus { .notDetermined }
    /// The Swift 2 name of `restricted`.
    @available(*, deprecated, renamed: "restricted")
    public static var Restricted: CNAuthorizationStatus { .restricted }
    /// The Swift 2 name of `denied`.
    @available(*, deprecated, renamed: "denied")
    public static var Denied: CNAuthorizationStatus { .denied }
    /// The Swift 2 name of `authorized`.
    @available(*, deprecated, renamed: "authorized")
    public static var Authorized: CNAuthorizationStatus { .authorized }
}

extension CNContactFormatterStyle {
    /// The Swift 2 name of `fullName`.
    @available(*, deprecated, renamed: "fullName")
    public static var FullName: CNContactFormatterStyle { .fullName }
    /// The Swift 2 name of `phoneticFullName`.
    @available(*, deprecated, renamed: "phoneticFullName")
    public static var PhoneticFullName: CNContactFormatterStyle { .phoneticFullName }
}

extension CNContactSortOrder {
    /// The Swift 2 name of `none`.
    @available(*, deprecated, renamed: "none")
    public static var None: CNContactSortOrder { .none }
    /// The Swift 2 name of `userDefault`.
    @available(*, deprecated, renamed: "userDefault")
    public static var UserDefault: CNContactSortOrder { .userDefault }
    /// The Swift 2 name of `givenName`.
    @available(*, deprecated, renamed: "givenName")
    public static var GivenName: CNContactSortOrder { .givenName }
    /// The Swift 2 name of `familyName`.
    @available(*, deprecated, renamed: "familyName")
    public static var FamilyName: CNContactSortOrder { .familyName }
}

/// The Swift 2 name of `NSNotification.Name.CNContactStoreDidChange`.
@available(*, deprecated, renamed: "NSNotification.Name.CNContactStoreDidChange")
public let CNContactStoreDidChangeNotification = "CNContactStoreDidChangeNotification"

/// The Swift 2 name of `CNError.Code`.
@available(*, deprecated, renamed: "CNError.Code")
public typealias CNErrorCode = CNError.Code

extension CNContactStore {
    /// The Swift 2 name of `unifiedMeContactWithKeys(toFetch:)`.
    @available(*, deprecated, renamed: "unifiedMeContactWithKeys(toFetch:)")
    public func unifiedMeContactWithKeysToFetch(_ keys: [any CNKeyDescriptor]) throws -> CNContact {
        try unifiedMeContactWithKeys(toFetch: keys)
    }
}

extension CNSaveRequest {
    /// The Swift 2 name of `addSubgroup(_:to:)`.
    @available(*, deprecated, renamed: "addSubgroup(_:to:)")
    public func addSubgroup(_ subgroup: CNGroup, toGroup group: CNGroup) { addSubgroup(subgroup, to: group) }

    /// The Swift 2 name of `removeSubgroup(_:from:)`.
    @available(*, deprecated, renamed: "removeSubgroup(_:from:)")
    public func removeSubgroup(_ subgroup: CNGroup, fromGroup group: CNGroup) {
        removeSubgroup(subgroup, from: group)
    }
}

extension CNGroup {
    /// The Swift 2 name of `predicateForGroups(withIdentifiers:)`.
    @available(*, deprecated, renamed: "predicateForGroups(withIdentifiers:)")
    public class func predicateForGroupsWithIdentifiers(_ identifiers: [String]) -> NSPredicate {
        predicateForGroups(withIdentifiers: identifiers)
    }

    /// The Swift 2 name of `predicateForGroupsInContainer(withIdentifier:)`.
    @available(*, deprecated, renamed: "predicateForGroupsInContainer(withIdentifier:)")
    public class func predicateForGroupsInContainerWithIdentifier(_ identifier: String) -> NSPredicate {
        predicateForGroupsInContainer(withIdentifier: identifier)
    }

    /// The Swift 2 name of `predicateForSubgroupsInGroup(withIdentifier:)`.
    @available(*, deprecated, renamed: "predicateForSubgroupsInGroup(withIdentifier:)")
    public class func predicateForSubgroupsInGroupWithIdentifier(_ identifier: String) -> NSPredicate {
        predicateForSubgroupsInGroup(withIdentifier: identifier)
    }
}

extension CNContainer {
    /// The Swift 2 name of `predicateForContainers(withIdentifiers:)`.
    @available(*, deprecated, renamed: "predicateForContainers(withIdentifiers:)")
    public class func predicateForContainersWithIdentifiers(_ identifiers: [String]) -> NSPredicate {
        predicateForContainers(withIdentifiers: identifiers)
    }

    /// The Swift 2 name of `predicateForContainerOfContact(withIdentifier:)`.
    @available(*, deprecated, renamed: "predicateForContainerOfContact(withIdentifier:)")
    public class func predicateForContainerOfContactWithIdentifier(_ identifier: String) -> NSPredicate {
        predicateForContainerOfContact(withIdentifier: identifier)
    }

    /// The Swift 2 name of `predicateForContainerOfGroup(withIdentifier:)`.
    @available(*, deprecated, renamed: "predicateForContainerOfGroup(withIdentifier:)")
    public class func predicateForContainerOfGroupWithIdentifier(_ identifier: String) -> NSPredicate {
        predicateForContainerOfGroup(withIdentifier: identifier)
    }
}

extension CNLabeledValue {
    /// The Swift 2 name of `settingLabel(_:)`.
    @available(*, deprecated, renamed: "settingLabel(_:)")
    public func labeledValueBySettingLabel(_ label: String?) -> CNLabeledValue<ValueType> {
        settingLabel(label)
    }

    /// The Swift 2 name of `settingValue(_:)`.
    @available(*, deprecated, renamed: "settingValue(_:)")
    public func labeledValueBySettingValue(_ value: ValueType) -> CNLabeledValue<ValueType> {
        settingValue(value)
    }

    /// The Swift 2 name of `settingLabel(_:value:)`.
    @available(*, deprecated, renamed: "settingLabel(_:value:)")
    public func labeledValueBySettingLabel(_ label: String?, value: ValueType) -> CNLabeledValue<ValueType> {
        settingLabel(label, value: value)
    }
}

extension CNPostalAddress {
    /// The Swift 2 name of `localizedString(forKey:)`.
    @available(*, deprecated, renamed: "localizedString(forKey:)")
    public class func localizedStringForKey(_ key: String) -> String { localizedString(forKey: key) }
}

extension CNSocialProfile {
    /// The Swift 2 name of `localizedString(forKey:)`.
    @available(*, deprecated, renamed: "localizedString(forKey:)")
    public class func localizedStringForKey(_ key: String) -> String { localizedString(forKey: key) }

    /// The Swift 2 name of `localizedString(forService:)`.
    @available(*, deprecated, renamed: "localizedString(forService:)")
    public class func localizedStringForService(_ service: String) -> String {
        localizedString(forService: service)
    }
}

extension CNInstantMessageAddress {
    /// The Swift 2 name of `localizedString(forKey:)`.
    @available(*, deprecated, renamed: "localizedString(forKey:)")
    public class func localizedStringForKey(_ key: String) -> String { localizedString(forKey: key) }

    /// The Swift 2 name of `localizedString(forService:)`.
    @available(*, deprecated, renamed: "localizedString(forService:)")
    public class func localizedStringForService(_ service: String) -> String {
        localizedString(forService: service)
    }
}

extension CNContactFormatter {
    /// The Swift 2 name of `string(from:)`.
    @available(*, deprecated, renamed: "string(from:)")
    public func stringFromContact(_ contact: CNContact) -> String? { string(from: contact) }

    /// The Swift 2 name of `attributedString(from:defaultAttributes:)`.
    @available(*, deprecated, renamed: "attributedString(from:defaultAttributes:)")
    public func attributedStringFromContact(
        _ contact: CNContact, defaultAttributes attributes: [AnyHashable: Any]?
    ) -> NSAttributedString? {
        attributedString(from: contact, defaultAttributes: attributes)
    }

    /// The Swift 2 name of `attributedString(from:style:defaultAttributes:)`.
    @available(*, deprecated, renamed: "attributedString(from:style:defaultAttributes:)")
    public class func attributedStringFromContact(
        _ contact: CNContact, style: CNContactFormatterStyle, defaultAttributes attributes: [AnyHashable: Any]?
    ) -> NSAttributedString? {
        attributedString(from: contact, style: style, defaultAttributes: attributes)
    }

    /// The Swift 2 name of `nameOrder(for:)`.
    @available(*, deprecated, renamed: "nameOrder(for:)")
    public class func nameOrderForContact(_ contact: CNContact) -> CNContactDisplayNameOrder {
        nameOrder(for: contact)
    }

    /// The Swift 2 name of `delimiter(for:)`.
    @available(*, deprecated, renamed: "delimiter(for:)")
    public class func delimiterForContact(_ contact: CNContact) -> String { delimiter(for: contact) }
}

extension CNPostalAddressFormatter {
    /// The Swift 2 name of `string(from:)`.
    @available(*, deprecated, renamed: "string(from:)")
    public func stringFromPostalAddress(_ postalAddress: CNPostalAddress) -> String {
        string(from: postalAddress)
    }

    /// The Swift 2 name of `attributedString(from:withDefaultAttributes:)`.
    @available(*, deprecated, renamed: "attributedString(from:withDefaultAttributes:)")
    public func attributedStringFromPostalAddress(
        _ postalAddress: CNPostalAddress, withDefaultAttributes attributes: [AnyHashable: Any]
    ) -> NSAttributedString {
        attributedString(from: postalAddress, withDefaultAttributes: attributes)
    }

    /// The Swift 2 name of `attributedString(from:style:withDefaultAttributes:)`.
    @available(*, deprecated, renamed: "attributedString(from:style:withDefaultAttributes:)")
    public class func attributedStringFromPostalAddress(
        _ postalAddress: CNPostalAddress, style: CNPostalAddressFormatterStyle,
        withDefaultAttributes attributes: [AnyHashable: Any]
    ) -> NSAttributedString {
        attributedString(from: postalAddress, style: style, withDefaultAttributes: attributes)
    }
}

extension CNContactType {
    /// The Swift 2 name of `person`.
    @available(*, deprecated, renamed: "person")
    public static var Person: CNContactType { .person }
    /// The Swift 2 name of `organization`.
    @available(*, deprecated, renamed: "organization")
    public static var Organization: CNContactType { .organization }
}

extension CNContainerType {
    /// The Swift 2 name of `unassigned`.
    @available(*, deprecated, renamed: "unassigned")
    public static var Unassigned: CNContainerType { .unassigned }
    /// The Swift 2 name of `local`.
    @available(*, deprecated, renamed: "local")
    public static var Local: CNContainerType { .local }
    /// The Swift 2 name of `exchange`.
    @available(*, deprecated, renamed: "exchange")
    public static var Exchange: CNContainerType { .exchange }
    /// The Swift 2 name of `cardDAV`.
    @available(*, deprecated, renamed: "cardDAV")
    public static var CardDAV: CNContainerType { .cardDAV }
}

extension CNContactDisplayNameOrder {
    /// The Swift 2 name of `userDefault`.
    @available(*, deprecated, renamed: "userDefault")
    public static var UserDefault: CNContactDisplayNameOrder { .userDefault }
    /// The Swift 2 name of `givenNameFirst`.
    @available(*, deprecated, renamed: "givenNameFirst")
    public static var GivenNameFirst: CNContactDisplayNameOrder { .givenNameFirst }
    /// The Swift 2 name of `familyNameFirst`.
    @available(*, deprecated, renamed: "familyNameFirst")
    public static var FamilyNameFirst: CNContactDisplayNameOrder { .familyNameFirst }
}

extension CNPostalAddressFormatterStyle {
    /// The Swift 2 name of `mailingAddress`.
    @available(*, deprecated, renamed: "mailingAddress")
    public static var MailingAddress: CNPostalAddressFormatterStyle { .mailingAddress }
}

extension CNError.Code {
    /// The Swift 2 name of `communicationError`.
    @available(*, deprecated, renamed: "communicationError")
    public static var CommunicationError: CNError.Code { .communicationError }
    /// The Swift 2 name of `dataAccessError`.
    @available(*, deprecated, renamed: "dataAccessError")
    public static var DataAccessError: CNError.Code { .dataAccessError }
    /// The Swift 2 name of `authorizationDenied`.
    @available(*, deprecated, renamed: "authorizationDenied")
    public static var AuthorizationDenied: CNError.Code { .authorizationDenied }
    /// The Swift 2 name of `recordDoesNotExist`.
    @available(*, deprecated, renamed: "recordDoesNotExist")
    public static var RecordDoesNotExist: CNError.Code { .recordDoesNotExist }
    /// The Swift 2 name of `insertedRecordAlreadyExists`.
    @available(*, deprecated, renamed: "insertedRecordAlreadyExists")
    public static var InsertedRecordAlreadyExists: CNError.Code { .insertedRecordAlreadyExists }
    /// The Swift 2 name of `containmentCycle`.
    @available(*, deprecated, renamed: "containmentCycle")
    public static var ContainmentCycle: CNError.Code { .containmentCycle }
    /// The Swift 2 name of `containmentScope`.
    @available(*, deprecated, renamed: "containmentScope")
    public static var ContainmentScope: CNError.Code { .containmentScope }
    /// The Swift 2 name of `parentRecordDoesNotExist`.
    @available(*, deprecated, renamed: "parentRecordDoesNotExist")
    public static var ParentRecordDoesNotExist: CNError.Code { .parentRecordDoesNotExist }
    /// The Swift 2 name of `validationMultipleErrors`.
    @available(*, deprecated, renamed: "validationMultipleErrors")
    public static var ValidationMultipleErrors: CNError.Code { .validationMultipleErrors }
    /// The Swift 2 name of `validationTypeMismatch`.
    @available(*, deprecated, renamed: "validationTypeMismatch")
    public static var ValidationTypeMismatch: CNError.Code { .validationTypeMismatch }
    /// The Swift 2 name of `validationConfigurationError`.
    @available(*, deprecated, renamed: "validationConfigurationError")
    public static var ValidationConfigurationError: CNError.Code { .validationConfigurationError }
    /// The Swift 2 name of `predicateInvalid`.
    @available(*, deprecated, renamed: "predicateInvalid")
    public static var PredicateInvalid: CNError.Code { .predicateInvalid }
    /// The Swift 2 name of `policyViolation`.
    @available(*, deprecated, renamed: "policyViolation")
    public static var PolicyViolation: CNError.Code { .policyViolation }
}
