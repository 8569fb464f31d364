#!/usr/bin/env swift  // Prints the phone numbers of everybody whose name matches: ./phones.swift ada
import Contacts

func fail(_ message: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data((message + "\n").utf8))
    exit(status)
}

guard CommandLine.arguments.count > 1 else { fail("usage: phones <name>", status: 64) }
let name = CommandLine.arguments.dropFirst().joined(separator: " ")

let store = CNContactStore()
let semaphore = DispatchSemaphore(value: 0)
var isAllowed = false
store.requestAccess(for: .contacts) { granted, error in
    isAllowed = granted
    semaphore.signal()
}
semaphore.wait()
guard isAllowed else { fail("phones: no access to contacts", status: 77) }

let keys = [CNContactGivenNameKey, CNContactFamilyNameKey, CNContactPhoneNumbersKey] as [CNKeyDescriptor]
do {
    let predicate: NSPredicate = CNContact.predicateForContacts(matchingName: name)
    for contact in try store.unifiedContacts(matching: predicate, keysToFetch: keys) {
        for number in contact.phoneNumbers {
            let digits = number.value.stringValue.replacingOccurrences(of: " ", with: "")
            print("\(contact.givenName) \(contact.familyName)\t\(digits)")
        }
    }
} catch {
    fail("phones: \(error.localizedDescription)", status: 1)
}
