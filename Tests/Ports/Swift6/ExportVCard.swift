import Contacts
import Foundation

func exportVCard(to path: String) throws {
    let store = CNContactStore()
    let request = CNContactFetchRequest(keysToFetch: [CNContactVCardSerialization.descriptorForRequiredKeys()])
    var contacts: [CNContact] = []
    try store.enumerateContacts(with: request) { contact, _ in
        contacts.append(contact)
    }
    let data = try CNContactVCardSerialization.data(with: contacts)
    try data.write(to: URL(fileURLWithPath: path))
    let back = try CNContactVCardSerialization.contacts(with: data)
    print("\(contacts.count) written, \(back.count) read back")
}
