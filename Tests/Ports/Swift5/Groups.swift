import Contacts
import Foundation

func groups() throws {
    let store = CNContactStore()
    let keys = [CNContactFormatter.descriptorForRequiredKeys(for: .fullName)]
    let everybody = try store.unifiedContacts(
        matching: CNContact.predicateForContacts(matchingName: "a"), keysToFetch: keys)

    let group = CNMutableGroup()
    group.name = "Pioneers"
    let request = CNSaveRequest()
    request.add(group, toContainerWithIdentifier: nil)
    everybody.forEach { request.addMember($0, to: group) }
    try store.execute(request)

    for group in try store.groups(matching: nil) {
        let predicate = CNContact.predicateForContactsInGroup(withIdentifier: group.identifier)
        let members = try store.unifiedContacts(matching: predicate, keysToFetch: keys)
        let names = members.compactMap { CNContactFormatter.string(from: $0, style: .fullName) }.sorted()
        print("\(group.name): \(names.joined(separator: ", "))")
    }

    guard let renamed = group.mutableCopy() as? CNMutableGroup else { return }
    renamed.name = "Mathematicians"
    let second = CNSaveRequest()
    second.update(renamed)
    if let first = everybody.first { second.removeMember(first, from: renamed) }
    try store.execute(second)
    let found = try store.groups(matching: CNGroup.predicateForGroups(withIdentifiers: [group.identifier]))
    print(found.map { $0.name })

    let last = CNSaveRequest()
    last.delete(renamed)
    try store.execute(last)
    print(try store.groups(matching: nil).count)
}
