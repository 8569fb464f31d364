import ContactsUI

// Uses each name of Apple’s library that an app may use, once. The test is that this compiles; ``NameTests`` checks
// that no name is missing. Nothing in this file runs. `ContactsUI` re-exports `Contacts`, which re-exports `Foundation`.

func everyProperty(_ contact: CNContact, _ made: CNMutableContact) -> [Any] {
    made.contactType = contact.contactType
    made.namePrefix = contact.namePrefix
    made.givenName = contact.givenName
    made.middleName = contact.middleName
    made.familyName = contact.familyName
    made.previousFamilyName = contact.previousFamilyName
    made.nameSuffix = contact.nameSuffix
    made.nickname = contact.nickname
    made.phoneticGivenName = contact.phoneticGivenName
    made.phoneticMiddleName = contact.phoneticMiddleName
    made.phoneticFamilyName = contact.phoneticFamilyName
    made.phoneticOrganizationName = contact.phoneticOrganizationName
    made.organizationName = contact.organizationName
    made.departmentName = contact.departmentName
    made.jobTitle = contact.jobTitle
    made.note = contact.note
    made.imageData = contact.imageData
    made.phoneNumbers = contact.phoneNumbers
    made.emailAddresses = contact.emailAddresses
    made.postalAddresses = contact.postalAddresses
    made.urlAddresses = contact.urlAddresses
    made.contactRelations = contact.contactRelations
    made.socialProfiles = contact.socialProfiles
    made.instantMessageAddresses = contact.instantMessageAddresses
    made.birthday = contact.birthday
    made.nonGregorianBirthday = contact.nonGregorianBirthday
    made.dates = contact.dates
    return [contact.identifier, contact.thumbnailImageData as Any, contact.imageDataAvailable]
}

func everyMethod(_ contact: CNContact) throws -> [Any] {
    [
        contact.isKeyAvailable(CNContactNoteKey), contact.areKeysAvailable([CNContactNoteKey as CNKeyDescriptor]),
        CNContact.localizedString(forKey: CNContactNoteKey), CNContact.comparator(forNameSortOrder: .userDefault),
        CNContact.descriptorForAllComparatorKeys(), contact.isUnifiedWithContact(withIdentifier: ""),
        contact.copy(), contact.mutableCopy(), CNContact.supportsSecureCoding, contact.id as UUID,
        CNContactPropertyNotFetchedExceptionName, CNContact.predicateForContacts(matchingName: ""),
        CNContact.predicateForContacts(matchingEmailAddress: ""),
        CNContact.predicateForContacts(matching: CNPhoneNumber(stringValue: "")),
        CNContact.predicateForContacts(withIdentifiers: []), CNContact.predicateForContactsInGroup(withIdentifier: ""),
        CNContact.predicateForContactsInContainer(withIdentifier: ""), CNGroup.predicateForGroups(withIdentifiers: []),
        CNGroup.predicateForGroupsInContainer(withIdentifier: ""),
        CNGroup.predicateForSubgroupsInGroup(withIdentifier: ""),
        CNContainer.predicateForContainers(withIdentifiers: []),
        CNContainer.predicateForContainerOfContact(withIdentifier: ""),
        CNContainer.predicateForContainerOfGroup(withIdentifier: ""),
    ]
}

func everyStoreMethod(_ store: CNContactStore, _ group: CNMutableGroup, _ contact: CNMutableContact) async throws
    -> [Any]
{
    store.requestAccess(for: .contacts) { (granted: Bool, error: Error?) in print(granted, error as Any) }
    let request = CNContactFetchRequest(keysToFetch: [CNContactGivenNameKey as CNKeyDescriptor])
    request.predicate = nil
    request.keysToFetch = []
    request.sortOrder = .none
    request.unifyResults = true
    request.mutableObjects = false
    try store.enumerateContacts(with: request) { contact, stop in stop.pointee = true }
    let save = CNSaveRequest()
    save.add(contact, toContainerWithIdentifier: nil)
    save.update(contact)
    save.delete(contact)
    save.add(group, toContainerWithIdentifier: nil)
    save.update(group)
    save.delete(group)
    save.addMember(contact, to: group)
    save.removeMember(contact, from: group)
    save.addSubgroup(group, to: group)
    save.removeSubgroup(group, from: group)
    save.transactionAuthor = "me"
    save.shouldRefetchContacts = true
    try store.execute(save)
    let history = CNChangeHistoryFetchRequest()
    history.startingToken = store.currentHistoryToken
    history.additionalContactKeyDescriptors = []
    history.shouldUnifyResults = true
    history.mutableObjects = false
    history.includeGroupChanges = true
    history.excludedTransactionAuthors = []
    let fetched: CNFetchResult<NSEnumerator> = try store.enumerator(for: request)
    let changes: CNFetchResult<NSEnumerator> = try store.enumerator(for: history)
    return [
        CNContactStore.authorizationStatus(for: .contacts), try await store.requestAccess(for: .contacts),
        try store.unifiedContact(withIdentifier: "", keysToFetch: []),
        try store.unifiedContacts(matching: CNContact.predicateForContacts(matchingName: ""), keysToFetch: []),
        try store.unifiedMeContactWithKeys(toFetch: []), fetched.value, changes.currentHistoryToken,
        try store.groups(matching: nil).map { ($0.identifier, $0.name) },
        try store.containers(matching: nil).map { ($0.identifier, $0.name, $0.type) },
        store.defaultContainerIdentifier(),
        NSNotification.Name.CNContactStoreDidChange,
    ]
}

final class EveryVisit: CNChangeHistoryEventVisitor {
    func visit(_ event: CNChangeHistoryDropEverythingEvent) {}
    func visit(_ event: CNChangeHistoryAddContactEvent) { _ = (event.contact, event.containerIdentifier) }
    func visit(_ event: CNChangeHistoryUpdateContactEvent) { _ = event.contact }
    func visit(_ event: CNChangeHistoryDeleteContactEvent) { _ = event.contactIdentifier }
    func visit(_ event: CNChangeHistoryAddGroupEvent) { _ = (event.group, event.containerIdentifier) }
    func visit(_ event: CNChangeHistoryUpdateGroupEvent) { _ = event.group }
    func visit(_ event: CNChangeHistoryDeleteGroupEvent) { _ = event.groupIdentifier }
    func visit(_ event: CNChangeHistoryAddMemberToGroupEvent) { _ = (event.member, event.group) }
    func visit(_ event: CNChangeHistoryRemoveMemberFromGroupEvent) { _ = (event.member, event.group) }
    func visit(_ event: CNChangeHistoryAddSubgroupToGroupEvent) { _ = (event.subgroup, event.group) }
    func visit(_ event: CNChangeHistoryRemoveSubgroupFromGroupEvent) { _ = (event.subgroup, event.group) }
}

/// An app that needs only contacts does not have to handle the events of groups.
final class FewVisits: CNChangeHistoryEventVisitor {
    func visit(_ event: CNChangeHistoryDropEverythingEvent) {}
    func visit(_ event: CNChangeHistoryAddContactEvent) {}
    func visit(_ event: CNChangeHistoryUpdateContactEvent) {}
    func visit(_ event: CNChangeHistoryDeleteContactEvent) {}
}

func everyFormatter(_ contact: CNContact, _ address: CNPostalAddress) throws -> [Any] {
    let names = CNContactFormatter()
    names.style = .phoneticFullName
    let addresses = CNPostalAddressFormatter()
    addresses.style = .mailingAddress
    return [
        names.string(from: contact) as Any, CNContactFormatter.string(from: contact, style: .fullName) as Any,
        names.attributedString(from: contact, defaultAttributes: nil) as Any,
        CNContactFormatter.attributedString(from: contact, style: .fullName, defaultAttributes: nil) as Any,
        CNContactFormatter.descriptorForRequiredKeys(for: .fullName),
        CNContactFormatter.descriptorForRequiredKeysForNameOrder,
        CNContactFormatter.descriptorForRequiredKeysForDelimiter,
        CNContactFormatter.nameOrder(for: contact), CNContactFormatter.delimiter(for: contact),
        CNContactPropertyAttribute,
        addresses.string(from: address), CNPostalAddressFormatter.string(from: address, style: .mailingAddress),
        addresses.attributedString(from: address, withDefaultAttributes: [:]),
        CNPostalAddressFormatter.attributedString(from: address, style: .mailingAddress, withDefaultAttributes: [:]),
        CNPostalAddressPropertyAttribute, CNPostalAddressLocalizedPropertyNameAttribute,
        try CNContactVCardSerialization.contacts(with: Data()), try CNContactVCardSerialization.data(with: []),
        CNContactVCardSerialization.descriptorForRequiredKeys(), CNContactsUserDefaults.shared().sortOrder,
        CNContactsUserDefaults.shared().countryCode,
    ]
}

func everyValue(_ property: CNContactProperty) -> [Any] {
    let labeled = CNLabeledValue(label: CNLabelHome, value: "" as NSString)
    let address = CNMutablePostalAddress()
    (address.street, address.subLocality, address.city) = ("", "", "")
    (address.subAdministrativeArea, address.state, address.postalCode) = ("", "", "")
    (address.country, address.isoCountryCode) = ("", "")
    let profile = CNSocialProfile(urlString: nil, username: nil, userIdentifier: nil, service: nil)
    let message = CNInstantMessageAddress(username: "", service: CNInstantMessageServiceAIM)
    return [
        labeled.identifier, labeled.label as Any, labeled.value as String, labeled.settingLabel(nil),
        labeled.settingValue("" as NSString), labeled.settingLabel(nil, value: "" as NSString),
        CNLabeledValue<NSString>.localizedString(forLabel: ""), address.copy(), CNPostalAddress().mutableCopy(),
        CNPostalAddress.localizedString(forKey: CNPostalAddressStreetKey), CNPostalAddressSubLocalityKey,
        CNPostalAddressCityKey, CNPostalAddressSubAdministrativeAreaKey, CNPostalAddressStateKey,
        CNPostalAddressPostalCodeKey, CNPostalAddressCountryKey, CNPostalAddressISOCountryCodeKey,
        CNContactRelation(name: "").name, profile.urlString, profile.username, profile.userIdentifier, profile.service,
        CNSocialProfile.localizedString(forKey: CNSocialProfileURLStringKey),
        CNSocialProfile.localizedString(forService: CNSocialProfileServiceTwitter), CNSocialProfileUsernameKey,
        CNSocialProfileUserIdentifierKey, CNSocialProfileServiceKey, CNSocialProfileServiceFacebook,
        CNSocialProfileServiceFlickr, CNSocialProfileServiceLinkedIn, CNSocialProfileServiceMySpace,
        CNSocialProfileServiceSinaWeibo, CNSocialProfileServiceTencentWeibo, CNSocialProfileServiceYelp,
        CNSocialProfileServiceGameCenter, message.username, message.service,
        CNInstantMessageAddress.localizedString(forKey: CNInstantMessageAddressUsernameKey),
        CNInstantMessageAddress.localizedString(forService: ""), CNInstantMessageAddressServiceKey,
        CNInstantMessageServiceFacebook, CNInstantMessageServiceGaduGadu, CNInstantMessageServiceGoogleTalk,
        CNInstantMessageServiceICQ, CNInstantMessageServiceJabber, CNInstantMessageServiceMSN,
        CNInstantMessageServiceQQ,
        CNInstantMessageServiceSkype, CNInstantMessageServiceYahoo, property.contact, property.key,
        property.value as Any, property.identifier as Any, property.label as Any, CNGroupIdentifierKey, CNGroupNameKey,
        CNContainerIdentifierKey, CNContainerNameKey, CNContainerTypeKey, CNErrorUserInfoAffectedRecordsKey,
        CNErrorUserInfoAffectedRecordIdentifiersKey, CNErrorUserInfoValidationErrorsKey, CNErrorUserInfoKeyPathsKey,
    ]
}

final class EveryPick: CNContactPickerDelegate {
    func contactPickerDidCancel(_ picker: CNContactPickerViewController) {}
    func contactPicker(_ picker: CNContactPickerViewController, didSelect contact: CNContact) {}
    func contactPicker(_ picker: CNContactPickerViewController, didSelect contactProperty: CNContactProperty) {}
    func contactPicker(_ picker: CNContactPickerViewController, didSelect contacts: [CNContact]) {}
    func contactPicker(
        _ picker: CNContactPickerViewController, didSelectContactProperties contactProperties: [CNContactProperty]
    ) {}
}

final class EveryCard: CNContactViewControllerDelegate {
    func contactViewController(_ viewController: CNContactViewController, didCompleteWith contact: CNContact?) {}
    func contactViewController(
        _ viewController: CNContactViewController, shouldPerformDefaultActionFor property: CNContactProperty
    ) -> Bool { true }
}

func everyCard(_ delegate: EveryCard) -> CNContactViewController {
    let card = CNContactViewController(forUnknownContact: CNContact())
    card.displayedPropertyKeys = [CNContactGivenNameKey as CNKeyDescriptor]
    card.message = ""
    card.delegate = delegate
    return card
}

func everyPicker(_ delegate: EveryPick) -> [Any] {
    let picker = CNContactPickerViewController()
    picker.displayedPropertyKeys = [CNContactEmailAddressesKey]
    picker.predicateForEnablingContact = nil
    picker.predicateForSelectionOfContact = nil
    picker.predicateForSelectionOfProperty = nil
    picker.delegate = delegate
    let button = ContactAccessButton(
        queryString: "", ignoredEmails: nil, ignoredPhoneNumbers: nil, approvalCallback: { (_: [String]) in })
    contactAccessPicker { _ in }
    return [
        button.contactAccessButtonCaption(.defaultText), ContactAccessButton.Caption.email,
        ContactAccessButton.Caption.phone,
        CNContactViewController(forUnknownContact: CNContact()).contact, CNContactViewController(forNewContact: nil),
        CNContactViewController.descriptorForRequiredKeys(),
    ]
}
