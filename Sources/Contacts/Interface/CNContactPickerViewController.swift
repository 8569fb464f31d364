import BrokerInterface
import BrokerJSON
import BrokerModel
import Foundation

/// Receives what the person picked. All methods have default implementations that do nothing.
public protocol CNContactPickerDelegate: AnyObject {
    /// The person picked nothing.
    func contactPickerDidCancel(_ picker: CNContactPickerViewController)
    /// The person picked a contact.
    func contactPicker(_ picker: CNContactPickerViewController, didSelect contact: CNContact)
    /// The person picked a value.
    func contactPicker(_ picker: CNContactPickerViewController, didSelect contactProperty: CNContactProperty)
    /// The person picked contacts; called if several may be picked.
    func contactPicker(_ picker: CNContactPickerViewController, didSelect contacts: [CNContact])
    /// The person picked values; called if several may be picked.
    func contactPicker(
        _ picker: CNContactPickerViewController, didSelectContactProperties contactProperties: [CNContactProperty])
}

extension CNContactPickerDelegate {
    /// Does nothing.
    public func contactPickerDidCancel(_ picker: CNContactPickerViewController) {}
    /// Does nothing.
    public func contactPicker(_ picker: CNContactPickerViewController, didSelect contact: CNContact) {}
    /// Does nothing.
    public func contactPicker(_ picker: CNContactPickerViewController, didSelect contactProperty: CNContactProperty) {}
    /// Does nothing.
    public func contactPicker(_ picker: CNContactPickerViewController, didSelect contacts: [CNContact]) {}
    /// Does nothing.
    public func contactPicker(
        _ picker: CNContactPickerViewController, didSelectContactProperties contactProperties: [CNContactProperty]
    ) {}
}

/// The one-time picker. It runs on the person’s own screen, not the app’s. The person discloses single contacts or
/// values of them. The app needs no access, and gains none; it gets a snapshot.
public final class CNContactPickerViewController: NSObject {
    /// The properties that are shown and disclosed; `nil` for all that need not be granted by name.
    public var displayedPropertyKeys: [String]?
    /// Which contacts can be picked, as one of this class’s predicates; `nil` for all.
    public var predicateForEnablingContact: NSPredicate?
    /// Which contacts are returned as soon as they are chosen. For any other, the picker shows its card.
    public var predicateForSelectionOfContact: NSPredicate?
    /// Which values can be chosen on a card.
    public var predicateForSelectionOfProperty: NSPredicate?
    /// The delegate, called before ``present()`` returns.
    public weak var delegate: (any CNContactPickerDelegate)?

    /// What the person picks. An extension of this library: on Apple’s systems, the methods of the delegate decide it.
    public enum Selection: String, Hashable, Sendable {
        /// Whole contacts, with the displayed keys.
        case contact
        /// Single values, such as one phone number or address.
        case property
    }

    /// Whether the person picks contacts or values. An extension of this library.
    public var selection = Selection.contact
    /// Whether the person can pick several. An extension of this library: on Apple’s systems, the methods of the
    /// delegate decide it.
    public var allowsMultipleSelection = false

    /// Creates a picker for one contact.
    public override init() {}

    /// What was picked.
    public struct Picked: Hashable, Sendable {
        /// The contacts. If a value was picked, its contact has only the requested names and that value.
        public let contacts: [CNContact]
        /// The values, if values were picked.
        public let properties: [CNContactProperty]
    }

    /// Shows the picker, and waits for the person. An extension of this library.
    ///
    /// - Returns: what was picked; empty if the person picked nothing, or there was nothing to pick.
    @discardableResult
    public func present() throws -> Picked {
        let picked = try ask()
        deliver(picked)
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

    private func deliver(_ picked: Picked) {
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
    /// Creates a contact from a picked one. Its keys are those that the broker disclosed.
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
