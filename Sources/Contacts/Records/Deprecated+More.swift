import Foundation

// More names from Swift 2 (2015). Each declaration names its replacement.

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
