import Foundation

/// Receives the contacts or values that the person picked. All methods have default implementations.
///
/// Implement the methods for the items of your picker: contacts or values, one or several. On Apple's systems the
/// implemented methods decide which items the person can pick. Swift on Linux cannot tell which methods a class
/// implements, so set ``CNContactPickerViewController/selection`` and
/// ``CNContactPickerViewController/allowsMultipleSelection``.
public protocol CNContactPickerDelegate: AnyObject {
    /// The person picked nothing. Never called after one of the other methods.
    func contactPickerDidCancel(_ picker: CNContactPickerViewController)
    /// The person picked a contact.
    func contactPicker(_ picker: CNContactPickerViewController, didSelect contact: CNContact)
    /// The person picked a value.
    func contactPicker(_ picker: CNContactPickerViewController, didSelect contactProperty: CNContactProperty)
    /// The person picked contacts. Called instead of the method for one contact if several can be picked.
    func contactPicker(_ picker: CNContactPickerViewController, didSelect contacts: [CNContact])
    /// The person picked values. Called instead of the method for one value if several can be picked.
    func contactPicker(
        _ picker: CNContactPickerViewController, didSelectContactProperties contactProperties: [CNContactProperty])
}

// A delegate may lack the method for what the person picked. Nothing is lost: the default implementation of the method
// for one item calls the method for several, and the other way round. It also says so on standard error.
extension CNContactPickerDelegate {
    /// Does nothing.
    public func contactPickerDidCancel(_ picker: CNContactPickerViewController) {}

    /// Calls the method for several contacts, and says so on standard error.
    public func contactPicker(_ picker: CNContactPickerViewController, didSelect contact: CNContact) {
        picker.substitute(for: "one contact", of: self) { contactPicker(picker, didSelect: [contact]) }
    }

    /// Calls the method for several values, and says so on standard error.
    public func contactPicker(_ picker: CNContactPickerViewController, didSelect contactProperty: CNContactProperty) {
        picker.substitute(for: "one value", of: self) {
            contactPicker(picker, didSelectContactProperties: [contactProperty])
        }
    }

    /// Calls the method for one contact with each, and says so on standard error.
    public func contactPicker(_ picker: CNContactPickerViewController, didSelect contacts: [CNContact]) {
        picker.substitute(for: "several contacts", of: self) {
            for contact in contacts { contactPicker(picker, didSelect: contact) }
        }
    }

    /// Calls the method for one value with each, and says so on standard error.
    public func contactPicker(
        _ picker: CNContactPickerViewController, didSelectContactProperties contactProperties: [CNContactProperty]
    ) {
        picker.substitute(for: "several values", of: self) {
            for property in contactProperties { contactPicker(picker, didSelect: property) }
        }
    }
}
