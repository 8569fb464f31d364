import Foundation
import Testing

/// Checks that no name of Apple's is missing: each is in `EveryName.swift`, or below with the reason why it is absent.
@Suite("Names of Apple's library")
struct NameTests {
    /// Names that the library does not have, and why.
    static let notThere = [
        "NSItemProviderReading": "Foundation on Linux has no item providers",
        "NSItemProviderWriting": "Foundation on Linux has no item providers",
        "enumeratorForContactFetchRequest": "Objective-C's name; enumerator(for:) is Swift's",
        "enumeratorForChangeHistoryFetchRequest": "Objective-C's name; enumerator(for:) is Swift's",
        "contactAccessButtonStyle": "how a button looks; the library draws nothing",
        "allowsEditing": "how a card looks; the library draws nothing",
        "allowsActions": "how a card looks; the library draws nothing",
        "shouldShowLinkedContacts": "how a card looks; the library draws nothing",
        "highlightProperty": "how a card looks; the library draws nothing",
        "contactStore": "an app has one connection for all its stores",
        "parentGroup": "the person decides where a card goes",
        "parentContainer": "the person decides where a card goes",
        "alternateName": "how a card looks; the library draws nothing",
        "CNContactPicker": "a macOS window; CNContactPickerViewController picks",
        "showRelative": "where a window is; the library draws nothing",
        "init(for:)": "an app shows a contact that it has fetched itself",
    ]

    private static let wanted = """
        isKeyAvailable areKeysAvailable localizedString comparator descriptorForAllComparatorKeys isUnifiedWithContact
        CNContactPropertyNotFetchedExceptionName predicateForContacts predicateForContactsInGroup
        predicateForContactsInContainer predicateForGroups predicateForGroupsInContainer predicateForSubgroupsInGroup
        predicateForContainers predicateForContainerOfContact predicateForContainerOfGroup authorizationStatus requestAccess
        unifiedContact unifiedContacts unifiedMeContactWithKeys enumerateContacts enumeratorForContactFetchRequest
        enumeratorForChangeHistoryFetchRequest groups containers defaultContainerIdentifier execute currentHistoryToken
        CNContactStoreDidChange CNFetchResult predicate keysToFetch sortOrder unifyResults mutableObjects addMember
        removeMember addSubgroup removeSubgroup transactionAuthor shouldRefetchContacts startingToken
        additionalContactKeyDescriptors shouldUnifyResults includeGroupChanges excludedTransactionAuthors
        CNChangeHistoryDropEverythingEvent CNChangeHistoryAddContactEvent CNChangeHistoryUpdateContactEvent
        CNChangeHistoryDeleteContactEvent CNChangeHistoryAddGroupEvent CNChangeHistoryUpdateGroupEvent
        CNChangeHistoryDeleteGroupEvent CNChangeHistoryAddMemberToGroupEvent CNChangeHistoryRemoveMemberFromGroupEvent
        CNChangeHistoryAddSubgroupToGroupEvent CNChangeHistoryRemoveSubgroupFromGroupEvent CNChangeHistoryEventVisitor
        attributedString descriptorForRequiredKeys descriptorForRequiredKeysForNameOrder descriptorForRequiredKeysForDelimiter
        nameOrder delimiter CNContactPropertyAttribute CNPostalAddressPropertyAttribute
        CNPostalAddressLocalizedPropertyNameAttribute CNPostalAddressStreetKey CNPostalAddressSubLocalityKey
        CNPostalAddressCityKey CNPostalAddressSubAdministrativeAreaKey CNPostalAddressStateKey CNPostalAddressPostalCodeKey
        CNPostalAddressCountryKey CNPostalAddressISOCountryCodeKey CNContactVCardSerialization settingLabel settingValue
        CNContactRelation CNContactProperty CNContactsUserDefaults countryCode CNKeyDescriptor
        CNErrorUserInfoAffectedRecordsKey CNErrorUserInfoAffectedRecordIdentifiersKey CNErrorUserInfoValidationErrorsKey
        CNErrorUserInfoKeyPathsKey displayedPropertyKeys predicateForEnablingContact predicateForSelectionOfContact
        predicateForSelectionOfProperty contactPickerDidCancel contactPicker forUnknownContact forNewContact
        ContactAccessButton queryString ignoredEmails ignoredPhoneNumbers approvalCallback contactAccessButtonCaption
        contactAccessButtonStyle contactAccessPicker allowsEditing allowsActions shouldShowLinkedContacts highlightProperty
        alternateName contactStore parentGroup parentContainer CNContactViewControllerDelegate didCompleteWith
        shouldPerformDefaultActionFor message showRelative CNContactPicker NSItemProviderReading NSItemProviderWriting init(for:)
        """

    @Test("Each name is used, or has a reason why it is absent")
    func all() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("EveryName.swift")
        let source = try String(contentsOf: file, encoding: .utf8)
        let words = Set(source.split { !($0.isLetter || $0.isNumber) }.map(String.init))
        for name in Self.wanted.split(whereSeparator: \.isWhitespace).map(String.init) {
            let isThere = words.contains(name)
            #expect(
                isThere != (Self.notThere[name] != nil),
                "\(name) is \(isThere ? "used, but listed as absent" : "forgotten")")
        }
    }
}
