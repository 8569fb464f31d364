import BrokerInterface
import BrokerJSON
import BrokerModel
import Foundation

/// Receives the contacts or values that the person picked. All methods have default implementations that do
/// nothing.
public protocol CNContactPickerDelegate: AnyObject {
    /// The person picked nothing.
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

/// Lets the person pick contacts, or single values of contacts, for one use. The agent shows the picker. The
/// app needs no access and gains none; it receives a snapshot of the picked contacts or values.
open class CNContactPickerViewController: NSObject {
    /// The properties that the picker shows and discloses; `nil` means all properties that need not be
    /// granted by name.
    open var displayedPropertyKeys: [String]?
    /// A predicate that selects the contacts that can be picked; `nil` selects all. Create it with a method
    /// of this class, or with `NSPredicate(format:_:)`.
    open var predicateForEnablingContact: NSPredicate?
    /// A predicate that selects the contacts that the picker returns as soon as the person chooses them. For
    /// any other contact, the picker shows the card.
    open var predicateForSelectionOfContact: NSPredicate?
    /// A predicate that selects the values that the person can choose on a card.
    open var predicateForSelectionOfProperty: NSPredicate?
    /// The delegate, called before ``present()`` returns.
    open weak var delegate: (any CNContactPickerDelegate)?

    /// The kind of items that the person picks. An extension of this library: on Apple's systems, the kind
    /// follows from the methods that the delegate implements.
    public enum Selection: String, Hashable, Sendable {
        /// Whole contacts, with the displayed keys.
        case contact
        /// Single values, such as one phone number or address.
        case property
    }

    /// Whether the person picks contacts or values. An extension of this library.
    open var selection = Selection.contact
    /// Whether the person can pick several items. An extension of this library: on Apple's systems, this
    /// follows from the methods that the delegate implements.
    open var allowsMultipleSelection = false

    /// Creates a picker for one contact.
    public override init() {}

    /// The contacts or values that the person picked.
    public struct Picked: Hashable, Sendable {
        /// The contacts that were picked as a whole.
        public let contacts: [CNContact]
        /// The values that were picked. Each value's contact has only the requested name properties and that
        /// value.
        public let properties: [CNContactProperty]
    }

    /// Shows the picker, and waits for the person. An extension of this library.
    ///
    /// - Returns: the picked contacts or values; empty if the person picked nothing, or if there was nothing
    ///   to pick.
    @discardableResult
    open func present() throws -> Picked {
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
    /// Creates a contact from a picked row of the reply. The contact's keys are those that the broker
    /// disclosed.
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
