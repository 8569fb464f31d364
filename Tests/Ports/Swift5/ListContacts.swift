import Contacts
import Foundation

/// Lists every contact by family name with its numbers and addresses.
func listContacts() throws {
    let store = CNContactStore()
    let keys = [
        CNContactFormatter.descriptorForRequiredKeys(for: .fullName),
        CNContactPhoneNumbersKey as CNKeyDescriptor,
        CNContactEmailAddressesKey as CNKeyDescriptor,
    ]
    let request = CNContactFetchRequest(keysToFetch: keys)
    request.sortOrder = .familyName
    try store.enumerateContacts(with: request) { contact, stop in
        let name = CNContactFormatter.string(from: contact, style: .fullName) ?? "No Name"
        print(name)
        for phone in contact.phoneNumbers {
            let label = phone.label.map { CNLabeledValue<CNPhoneNumber>.localizedString(forLabel: $0) } ?? "phone"
            print("  \(label): \(phone.value.stringValue)")
        }
        for email in contact.emailAddresses {
            let address = email.value as String
            print("  email: \(address.lowercased())")
        }
    }
}

/// Ends the list early.
func firstContact() throws {
    let request = CNContactFetchRequest(keysToFetch: [CNContactFamilyNameKey as CNKeyDescriptor])
    request.sortOrder = .familyName
    var names = [String]()
    try CNContactStore().enumerateContacts(with: request) { (contact, stop) in
        names.append(contact.familyName)
        if names.count == 1 { stop.pointee = true }
    }
    print(names.joined(separator: ","))
}
