import Contacts
import Foundation
import Testing

// Constants by name and value, as in Apple’s headers and documentation.

@Suite("Apple’s constants")
struct ConstantTests {
    @Test("Each key is the name of its property")
    func keys() {
        let keys = [
            (CNContactIdentifierKey, "identifier"),
            (CNContactTypeKey, "contactType"),
            (CNContactNamePrefixKey, "namePrefix"),
            (CNContactGivenNameKey, "givenName"),
            (CNContactMiddleNameKey, "middleName"),
            (CNContactFamilyNameKey, "familyName"),
            (CNContactPreviousFamilyNameKey, "previousFamilyName"),
            (CNContactNameSuffixKey, "nameSuffix"),
            (CNContactNicknameKey, "nickname"),
            (CNContactPhoneticGivenNameKey, "phoneticGivenName"),
            (CNContactPhoneticMiddleNameKey, "phoneticMiddleName"),
            (CNContactPhoneticFamilyNameKey, "phoneticFamilyName"),
            (CNContactPhoneticOrganizationNameKey, "phoneticOrganizationName"),
            (CNContactOrganizationNameKey, "organizationName"),
            (CNContactDepartmentNameKey, "departmentName"),
            (CNContactJobTitleKey, "jobTitle"),
            (CNContactBirthdayKey, "birthday"),
            (CNContactNonGregorianBirthdayKey, "nonGregorianBirthday"),
            (CNContactNoteKey, "note"),
            (CNContactImageDataKey, "imageData"),
            (CNContactThumbnailImageDataKey, "thumbnailImageData"),
            (CNContactImageDataAvailableKey, "imageDataAvailable"),
            (CNContactPhoneNumbersKey, "phoneNumbers"),
            (CNContactEmailAddressesKey, "emailAddresses"),
            (CNContactPostalAddressesKey, "postalAddresses"),
            (CNContactDatesKey, "dates"),
            (CNContactUrlAddressesKey, "urlAddresses"),
            (CNContactRelationsKey, "contactRelations"),
            (CNContactSocialProfilesKey, "socialProfiles"),
            (CNContactInstantMessageAddressesKey, "instantMessageAddresses"),
        ]
        for (key, name) in keys { #expect(key == name && CNContact().isKeyAvailable(key)) }
        #expect(keys.count == 30)
    }

    @Test("Each error code has Apple’s number")
    func codes() {
        let codes: [(CNError.Code, Int)] = [
            (CNError.communicationError, 1),
            (CNError.dataAccessError, 2),
            (CNError.authorizationDenied, 100),
            (CNError.noAccessableWritableContainers, 101),
            (CNError.unauthorizedKeys, 102),
            (CNError.featureDisabledByUser, 103),
            (CNError.featureNotAvailable, 104),
            (CNError.recordDoesNotExist, 200),
            (CNError.insertedRecordAlreadyExists, 201),
            (CNError.containmentCycle, 202),
            (CNError.containmentScope, 203),
            (CNError.parentRecordDoesNotExist, 204),
            (CNError.recordIdentifierInvalid, 205),
            (CNError.recordNotWritable, 206),
            (CNError.parentContainerNotWritable, 207),
            (CNError.validationMultipleErrors, 300),
            (CNError.validationTypeMismatch, 301),
            (CNError.validationConfigurationError, 302),
            (CNError.predicateInvalid, 400),
            (CNError.policyViolation, 500),
            (CNError.clientIdentifierInvalid, 600),
            (CNError.clientIdentifierDoesNotExist, 601),
            (CNError.clientIdentifierCollision, 602),
            (CNError.changeHistoryExpired, 603),
            (CNError.changeHistoryInvalidAnchor, 604),
            (CNError.changeHistoryInvalidFetchRequest, 605),
            (CNError.vCardMalformed, 700),
            (CNError.vCardSummarizationError, 701),
        ]
        for (code, number) in codes { #expect(code.rawValue == number) }
        #expect(codes.count == CNError.Code.allCases.count)
        #expect(CNErrorDomain == "CNErrorDomain" && CNError.errorDomain == CNErrorDomain)
    }

    @Test("Each enumeration has Apple’s numbers")
    func enumerations() {
        #expect(CNContactType.person.rawValue == 0 && CNContactType.organization.rawValue == 1)
        #expect(CNEntityType.contacts.rawValue == 0)
        let statuses: [CNAuthorizationStatus] = [.notDetermined, .restricted, .denied, .authorized, .limited]
        #expect(statuses.map(\.rawValue) == [0, 1, 2, 3, 4])
        let orders: [CNContactSortOrder] = [.none, .userDefault, .givenName, .familyName]
        #expect(orders.map(\.rawValue) == [0, 1, 2, 3])
        let shown: [CNContactDisplayNameOrder] = [.userDefault, .givenNameFirst, .familyNameFirst]
        #expect(shown.map(\.rawValue) == [0, 1, 2])
        let containers: [CNContainerType] = [.unassigned, .local, .exchange, .cardDAV]
        #expect(containers.map(\.rawValue) == [0, 1, 2, 3])
        #expect(
            CNContactFormatterStyle.fullName.rawValue == 0 && CNContactFormatterStyle.phoneticFullName.rawValue == 1)
        #expect(CNPostalAddressFormatterStyle.mailingAddress.rawValue == 0)
    }

    @Test("Requests have Apple’s defaults")
    func defaults() {
        let fetch = CNContactFetchRequest(keysToFetch: [])
        #expect(fetch.predicate == nil && fetch.sortOrder == .none && fetch.unifyResults && !fetch.mutableObjects)
        let save = CNSaveRequest()
        #expect(save.shouldRefetchContacts && save.transactionAuthor == nil)
        let history = CNChangeHistoryFetchRequest()
        #expect(history.startingToken == nil && history.additionalContactKeyDescriptors == nil)
        #expect(history.shouldUnifyResults && !history.mutableObjects && !history.includeGroupChanges)
        #expect(history.excludedTransactionAuthors == nil)
    }

    @Test("Labels are stored in Apple’s form")
    func labels() {
        let labels = [
            (CNLabelHome, "Home"), (CNLabelWork, "Work"), (CNLabelSchool, "School"), (CNLabelOther, "Other"),
            (CNLabelURLAddressHomePage, "HomePage"), (CNLabelDateAnniversary, "Anniversary"),
            (CNLabelPhoneNumberMobile, "Mobile"), (CNLabelPhoneNumberMain, "Main"),
            (CNLabelPhoneNumberHomeFax, "HomeFAX"),
            (CNLabelPhoneNumberWorkFax, "WorkFAX"), (CNLabelPhoneNumberOtherFax, "OtherFAX"),
            (CNLabelPhoneNumberPager, "Pager"), (CNLabelPhoneNumberAppleWatch, "AppleWatch"),
        ]
        for (label, name) in labels { #expect(label == "_$!<\(name)>!$_") }
        #expect(CNLabelPhoneNumberiPhone == "iPhone" && CNLabelEmailiCloud == "iCloud")
        for (label, _) in labels { #expect(CNLabeledValue<NSString>.localizedString(forLabel: label) != label) }
        #expect(CNLabeledValue<NSString>.localizedString(forLabel: "of my own") == "of my own")
    }
}
