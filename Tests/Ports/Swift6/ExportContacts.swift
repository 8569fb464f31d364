import Contacts
import Foundation

struct Person: Codable {
    var id: String
    var name: String
    var organization: String?
    var phones: [String: String]
    var emails: [String]
    var birthday: String?
}

func exportJSON() throws {
    let keys =
        [
            CNContactIdentifierKey, CNContactGivenNameKey, CNContactFamilyNameKey, CNContactOrganizationNameKey,
            CNContactPhoneNumbersKey, CNContactEmailAddressesKey, CNContactBirthdayKey, CNContactTypeKey,
        ] as [CNKeyDescriptor]
    let store = CNContactStore()
    var people = [Person]()
    for container in try store.containers(matching: nil) {
        let predicate = CNContact.predicateForContactsInContainer(withIdentifier: container.identifier)
        let contacts = try store.unifiedContacts(matching: predicate, keysToFetch: keys)
        people += contacts.map { contact in
            var phones = [String: String]()
            contact.phoneNumbers.forEach { phones[$0.label ?? "other"] = $0.value.stringValue }
            var day: String?
            if let birthday = contact.birthday, let month = birthday.month, let number = birthday.day {
                day = String(format: "%02d-%02d", month, number)
            }
            return Person(
                id: contact.identifier.isEmpty ? "" : "x", name: "\(contact.givenName) \(contact.familyName)",
                organization: contact.contactType == .organization ? contact.organizationName : nil, phones: phones,
                emails: contact.emailAddresses.map { String($0.value) }, birthday: day)
        }
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    print(String(data: try encoder.encode(people.sorted { $0.name < $1.name }), encoding: .utf8) ?? "")
}
