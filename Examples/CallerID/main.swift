// `CallerID NUMBER` prints the names of the contacts with this phone number, however it is written in the address book.

import Contacts
import Foundation

guard CommandLine.arguments.count == 2 else {
    FileHandle.standardError.write(Data("usage: CallerID NUMBER\n".utf8))
    exit(2)
}
CNContactStore.usageDescription = "to show who calls"
let number = CNPhoneNumber(stringValue: CommandLine.arguments[1])
do {
    let found = try CNContactStore().unifiedContacts(
        matching: CNContact.predicateForContacts(matching: number),
        keysToFetch: [
            CNContactFormatter.descriptorForRequiredKeys(for: .fullName), CNContactPhoneNumbersKey as CNKeyDescriptor,
        ])
    guard !found.isEmpty else {
        print("unknown caller \(number.stringValue)")
        exit(1)
    }
    for contact in found { print(CNContactFormatter.string(from: contact, style: .fullName) ?? "No name") }
} catch CNError.authorizationDenied {
    FileHandle.standardError.write(Data("CallerID: could not look: it may not see your contacts\n".utf8))
    exit(1)
} catch {
    FileHandle.standardError.write(Data("CallerID: could not look: \(error)\n".utf8))
    exit(2)
}
