import BrokerInterface
import BrokerJSON
import BrokerModel
import Foundation

/// Is told what the person picked. The methods have defaults that do nothing.
public protocol CNContactPickerDelegate: AnyObject {
    /// The person picked nothing.
    func contactPickerDidCancel(_ picker: CNContactPickerViewController)
    /// The person picked a contact.
    func contactPicker(_ picker: CNContactPickerViewController, didSelect contact: CNContact)
    /// The person picked a value.
    func contactPicker(_ picker: CNContactPickerViewController, didSelect contactProperty: CNContactProperty)
    /// The person picked contacts; called where several may be picked.
    func contactPicker(_ picker: CNContactPickerViewController, didSelect contacts: [CNContact])
    /// The person picked values; called where several may be picked.
    func contactPicker(
        _ picker: CNContactPickerViewController, didSelectContactProperties contactProperties: [CNContactProperty])
}

extension CNContactPickerDelegate {
    /// Does nothing, where a delegate has no use for it.
    public func contactPickerDidCancel(_ picker: CNContactPickerViewController) {}
    /// Does nothing, where a delegate has no use for it.
    public func contactPicker(_ picker: CNContactPickerViewController, didSelect contact: CNContact) {}
    /// Does nothing, where a delegate has no use for it.
    public func contactPicker(_ picker: CNContactPickerViewController, didSelect contactProperty: CNContactProperty) {}
    /// Does nothing, where a delegate has no use for it.
    public func contactPicker(_ picker: CNContactPickerViewController, didSelect contacts: [CNContact]) {}
    /// Does nothing, where a delegate has no use for it.
    public func contactPicker(
        _ picker: CNContactPickerViewController, didSelectContactProperties contactProperties: [CNContactProperty]
    ) {}
}

/// The one-time picker, on the person’s own screen and not on the app’s: the person hands over single contacts, or values of
/// them. The app needs no access, and gains none; what it gets is a snapshot.
public final class CNContactPickerViewController: NSObject {
    /// What is shown and handed over; `nil` for all but notes.
    public var displayedPropertyKeys: [String]?
    /// Which contacts can be picked; all where there is none. One of this class’s predicates.
    public var predicateForEnablingContact: NSPredicate?
    /// Which contacts are handed over when they are chosen; of any other its card is shown.
    public var predicateForSelectionOfContact: NSPredicate?
    /// Which values can be chosen on a card.
    public var predicateForSelectionOfProperty: NSPredicate?
    /// Is told what was picked, after ``present()`` and before it returns.
    public weak var delegate: (any CNContactPickerDelegate)?

    /// What the person picks. An extension of this library: on Apple’s systems the delegate’s methods say it.
    public enum Selection: String, Hashable, Sendable {
        /// Whole contacts, with the keys that are displayed.
        case contact
        /// Single values: one phone number, one address.
        case property
    }

    /// Whether contacts are picked, or values. An extension of this library.
    public var selection = Selection.contact
    /// Whether several can be picked. An extension of this library: on Apple’s systems the delegate’s methods say it.
    public var allowsMultipleSelection = false

    /// A picker of one contact.
    public override init() {}

    /// What was picked.
    public struct Picked: Hashable, Sendable {
        /// The contacts; of a value that was picked, the contact with the names that were asked for and that value.
        public let contacts: [CNContact]
        /// The values, where those are picked.
        public let properties: [CNContactProperty]
    }

    /// Has the person pick, and waits for them. An extension of this library.
    ///
    /// - Returns: what was picked; nothing where the person picked nothing, or there was nothing to pick.
    @discardableResult
    public func present() throws -> Picked {
        let picked = try ask()
        tell(picked)
        return picked
    }

    private func ask() throws -> Picked {
        let keys = try displayedPropertyKeys.map { try ContactKeySet($0 as [any CNKeyDescriptor]) }
        var rules = JSONWriter()
        try PickerPredicate.write(predicateForEnablingContact, "enabling", to: &rules)
        try PickerPredicate.write(predicateForSelectionOfContact, "returningContact", to: &rules)
        try PickerPredicate.write(predicateForSelectionOfProperty, "returningProperty", to: &rules)
        let reply = try CNContactStore.answer { () throws(CallFailure) in
            try BrokerCalls.shared.call(.pickContacts, isRepeatable: false) { writer in
                writer.member("keys", keys?.keys.map(\.rawValue))
                if !rules.bytes.isEmpty { writer.raw(rules.bytes) }
                if allowsMultipleSelection { writer.member("multiple", true) }
                writer.member("select", selection.rawValue)
            }
        }
        let contacts = reply["contacts"]?.elements?.map { CNContact(picked: $0) } ?? []
        let properties = reply["properties"]?.elements?.compactMap { json -> CNContactProperty? in
            guard let contact = json["contact"], let key = json["key"]?.string else { return nil }
            return CNContactProperty(
                contact: CNContact(picked: contact), key: key, identifier: json["identifier"]?.string,
                label: json["label"]?.string)
        }
        return Picked(contacts: contacts, properties: properties ?? [])
    }

    private func tell(_ picked: Picked) {
        guard let delegate else { return }
        switch selection {
        case .contact where picked.contacts.isEmpty, .property where picked.properties.isEmpty:
            delegate.contactPickerDidCancel(self)
        case .contact where allowsMultipleSelection: delegate.contactPicker(self, didSelect: picked.contacts)
        case .property where allowsMultipleSelection:
            delegate.contactPicker(self, didSelectContactProperties: picked.properties)
        case .contact: for contact in picked.contacts { delegate.contactPicker(self, didSelect: contact) }
        case .property: for property in picked.properties { delegate.contactPicker(self, didSelect: property) }
        }
    }
}

extension CNContact {
    /// A contact that was handed over: the keys that are there are those that the person was asked for.
    convenience init(picked json: JSONValue) {
        var keys = ContactKeySet()
        if let members = json.members {
            for (name, value) in members where !value.isNull {
                if let key = name.string.flatMap(ContactKey.init) { keys.formUnion(ContactKeySet(key)) }
            }
        }
        self.init(text: json.text, keys: keys)
    }
}
