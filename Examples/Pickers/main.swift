// Three ways to get contacts without asking for all of them. `Pickers button TEXT` is the access button: the person shares
// contacts that match what they typed. `Pickers access` is the access picker: a person who shared some contacts shares more
// of them, or fewer. `Pickers once` is the one-time picker: the person picks an e-mail address, and shares nothing else.

import Contacts
import Foundation

func fail(_ text: String, _ status: Int32) -> Never {
    FileHandle.standardError.write(Data("Pickers: \(text)\n".utf8))
    exit(status)
}

func printNames(of identifiers: [String]) throws {
    let keys = [CNContactFormatter.descriptorForRequiredKeys(for: .fullName)]
    let predicate = CNContact.predicateForContacts(withIdentifiers: identifiers)
    for contact in try CNContactStore().unifiedContacts(matching: predicate, keysToFetch: keys) {
        print("shared: " + (CNContactFormatter.string(from: contact, style: .fullName) ?? "No name"))
    }
}

CNContactStore.usageDescription = "to invite them"
let arguments = CommandLine.arguments.dropFirst()
do {
    switch arguments.first {
    case "button" where arguments.count == 2:
        // A graphical program presses the button when the person clicks it, in a task: `try await button.press()`.
        let button = ContactAccessButton(queryString: CommandLine.arguments[2])
        try printNames(of: try button.press())
    case "access" where arguments.count == 1:
        try printNames(of: try await contactAccessPicker())
    case "once" where arguments.count == 1:
        let picker = CNContactPickerViewController()
        picker.displayedPropertyKeys = [CNContactEmailAddressesKey]
        picker.selection = .property
        for property in try picker.present().properties {
            let name = CNContactFormatter.string(from: property.contact, style: .fullName) ?? "No name"
            print("picked: \(name) \(property.value as? NSString ?? "")")
        }
    default: fail("usage: Pickers button TEXT | access | once", 2)
    }
} catch {
    fail(error.localizedDescription, 1)
}
