// The listings of Apple's introduction to the Contacts framework, in current Swift, run against the broker.

import Contacts
import Foundation

if CommandLine.arguments.dropFirst().contains("--help") {
    print(
        "ContactsArticle: runs the listings of Apple's introduction to Contacts, which add and change contacts."
    )
    exit(0)
}
do {
    CNContactStore.usageDescription = "to show what the article shows"
    let store = CNContactStore()

    // Listing 1: creating a contact.
    let contact = CNMutableContact()
    contact.imageData = Data("GIF89a".utf8)
    contact.givenName = "John"
    contact.familyName = "Appleseed"
    contact.nickname = "Johnny"

    let homeEmail = CNLabeledValue(label: CNLabelHome, value: "john@example.com" as NSString)
    let workEmail = CNLabeledValue(label: CNLabelWork, value: "j.appleseed@icloud.com" as NSString)
    contact.emailAddresses = [homeEmail, workEmail]
    contact.phoneNumbers = [
        CNLabeledValue(label: CNLabelPhoneNumberiPhone, value: CNPhoneNumber(stringValue: "(408) 555-0126"))
    ]

    let homeAddress = CNMutablePostalAddress()
    homeAddress.street = "1 Infinite Loop"
    homeAddress.city = "Cupertino"
    homeAddress.state = "CA"
    homeAddress.postalCode = "95014"
    contact.postalAddresses = [CNLabeledValue(label: CNLabelHome, value: homeAddress)]

    var birthday = DateComponents()
    birthday.day = 1
    birthday.month = 4
    birthday.year = 1988  // You can omit the year value for a yearless birthday
    contact.birthday = birthday

    let saveRequest = CNSaveRequest()
    saveRequest.add(contact, toContainerWithIdentifier: nil)
    try store.execute(saveRequest)

    // Listing 2: formatting a name and a postal address.
    let fullName = CNContactFormatter.string(from: contact, style: .fullName)
    print(fullName ?? "No name")
    print(CNPostalAddressFormatter.string(from: homeAddress, style: .mailingAddress))

    // Listing 3: localizing a key and a label.
    print(CNContact.localizedString(forKey: CNContactNicknameKey))
    print(CNLabeledValue<NSString>.localizedString(forLabel: CNLabelHome))

    // Listings 4, 5 and 6: fetching contacts with a predicate and keys.
    let predicate = CNContact.predicateForContacts(matchingName: "Appleseed")
    let keysToFetch = [CNContactGivenNameKey, CNContactFamilyNameKey] as [CNKeyDescriptor]
    let contacts = try store.unifiedContacts(matching: predicate, keysToFetch: keysToFetch)
    print("\(contacts.count) found: \(contacts.map(\.familyName).joined(separator: ", "))")

    // Listing 7: key descriptors.
    let described = try store.unifiedContact(
        withIdentifier: contact.identifier,
        keysToFetch: [
            CNContactEmailAddressesKey as CNKeyDescriptor, CNContactFormatter.descriptorForRequiredKeys(for: .fullName),
        ])
    print(
        CNContactFormatter.string(from: described, style: .fullName) ?? "",
        described.emailAddresses.map { $0.value as String })

    // Listing 8: checking whether a key is available.
    if described.isKeyAvailable(CNContactPhoneNumbersKey) {
        print("\(described.phoneNumbers)")
    } else {
        let refetched = try store.unifiedContact(
            withIdentifier: described.identifier,
            keysToFetch: [CNContactGivenNameKey, CNContactFamilyNameKey, CNContactPhoneNumbersKey] as [CNKeyDescriptor])
        print("fetched again: \(refetched.phoneNumbers[0].value.stringValue)")
    }

    // Listing 9: saving a new contact.
    let newContact = CNMutableContact()
    newContact.givenName = "Johanna"
    newContact.familyName = "Appleseed"
    let adding = CNSaveRequest()
    adding.add(newContact, toContainerWithIdentifier: nil)
    try store.execute(adding)

    // Listing 10: saving a modified contact.
    guard let mutableContact = described.mutableCopy() as? CNMutableContact else { exit(1) }
    mutableContact.emailAddresses.append(CNLabeledValue(label: CNLabelHome, value: "johnny@example.com" as NSString))
    let updating = CNSaveRequest()
    updating.update(mutableContact)
    try store.execute(updating)
    let updated = try store.unifiedContact(
        withIdentifier: described.identifier, keysToFetch: [CNContactEmailAddressesKey as CNKeyDescriptor])
    print(updated.emailAddresses.map { "\($0.identifier) \($0.value)" }.joined(separator: ", "))
} catch {
    let reason = (error as? CNError)?.failureReason ?? error.localizedDescription
    FileHandle.standardError.write(Data("ContactsArticle: \(reason)\n".utf8))
    exit(1)
}
