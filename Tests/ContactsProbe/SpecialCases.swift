import Contacts
import Foundation

// Behaviour in special cases, each compared with Apple's documentation in Documentation/Porting.md.

/// Prints how many contacts a name matches: a star, parts of names, and a name that a contact has.
func matchNames() throws {
    let star = CNMutableContact()
    star.organizationName = "*scope"
    let request = CNSaveRequest()
    request.add(star, toContainerWithIdentifier: nil)
    try store.execute(request)
    for name in ["*", "a*", "ada*", "", " ", "ada", "*scope"] {
        print("“\(name)”", try store.countOfContacts(matching: CNContact.predicateForContacts(matchingName: name)))
    }
}

/// Prints the first event and the number of events for tokens that the library did not make.
func strangeTokens() throws {
    let request = CNChangeHistoryFetchRequest()
    for token in [nil, Data(), Data("no token".utf8), Data([0xFF, 0xFE, 0x00]), Data(repeating: 0x41, count: 100_000)] {
        request.startingToken = token
        do {
            let events = try store.changeHistory(for: request).value
            print(token?.count ?? -1, events.first is CNChangeHistoryDropEverythingEvent, events.count)
        } catch { say(error) }
    }
}

/// Saves a photo, and waits for its thumbnail.
func thumbnail(of photo: Data) throws {
    let changed = DispatchSemaphore(value: 0)
    let observer = NotificationCenter.default.addObserver(forName: .CNContactStoreDidChange, object: nil, queue: nil) {
        _ in
        changed.signal()
    }
    _ = store.currentHistoryToken
    let new = CNMutableContact()
    new.givenName = "Vera"
    new.imageData = photo
    let request = CNSaveRequest()
    request.add(new, toContainerWithIdentifier: nil)
    try store.execute(request)
    let keys: [any CNKeyDescriptor] = [CNContactThumbnailImageDataKey, CNContactImageDataAvailableKey]
    func saved() throws -> CNContact {
        try store.unifiedContact(withIdentifier: new.identifier, keysToFetch: keys)
    }
    print("has a photo at once", try saved().imageDataAvailable)
    var isThere = try saved().thumbnailImageData != nil
    while !isThere, changed.wait(timeout: .now() + 60) == .success { isThere = try saved().thumbnailImageData != nil }
    print("has a thumbnail after a notification", isThere)
    NotificationCenter.default.removeObserver(observer)
}

/// Adds a note, changes one, and prints the errors.
func notes() throws {
    let ada = try contact("ada").mutableCopy() as? CNMutableContact ?? CNMutableContact()
    ada.note = "overwritten"
    try refusal("changed note") { $0.update(ada) }
    let new = CNMutableContact()
    new.givenName = "Mary"
    new.note = "of my own"
    try refusal("new contact with a note") { $0.add(new, toContainerWithIdentifier: nil) }
    do { _ = try contact("mary", [CNContactNoteKey as CNKeyDescriptor]) } catch { say(error) }
}

/// Prints whether national and international numbers find the same contacts after the person changes the country.
func countries() throws {
    func found(_ number: String) throws -> Int {
        try store.countOfContacts(
            matching: CNContact.predicateForContacts(matching: CNPhoneNumber(stringValue: number)))
    }
    let defaults = CNContactsUserDefaults.shared()
    let numbers = ["020 7946 0001", "+1 20 7946 0001", "+44 20 7946 0001"]
    let before = try numbers.map(found)
    for country in ["GB", "US"] {
        try defaults.set(countryCode: country)
        print(defaults.countryCode, try numbers.map(found) == before, before.last ?? 0)
    }
}

/// Prints the thread on which the notification of a change arrives, and its object.
func notified() throws {
    let arrived = DispatchSemaphore(value: 0)
    let observer = NotificationCenter.default.addObserver(forName: .CNContactStoreDidChange, object: nil, queue: nil) {
        print("main thread", Thread.isMainThread, "object", $0.object == nil ? "none" : "some")
        arrived.signal()
    }
    _ = store.currentHistoryToken
    let new = CNMutableContact()
    new.givenName = "Mary"
    let request = CNSaveRequest()
    request.add(new, toContainerWithIdentifier: nil)
    try store.execute(request)
    print("arrived", arrived.wait(timeout: .now() + 60) == .success)
    NotificationCenter.default.removeObserver(observer)
}

/// Prints the formatted names of an organization that has a contact person, of a person who works there, and of a card
/// that is neither.
func formatted() {
    let organization = CNMutableContact()
    (organization.contactType, organization.organizationName) = (.organization, "Analytical Engines")
    organization.givenName = "Ada"
    let person = CNMutableContact()
    (person.givenName, person.organizationName) = ("Ada", "Analytical Engines")
    let unnamed = CNMutableContact()
    unnamed.organizationName = "Analytical Engines"
    for contact in [organization, person, unnamed] {
        print(CNContactFormatter.string(from: contact, style: .fullName) ?? "none")
    }
}
