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
