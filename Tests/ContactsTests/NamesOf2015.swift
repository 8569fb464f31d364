import Contacts

// Uses each name of Swift 2 (2015), once. The test is that this compiles; ``NameTests`` checks that each deprecated
// name of the library is here. Nothing in this file runs.

@available(*, deprecated, message: "uses deprecated names")
func everyStoreMethodOf2015(_ store: CNContactStore, _ group: CNMutableGroup, _ contact: CNMutableContact) throws
    -> [Any]
{
    store.requestAccessForEntityType(.Contacts) { granted, error in print(granted, error as Any) }
    try store.enumerateContactsWithFetchRequest(CNContactFetchRequest(keysToFetch: [])) { _, stop in
        stop.pointee = true
    }
    let save = CNSaveRequest()
    save.addContact(contact, toContainerWithIdentifier: nil)
    save.updateContact(contact)
    save.deleteContact(contact)
    save.addGroup(group, toContainerWithIdentifier: nil)
    save.updateGroup(group)
    save.deleteGroup(group)
    save.addMember(contact, toGroup: group)
    save.removeMember(contact, fromGroup: group)
    save.addSubgroup(group, toGroup: group)
    save.removeSubgroup(group, fromGroup: group)
    try store.executeSaveRequest(save)
    return [
        CNContactStore.authorizationStatusForEntityType(.Contacts),
        try store.unifiedContactWithIdentifier("", keysToFetch: []),
        try store.unifiedContactsMatchingPredicate(CNContact.predicateForContactsMatchingName(""), keysToFetch: []),
        try store.unifiedMeContactWithKeysToFetch([]), try store.groupsMatchingPredicate(nil),
        try store.containersMatchingPredicate(nil), store.defaultContainerIdentifier(),
        CNContactStoreDidChangeNotification, CNContactsUserDefaults.sharedDefaults().sortOrder,
    ]
}

@available(*, deprecated, message: "uses deprecated names")
func everyPredicateOf2015() -> [Any] {
    [
        CNContact.predicateForContactsMatchingName(""), CNContact.predicateForContactsWithIdentifiers([]),
        CNContact.predicateForContactsInGroupWithIdentifier(""),
        CNContact.predicateForContactsInContainerWithIdentifier(""), CNGroup.predicateForGroupsWithIdentifiers([]),
        CNGroup.predicateForGroupsInContainerWithIdentifier(""),
        CNGroup.predicateForSubgroupsInGroupWithIdentifier(""), CNContainer.predicateForContainersWithIdentifiers([]),
        CNContainer.predicateForContainerOfContactWithIdentifier(""),
        CNContainer.predicateForContainerOfGroupWithIdentifier(""),
    ]
}

@available(*, deprecated, message: "uses deprecated names")
func everyFormatterOf2015(_ contact: CNContact, _ address: CNPostalAddress) throws -> [Any] {
    let names = CNContactFormatter()
    let addresses = CNPostalAddressFormatter()
    return [
        names.stringFromContact(contact) as Any, CNContactFormatter.stringFromContact(contact, style: .FullName) as Any,
        names.attributedStringFromContact(contact, defaultAttributes: nil) as Any,
        CNContactFormatter.attributedStringFromContact(contact, style: .PhoneticFullName, defaultAttributes: nil)
            as Any,
        CNContactFormatter.nameOrderForContact(contact), CNContactFormatter.delimiterForContact(contact),
        CNContactFormatter.descriptorForRequiredKeysForStyle(.FullName), addresses.stringFromPostalAddress(address),
        CNPostalAddressFormatter.stringFromPostalAddress(address, style: .MailingAddress),
        addresses.attributedStringFromPostalAddress(address, withDefaultAttributes: [:]),
        CNPostalAddressFormatter.attributedStringFromPostalAddress(
            address, style: .MailingAddress, withDefaultAttributes: [:]),
        try CNContactVCardSerialization.contactsWithData(Data()), try CNContactVCardSerialization.dataWithContacts([]),
    ]
}

@available(*, deprecated, message: "uses deprecated names")
func everyValueOf2015(_ contact: CNContact) -> [Any] {
    let labeled = CNLabeledValue(label: CNLabelHome, value: "" as NSString)
    return [
        labeled.labeledValueBySettingLabel(nil), labeled.labeledValueBySettingValue(""),
        labeled.labeledValueBySettingLabel(nil, value: ""), CNLabeledValue<NSString>.localizedStringForLabel(""),
        CNPostalAddress.localizedStringForKey(""), CNSocialProfile.localizedStringForKey(""),
        CNSocialProfile.localizedStringForService(""), CNInstantMessageAddress.localizedStringForKey(""),
        CNInstantMessageAddress.localizedStringForService(""), CNContact.localizedStringForKey(""),
        CNContact.comparatorForNameSortOrder(.UserDefault), contact.isUnifiedWithContactWithIdentifier(""),
    ]
}

@available(*, deprecated, message: "uses deprecated names")
func everyCaseOf2015() -> [Any] {
    let statuses: [CNAuthorizationStatus] = [.NotDetermined, .Restricted, .Denied, .Authorized]
    let orders: [CNContactSortOrder] = [.None, .UserDefault, .GivenName, .FamilyName]
    let types: [CNContactType] = [.Person, .Organization]
    let containers: [CNContainerType] = [.Unassigned, .Local, .Exchange, .CardDAV]
    let shown: [CNContactDisplayNameOrder] = [.UserDefault, .GivenNameFirst, .FamilyNameFirst]
    let codes: [CNErrorCode] = [
        .CommunicationError, .DataAccessError, .AuthorizationDenied, .RecordDoesNotExist,
        .InsertedRecordAlreadyExists, .ContainmentCycle, .ContainmentScope, .ParentRecordDoesNotExist,
        .ValidationMultipleErrors, .ValidationTypeMismatch, .ValidationConfigurationError, .PredicateInvalid,
        .PolicyViolation,
    ]
    return [statuses, orders, types, containers, shown, codes]
}
