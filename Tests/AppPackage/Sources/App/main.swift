import Broker
import CLinux
import ContactsUI
import Formatting
import JSON
import Policy
import System
import VCard

// Uses each module and the library, so that all of them are linked. Needs no broker.
let names = [
    JSON.name, VCard.name, Formatting.name, System.name, Policy.name, Broker.name, String(cString: linux_name()),
]
let contact = CNMutableContact()
contact.givenName = "Ada"
contact.familyName = "Lovelace"
let picker = CNContactPickerViewController()
picker.predicateForEnablingContact = NSPredicate(format: "emailAddresses.@count > 0")
let vCard = try CNContactVCardSerialization.data(with: [contact])
print(names.joined(separator: " "), CNContactFormatter.string(from: contact, style: .fullName) ?? "", vCard.count > 50)
