import Contacts
import Foundation

final class Picked: CNContactPickerDelegate {
    func contactPickerDidCancel(_ picker: CNContactPickerViewController) { print("nothing") }

    func contactPicker(_ picker: CNContactPickerViewController, didSelect contactProperty: CNContactProperty) {
        print(contactProperty.contact.givenName, contactProperty.key, contactProperty.value as? NSString ?? "none")
    }
}

/// Picks one e-mail address of somebody who has one.
func pick() throws {
    let picker = CNContactPickerViewController()
    picker.displayedPropertyKeys = [CNContactGivenNameKey, CNContactEmailAddressesKey]
    picker.predicateForEnablingContact = CNContactPickerViewController.predicate(havingKeys: [
        CNContactEmailAddressesKey
    ])
    picker.predicateForSelectionOfProperty = CNContactPickerViewController.predicate(
        propertyKey: CNContactEmailAddressesKey)
    picker.selection = .property
    let delegate = Picked()
    picker.delegate = delegate
    let picked = try picker.present()
    print(picked.properties.count, CNContactStore.authorizationStatus(for: .contacts).rawValue)
    // Any predicate but the picker's own would have to see contacts that the app must not see.
    picker.predicateForEnablingContact = NSPredicate { _, _ in true }
    do { try picker.present() } catch CNError.predicateInvalid { print("none of the picker's") }
}

/// Has methods for one contact and for one value.
@MainActor final class PickedEither: @preconcurrency CNContactPickerDelegate {
    func contactPickerDidCancel(_ picker: CNContactPickerViewController) { print("nothing") }

    func contactPicker(_ picker: CNContactPickerViewController, didSelect contact: CNContact) {
        MainActor.assertIsolated()
        print("contact", contact.givenName)
    }

    func contactPicker(_ picker: CNContactPickerViewController, didSelect contactProperty: CNContactProperty) {
        MainActor.assertIsolated()
        print("value", contactProperty.value as? NSString ?? "none")
    }
}

/// Picks whole contacts, of which only those of one family are returned without a look at the card.
@MainActor func pickFromCard() async throws {
    let picker = CNContactPickerViewController()
    picker.displayedPropertyKeys = [CNContactGivenNameKey, CNContactEmailAddressesKey]
    picker.predicateForSelectionOfContact = CNContactPickerViewController.predicate(familyNames: ["Hopper"])
    let delegate = PickedEither()
    picker.delegate = delegate
    // The main thread is free while the person picks.
    Task { @MainActor in print("meanwhile") }
    try await picker.present()
}

/// Has only the method for several contacts.
final class PickedSeveral: CNContactPickerDelegate {
    func contactPicker(_ picker: CNContactPickerViewController, didSelect contacts: [CNContact]) {
        for contact in contacts {
            do {
                let found = try store.unifiedContact(withIdentifier: contact.identifier, keysToFetch: names)
                print("found", found.givenName)
            } catch { say(error) }
        }
    }
}

/// Picks one contact for a delegate that expects several, and fetches it by its identifier.
func pickContacts() throws {
    let picker = CNContactPickerViewController()
    picker.displayedPropertyKeys = [CNContactGivenNameKey]
    picker.predicateForSelectionOfProperty = CNContactPickerViewController.predicate(
        propertyKey: CNContactEmailAddressesKey)
    let delegate = PickedSeveral()
    picker.delegate = delegate
    try picker.present()
}

/// Picks a contact for a delegate that can receive only values.
func pickUnreceivable() throws {
    let picker = CNContactPickerViewController()
    picker.displayedPropertyKeys = [CNContactGivenNameKey]
    let delegate = Picked()
    picker.delegate = delegate
    try picker.present()
    picker.allowsMultipleSelection = true
    try picker.present()
}

/// Picks one value without asking for a name, and writes the name.
func pickNumber() throws {
    let picker = CNContactPickerViewController()
    picker.displayedPropertyKeys = [CNContactEmailAddressesKey]
    picker.selection = .property
    for value in try picker.present().properties {
        print(CNContactFormatter.string(from: value.contact, style: .fullName) ?? "nobody", value.key)
    }
}

/// Picks at most two contacts that have both an e-mail address and a name.
func pickTwo() throws {
    let picker = CNContactPickerViewController()
    picker.displayedPropertyKeys = [CNContactGivenNameKey]
    picker.predicateForEnablingContact = CNContactPickerViewController.predicate(havingKeys: [
        CNContactEmailAddressesKey, CNContactGivenNameKey,
    ])
    picker.selectionLimit = 2
    picker.allowsMultipleSelection = true
    print(try picker.present().contacts.map(\.givenName).sorted())
    picker.selectionLimit = -1
    do { try picker.present() } catch { say(error) }
}
