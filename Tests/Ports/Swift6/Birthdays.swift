import Contacts
import Foundation

/// The birthdays of a month, by day.
func birthdays(month: Int) async throws {
    let store = CNContactStore()
    guard try await store.requestAccess(for: .contacts) else { return }
    let request = CNContactFetchRequest(keysToFetch: [
        CNContactFormatter.descriptorForRequiredKeys(for: .fullName), CNContactBirthdayKey as CNKeyDescriptor,
    ])
    var found: [(day: Int, contact: CNContact)] = []
    try store.enumerateContacts(with: request) { contact, _ in
        guard let birthday = contact.birthday, birthday.month == month, let day = birthday.day else { return }
        found.append((day, contact))
    }
    for (day, contact) in found.sorted(by: { $0.day < $1.day }) {
        let name = CNContactFormatter.string(from: contact, style: .fullName) ?? ""
        if let date = contact.birthday?.date, let year = contact.birthday?.year {
            print(day, name, year, Calendar(identifier: .gregorian).component(.month, from: date) == month)
        } else {
            print(day, name)
        }
    }
}

/// The person's own card.
func meCard() {
    do {
        let me = try CNContactStore().unifiedMeContactWithKeys(toFetch: [CNContactGivenNameKey as CNKeyDescriptor])
        print("I am \(me.givenName)")
    } catch let error as CNError where error.code == .recordDoesNotExist {
        print("nobody")
    } catch {
        print("failed: \((error as NSError).code)")
    }
}
