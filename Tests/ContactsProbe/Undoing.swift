import Contacts
import Foundation

private func save(_ fill: (CNSaveRequest) throws -> Void) throws {
    let request = CNSaveRequest()
    try fill(request)
    try store.execute(request)
}

private func mutable(_ name: String) throws -> CNMutableContact {
    try contact(name).mutableCopy() as? CNMutableContact ?? CNMutableContact()
}

/// Prints each group with its parent groups and its members.
private func printGroups() throws {
    let groups = try store.groups(matching: nil)
    for group in groups.sorted(by: { $0.name < $1.name }) {
        let parents = try groups.filter {
            try store.groups(matching: CNGroup.predicateForSubgroupsInGroup(withIdentifier: $0.identifier))
                .contains { $0.identifier == group.identifier }
        }
        let members = try store.unifiedContacts(
            matching: CNContact.predicateForContactsInGroup(withIdentifier: group.identifier), keysToFetch: names)
        let within = parents.isEmpty ? "" : " in " + parents.map(\.name).joined(separator: ",")
        print("\(group.name)\(within):" + members.map { " " + $0.givenName }.sorted().joined())
    }
}

func undoGroups() throws {
    store.keepsUndo = true
    let groups = ["All", "Few", "Fewest"].map { name in
        let group = CNMutableGroup()
        group.name = name
        return group
    }
    try save { request in
        for group in groups { request.add(group, toContainerWithIdentifier: nil) }
        request.addSubgroup(groups[1], to: groups[0])
        request.addSubgroup(groups[2], to: groups[1])
        for name in ["ada", "grace"] { request.addMember(try contact(name), to: groups[0]) }
        for name in ["ada", "emmy"] { request.addMember(try contact(name), to: groups[1]) }
    }
    try printGroups()
    try save { request in
        request.delete(try mutable("ada"))
        request.delete(groups[1])
        groups[0].name = "Everybody"
        request.update(groups[0])
        request.addMember(try contact("lanying"), to: groups[0])
        // She is a member already: this changes nothing, and undoing it must not either.
        request.addMember(try contact("grace"), to: groups[0])
    }
    try printGroups()
    print(store.canUndo)
    try store.undoLastSave()
    try printGroups()
}

func undoLinked() throws {
    store.keepsUndo = true
    let keys = names + [CNContactEmailAddressesKey as CNKeyDescriptor]
    func katherine() throws -> [CNContact] {
        try store.unifiedContacts(matching: CNContact.predicateForContacts(matchingName: "johnson"), keysToFetch: keys)
    }
    func addresses() throws -> [String] {
        try katherine().flatMap { $0.emailAddresses.map { $0.value as String } }.sorted()
    }
    let cards = ["work", "home"].map { place in
        let card = CNMutableContact()
        (card.givenName, card.familyName) = ("Katherine", "Johnson")
        card.emailAddresses = [CNLabeledValue(label: CNLabelWork, value: "katherine@\(place).example" as NSString)]
        return card
    }
    try save { request in
        for card in cards { request.add(card, toContainerWithIdentifier: nil) }
        request.link(cards[0], with: cards[1])
    }
    print(try katherine().count, try addresses())
    try save { request in
        for one in try katherine() { request.delete(one.mutableCopy() as? CNMutableContact ?? CNMutableContact()) }
    }
    print(try katherine().count)
    try store.undoLastSave()
    let back = try katherine()
    print(
        back.count, try addresses(),
        try store.linkedContactIdentifiers(ofContactWithIdentifier: back.first?.identifier ?? "").count)
    try save { request in
        let new = CNMutableContact()
        new.givenName = "Dorothy"
        request.add(new, toContainerWithIdentifier: nil)
    }
    print(store.canUndo)
    try save { $0.setMeContact(try contact("ada")) }
    print(store.canUndo)
    try store.undoLastSave()
    do { print(try store.unifiedMeContactWithKeys(toFetch: []).givenName) } catch { say(error) }
    try store.undoLastSave()
}
