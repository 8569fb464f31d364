import Contacts
import Foundation

enum EditError: Error {
    case notFound
}

func addAndEdit() throws {
    let store = CNContactStore()

    let contact = CNMutableContact()
    contact.contactType = .person
    contact.givenName = "Nils"
    contact.familyName = "Holgersson"
    contact.organizationName = "Wild Geese"
    contact.phoneNumbers.append(
        CNLabeledValue(label: CNLabelPhoneNumberMobile, value: CNPhoneNumber(stringValue: "+46 70 555 01 10")))
    contact.emailAddresses = [CNLabeledValue(label: CNLabelWork, value: NSString(string: "nils@geese.example"))]
    let address = CNMutablePostalAddress()
    address.street = "Storgatan 1"
    address.city = "Vemmenhög"
    address.postalCode = "274 61"
    address.country = "Sweden"
    contact.postalAddresses = [CNLabeledValue<CNPostalAddress>(label: CNLabelHome, value: address)]
    contact.contactRelations = [
        CNLabeledValue(label: CNLabelContactRelationFriend, value: CNContactRelation(name: "Akka"))
    ]
    contact.socialProfiles = [
        CNLabeledValue(
            label: nil,
            value: CNSocialProfile(
                urlString: nil, username: "nilsh", userIdentifier: nil, service: CNSocialProfileServiceTwitter))
    ]
    contact.instantMessageAddresses = [
        CNLabeledValue(
            label: CNLabelHome, value: CNInstantMessageAddress(username: "nils", service: CNInstantMessageServiceJabber)
        )
    ]
    var birthday = DateComponents()
    birthday.month = 3
    birthday.day = 20
    contact.birthday = birthday
    let anniversary = NSDateComponents()
    anniversary.year = 1906
    anniversary.month = 11
    anniversary.day = 24
    contact.dates = [CNLabeledValue(label: CNLabelDateAnniversary, value: anniversary)]

    let saveRequest = CNSaveRequest()
    saveRequest.add(contact, toContainerWithIdentifier: store.defaultContainerIdentifier())
    saveRequest.transactionAuthor = "Ports"
    try store.execute(saveRequest)

    let keys =
        [CNContactJobTitleKey, CNContactPhoneNumbersKey, CNContactBirthdayKey, CNContactDatesKey] as [CNKeyDescriptor]
    guard
        let found = try store.unifiedContacts(
            matching: CNContact.predicateForContacts(matchingEmailAddress: "nils@geese.example"), keysToFetch: keys
        ).first,
        let mutable = found.mutableCopy() as? CNMutableContact
    else { throw EditError.notFound }
    mutable.jobTitle = "Goose rider"
    mutable.phoneNumbers = mutable.phoneNumbers.map {
        $0.settingLabel(CNLabelPhoneNumberMain, value: CNPhoneNumber(stringValue: "+46 70 555 01 11"))
    }
    let update = CNSaveRequest()
    update.update(mutable)
    try store.execute(update)

    let again = try store.unifiedContact(withIdentifier: contact.identifier, keysToFetch: keys)
    print(again.jobTitle, again.phoneNumbers.first?.value.stringValue ?? "", again.phoneNumbers.first?.label ?? "")
    print(again.birthday?.day ?? 0, again.birthday?.year == nil, again.dates.first?.value.year ?? 0)

    let delete = CNSaveRequest()
    if let deleted = again.mutableCopy() as? CNMutableContact { delete.delete(deleted) }
    try store.execute(delete)
    do {
        _ = try store.unifiedContact(withIdentifier: contact.identifier, keysToFetch: keys)
    } catch CNError.recordDoesNotExist {
        print("gone")
    }
}
