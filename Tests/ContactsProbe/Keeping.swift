import Contacts
import Foundation

// The calls of a program that manages an address book: pages, pending saves, and steps by identifiers.

private func request(_ keys: [any CNKeyDescriptor]) -> CNContactFetchRequest {
    let request = CNContactFetchRequest(keysToFetch: keys)
    request.sortOrder = .familyName
    return request
}

/// Prints all contacts in pages of two, then one by one, then up to an error. The last list fails for its predicate.
func pages() throws {
    var next: String?
    repeat {
        let page = try store.contactPage(with: request(names), startingAt: next, limit: 2)
        print(page.contacts.count, page.contacts.map(\.familyName).joined(separator: ","), page.nextPage != nil)
        next = page.nextPage
    } while next != nil
    var all: [String] = []
    try store.forEachContact(with: request(names), pageSize: 1) { all.append($0.familyName) }
    print(all.joined(separator: " "))
    struct Enough: Error {}
    var last = ""
    do {
        try store.forEachContact(with: request(names), pageSize: 3) {
            last = $0.familyName
            if last == "Lanying" { throw Enough() }
        }
    } catch is Enough { print("stopped after", last) }
    let foreign = request(names)
    foreign.predicate = NSPredicate(value: true)
    try store.forEachContact(with: foreign) { _ in }
}

private func cards(_ count: Int) -> (CNSaveRequest, [CNMutableContact]) {
    let request = CNSaveRequest()
    request.shouldRefetchContacts = false
    let cards = (0..<count).map { number in
        let card = CNMutableContact()
        card.givenName = "Card\(number)"
        request.add(card, toContainerWithIdentifier: nil)
        return card
    }
    return (request, cards)
}

func pending() throws {
    let (request, many) = cards(300)
    let own = Set(many.map(\.identifier))
    let save = try store.prepare(request)
    print(try store.countOfContacts(), save.isAnswered, save.fileDescriptor)
    try save.begin()
    // Another call uses another connection, so it need not wait for the first.
    _ = try store.countOfContacts()
    var waiting = pollfd(fd: save.fileDescriptor, events: Int16(POLLIN), revents: 0)
    print("readable", save.isAnswered || poll(&waiting, 1, 30_000) == 1)
    while try !save.finish(within: 1) {}
    print(try store.countOfContacts(), own.isDisjoint(with: many.map(\.identifier)))
    // A finished save can be finished again.
    try save.finish()
    print(save.isAnswered, save.fileDescriptor)
    try store.beginExecuting(CNSaveRequest()).finish()
    print(try store.countOfContacts())
}

func abandoned() throws {
    let save = try store.beginExecuting(cards(100).0)
    save.abandon()
    print(save.fileDescriptor, try save.finish(within: 0))
    print(try store.countOfContacts(matching: CNContact.predicateForContacts(matchingName: "card")))
}

func failedStep() throws {
    let (request, three) = cards(3)
    three[1].birthday = DateComponents(year: 1990, month: 2, day: 30)
    do { try store.execute(request) } catch let error as CNError {
        let value = error.validationErrors?.first
        print(
            error.failedStep ?? -1, error.brokerError ?? "", value?.keyPaths?.first ?? "", value?.failureReason != nil)
    }
    print(try store.countOfContacts(matching: CNContact.predicateForContacts(matchingName: "card")))
    let many = cards(2_001).0
    do { try store.execute(many) } catch let error as CNError {
        print(error.brokerError ?? "", error.exceededLimit ?? "", error.exceededLimitMaximum ?? 0)
    }
}

func identifiers() throws {
    let (ada, grace) = (try contact("ada").identifier, try contact("grace").identifier)
    let mary = CNMutableContact()
    mary.familyName = "Mary"
    let (inner, outer) = (CNMutableGroup(), CNMutableGroup())
    (inner.name, outer.name) = ("Inner", "Outer")
    let first = CNSaveRequest()
    first.add(outer, toContainerWithIdentifier: nil)
    first.add(inner, toContainerWithIdentifier: nil)
    first.addSubgroup(withIdentifier: inner.identifier, toGroupWithIdentifier: outer.identifier)
    first.add(mary, toContainerWithIdentifier: nil)
    first.addMember(withIdentifier: mary.identifier, toGroupWithIdentifier: inner.identifier)
    first.addMember(withIdentifier: ada, toGroupWithIdentifier: inner.identifier)
    try store.execute(first)
    func members() throws -> String {
        let members = try store.unifiedContacts(
            matching: CNContact.predicateForContactsInGroup(withIdentifier: inner.identifier), keysToFetch: names)
        return members.map(\.familyName).sorted().joined(separator: ",")
    }
    func within() throws -> [String] {
        try store.groups(matching: nil).first { $0.identifier == inner.identifier }?.parentGroupIdentifiers ?? []
    }
    print(try members(), try within() == [outer.identifier] ? 1 : 0)

    let second = CNSaveRequest()
    second.removeMember(withIdentifier: mary.identifier, fromGroupWithIdentifier: inner.identifier)
    second.removeSubgroup(withIdentifier: inner.identifier, fromGroupWithIdentifier: outer.identifier)
    try store.execute(second)
    print(try members())
    print(try within())

    let third = CNSaveRequest()
    for identifier in [mary.identifier, grace] { third.deleteContact(withIdentifier: identifier) }
    for group in [inner, outer] { third.deleteGroup(withIdentifier: group.identifier) }
    try store.execute(third)
    print(try store.groups(matching: nil).count, try store.countOfContacts())
}
