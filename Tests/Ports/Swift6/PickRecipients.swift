import ContactsUI

/// Chooses the people who get an invitation.
final class RecipientPicker: NSObject, CNContactPickerDelegate {
    private(set) var recipients: [String] = []
    private let onFinish: ([String]) -> Void

    init(onFinish: @escaping ([String]) -> Void) {
        self.onFinish = onFinish
        super.init()
    }

    func makePicker() -> CNContactPickerViewController {
        let picker = CNContactPickerViewController()
        picker.delegate = self
        picker.displayedPropertyKeys = [CNContactEmailAddressesKey]
        picker.predicateForEnablingContact = NSPredicate(format: "emailAddresses.@count > 0")
        return picker
    }

    func contactPicker(_ picker: CNContactPickerViewController, didSelect contacts: [CNContact]) {
        recipients = contacts.compactMap { $0.emailAddresses.first?.value as String? }
        onFinish(recipients)
    }

    func contactPickerDidCancel(_ picker: CNContactPickerViewController) { onFinish([]) }
}

func pickRecipients() {
    let chooser = RecipientPicker { print($0.joined(separator: ",")) }
    let picker = chooser.makePicker()
    let contact = CNMutableContact()
    contact.emailAddresses = [CNLabeledValue(label: CNLabelWork, value: "ada@example.org" as NSString)]
    picker.delegate?.contactPicker(picker, didSelect: [contact])
    picker.delegate?.contactPickerDidCancel(picker)
    print(picker.predicateForEnablingContact != nil, chooser.recipients.count)
}
