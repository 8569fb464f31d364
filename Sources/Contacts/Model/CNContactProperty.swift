import BrokerModel
import Foundation

/// A property of a contact that the person picked, or one of the property's values.
public final class CNContactProperty: NSObject, NSCopying, NSSecureCoding, Sendable {
    /// The contact, with the properties that were disclosed.
    public let contact: CNContact
    /// The property’s key.
    public let key: String
    /// The value’s identifier, if the property can have several values; otherwise `nil`.
    public let identifier: String?
    /// The value’s label, if the property can have several values and the value has a label; otherwise `nil`.
    public let label: String?

    /// The property's value; if the property can have several values, the one with ``identifier``. `nil` if
    /// there is no such value, or if the broker did not disclose it.
    public var value: Any? {
        guard contact.isKeyAvailable(key), let value = contact.value(forKey: key) else { return nil }
        guard let identifier, ContactKey(rawValue: key)?.hasSeveralValues == true else { return value }
        return (value as? [any LabeledValue])?.first { $0.identifier == identifier }?.anyValue
    }

    init(contact: CNContact, key: String, identifier: String?, label: String?) {
        self.contact = contact
        self.key = key
        self.identifier = identifier
        self.label = label
    }

    /// Returns this object, which is immutable.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both have equal contacts, keys and identifiers; labels are not compared.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CNContactProperty else { return false }
        return contact == other.contact && key == other.key && identifier == other.identifier
    }

    /// The hash of the contact only.
    public override var hash: Int { contact.hash }

    /// Always `true`: the class supports only secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes contact, key, identifier and label.
    public func encode(with coder: NSCoder) {
        coder.encode(contact, forKey: "contact")
        coder.encode(key as NSString, forKey: "key")
        coder.encode(identifier as NSString?, forKey: "identifier")
        coder.encode(label as NSString?, forKey: "label")
    }

    /// Decodes a property that `encode(with:)` encoded; returns `nil` if the contact or the key is missing.
    public required convenience init?(coder: NSCoder) {
        guard let contact = coder.decodeObject(of: CNContact.self, forKey: "contact"),
            let key = coder.decodeObject(of: NSString.self, forKey: "key") as String?
        else { return nil }
        self.init(
            contact: contact, key: key,
            identifier: coder.decodeObject(of: NSString.self, forKey: "identifier") as String?,
            label: coder.decodeObject(of: NSString.self, forKey: "label") as String?)
    }
}
