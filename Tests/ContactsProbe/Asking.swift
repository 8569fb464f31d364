import Contacts
import Foundation

/// Requests access, and reports that it continues before there is an answer.
func askWithoutWaiting() {
    let answered = DispatchSemaphore(value: 0)
    store.requestAccess(for: .contacts) { isGranted, error in
        tell("answered", isGranted, (error as? CNError)?.code.rawValue ?? 0)
        answered.signal()
    }
    tell("went on")
    _ = answered.wait(timeout: .now() + 60)
}

/// Presses the access button on the main actor, and prints what is shared. The callback runs there, too.
@MainActor func press(for query: String) async throws {
    let button = ContactAccessButton(queryString: query, ignoredEmails: ["grace@example.org"]) { _ in
        MainActor.assertIsolated()
    }
    let shared = try await button.contactAccessButtonCaption(.phone).press()
    let found = try store.unifiedContacts(
        matching: CNContact.predicateForContacts(withIdentifiers: shared), keysToFetch: names)
    print(found.map(\.givenName), CNContactStore.authorizationStatus(for: .contacts).rawValue)
}

/// Presses the access button, and changes its query to the third argument once a program opens the pipe of the fourth.
func typing() throws {
    let words = CommandLine.arguments
    let button = ContactAccessButton(queryString: words[2])
    let query = button.shownQuery
    let changed = Thread {
        close(open(words[4], O_RDONLY))
        do { try query.change(to: words[3]) } catch { say(error) }
    }
    changed.start()
    print(try button.press().count)
}

/// Makes all the calls that must never cause a prompt.
func askNobody() {
    print(CNContactStore.authorizationStatus(for: .contacts).rawValue, store.currentHistoryToken as Any)
    let defaults = CNContactsUserDefaults.shared()
    print(defaults.sortOrder.rawValue, defaults.displayNameOrder.rawValue, defaults.countryCode.isEmpty)
    let made = CNMutableContact()
    (made.givenName, made.familyName) = ("Ada", "Lovelace")
    print(CNContactFormatter.string(from: made, style: .fullName) ?? "")
    _ = CNContact.comparator(forNameSortOrder: .userDefault)(made, made)
}

/// Prints names before and after the person sets the family name first.
func nameOrder() throws {
    let keys = [CNContactFormatter.descriptorForRequiredKeys(for: .fullName)]
    let chinese = CNMutableContact()
    (chinese.givenName, chinese.familyName) = ("小龙", "李")
    let people = [try contact("ada", keys), chinese]
    func written() -> String {
        people.map { CNContactFormatter.string(from: $0, style: .fullName) ?? "" }.joined(separator: ", ")
    }
    print(written())
    try CNContactsUserDefaults.shared().set(displayNameOrder: .familyNameFirst)
    print(written(), CNContactFormatter.nameOrder(for: people[0]).rawValue)
}

/// Prints names of keys and fields in the language of the process.
func words() {
    print(CNContact.localizedString(forKey: CNContactNicknameKey))
    print(CNPostalAddress.localizedString(forKey: CNPostalAddressPostalCodeKey))
    print(CNSocialProfile.localizedString(forKey: CNSocialProfileUsernameKey))
    print(CNInstantMessageAddress.localizedString(forKey: CNInstantMessageAddressServiceKey))
    print(CNPostalAddress.localizedString(forKey: "shoeSize"))
}

final class Offered: CNContactViewControllerDelegate {
    func contactViewController(_ viewController: CNContactViewController, didCompleteWith contact: CNContact?) {
        print(
            "done", contact?.givenName ?? "nothing",
            contact.map { $0.identifier != viewController.contact.identifier } ?? false)
    }
}

/// Proposes a card of which two properties are displayed.
func offer() throws {
    let card = CNMutableContact()
    card.givenName = "Hedy"
    card.familyName = "Lamarr"
    card.jobTitle = "inventor"
    let offered = CNContactViewController(forNewContact: card)
    offered.displayedPropertyKeys = [
        CNContactGivenNameKey as CNKeyDescriptor, CNContactFamilyNameKey as CNKeyDescriptor,
    ]
    offered.message = "met at the fair"
    let delegate = Offered()
    offered.delegate = delegate
    print(try offered.present() != nil)
}

/// Counts the contacts on two threads at once, with or without the library's line for the person.
func countTwice() {
    CNContactStore.announcesWaiting = CommandLine.arguments[1] == "speak"
    DispatchQueue.concurrentPerform(iterations: 2) { _ in
        do { print("counted", try store.countOfContacts()) } catch { say(error) }
    }
}
