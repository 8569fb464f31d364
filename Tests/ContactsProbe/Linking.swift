import Contacts
import Foundation

/// Links two cards of one person, changes the contact that they form, and unlinks them.
func linked() throws {
    let store = CNContactStore()
    let keys = names + [CNContactEmailAddressesKey, CNContactNicknameKey]
    let cards = ["work", "home"].map { place in
        let card = CNMutableContact()
        card.givenName = "Katherine"
        card.familyName = "Johnson"
        card.emailAddresses = [CNLabeledValue(label: CNLabelWork, value: "katherine@\(place).example" as NSString)]
        return card
    }
    let request = CNSaveRequest()
    for card in cards { request.add(card, toContainerWithIdentifier: nil) }
    request.link(cards[0], with: cards[1])
    try store.execute(request)

    let unified = try store.unifiedContacts(
        matching: CNContact.predicateForContacts(matchingName: "johnson"), keysToFetch: keys)
    print(unified.count, Set(unified.flatMap { $0.emailAddresses.map { $0.value as String } }).sorted())
    guard let one = unified.first, let changed = one.mutableCopy() as? CNMutableContact else { return }
    print(
        cards.contains { $0.identifier == one.identifier },
        cards.allSatisfy { one.isUnifiedWithContact(withIdentifier: $0.identifier) })
    print(try store.linkedContactIdentifiers(ofContactWithIdentifier: one.identifier).count)

    let single = CNContactFetchRequest(keysToFetch: names)
    single.unifyResults = false
    single.predicate = CNContact.predicateForContacts(matchingName: "johnson")
    var singles = 0
    try store.enumerateContacts(with: single) { _, _ in singles += 1 }
    print(singles)

    changed.emailAddresses = changed.emailAddresses.map {
        ($0.value as String).hasSuffix("home.example") ? $0.settingValue("kj@home.example" as NSString) : $0
    }
    let update = CNSaveRequest()
    update.update(changed)
    try store.execute(update)
    let home = try store.unifiedContacts(
        matching: CNContact.predicateForContacts(matchingEmailAddress: "kj@home.example"), keysToFetch: keys)
    print(home.map { $0.emailAddresses.count })

    let apart = CNSaveRequest()
    apart.unlink(cards[0], from: cards[1])
    try store.execute(apart)
    let after = try store.unifiedContacts(
        matching: CNContact.predicateForContacts(matchingName: "johnson"), keysToFetch: keys)
    print(after.map { $0.emailAddresses.map { $0.value as String } }.sorted { $0[0] < $1[0] })
}

private func johnsons(_ count: Int) -> [CNMutableContact] {
    (0..<count).map { _ in
        let card = CNMutableContact()
        card.givenName = "Katherine"
        card.familyName = "Johnson"
        card.emailAddresses = [CNLabeledValue(label: CNLabelWork, value: "katherine@nasa.example" as NSString)]
        return card
    }
}

private func add(_ cards: [CNMutableContact], linked isLinked: Bool = false) throws {
    let request = CNSaveRequest()
    for card in cards { request.add(card, toContainerWithIdentifier: nil) }
    if isLinked { for card in cards.dropFirst() { request.link(cards[0], with: card) } }
    try CNContactStore().execute(request)
}

private func delete(_ contact: CNContact) throws {
    guard let deleted = contact.mutableCopy() as? CNMutableContact else { return }
    let request = CNSaveRequest()
    request.delete(deleted)
    try CNContactStore().execute(request)
}

private func found() throws -> [CNContact] {
    try CNContactStore().unifiedContacts(
        matching: CNContact.predicateForContacts(matchingName: "johnson"), keysToFetch: names)
}

/// Adds a second card of a person, fetches it by the identifier that it got, and deletes it again.
func deletesOwnCard() throws {
    let cards = johnsons(2)
    try add([cards[0]])
    try add([cards[1]])
    print(try found().count)
    let own = try CNContactStore().unifiedContact(withIdentifier: cards[1].identifier, keysToFetch: names)
    print(own.identifier == cards[1].identifier)
    try delete(own)
    print(try found().map { $0.identifier == cards[0].identifier })
}

/// Deletes a unified contact, and one card of another one.
func deletesUnified() throws {
    try add(johnsons(2), linked: true)
    let unified = try found()
    print(unified.count)
    for contact in unified { try delete(contact) }
    print(try found().count)
    let cards = johnsons(2)
    try add(cards, linked: true)
    let single = CNContactFetchRequest(keysToFetch: names)
    single.unifyResults = false
    single.predicate = CNContact.predicateForContacts(withIdentifiers: [cards[1].identifier])
    var alone: [CNContact] = []
    try CNContactStore().enumerateContacts(with: single) { contact, _ in alone.append(contact) }
    for contact in alone { try delete(contact) }
    print(try found().map { $0.identifier == cards[0].identifier })
}

/// Prints the events since a token, with and without those of one author.
func history() throws {
    let store = CNContactStore()
    let request = CNChangeHistoryFetchRequest()
    request.startingToken = store.currentHistoryToken
    request.includeGroupChanges = true
    request.additionalContactKeyDescriptors = names
    let mine = CNMutableContact()
    mine.givenName = "Mine"
    let save = CNSaveRequest()
    save.transactionAuthor = "probe"
    save.add(mine, toContainerWithIdentifier: nil)
    try store.execute(save)
    let group = CNMutableGroup()
    group.name = "Everybody"
    let other = CNSaveRequest()
    other.add(group, toContainerWithIdentifier: nil)
    other.addMember(mine, to: group)
    try store.execute(other)
    for authors in [nil, ["probe"]] as [[String]?] {
        request.excludedTransactionAuthors = authors
        let result = try store.enumerator(for: request)
        let events = result.value.map { String(describing: type(of: $0)) }
        print(events.joined(separator: " "), result.currentHistoryToken.isEmpty)
    }
    request.startingToken = Data("no token".utf8)
    let again = try store.changeHistory(for: request)
    print(again.value.first is CNChangeHistoryDropEverythingEvent)
}
