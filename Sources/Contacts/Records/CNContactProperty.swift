import BrokerModel
import Foundation

/// One property of a contact, or one value of it: what a person picked.
public final class CNContactProperty: NSObject, NSCopying, NSSecureCoding, Sendable {
    /// The contact, as far as it was handed over.
    public let contact: CNContact
    /// The property’s key.
    public let key: String
    /// The value’s identifier, where the property has several.
    public let identifier: String?
    /// The value’s label, where the property has several.
    public let label: String?

    /// The value; of a property that has several the one of ``identifier``.
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

    /// Returns this object: it never changes, so that nobody needs another.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both are the same value of the same contact, whatever its label.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CNContactProperty else { return false }
        return contact == other.contact && key == other.key && identifier == other.identifier
    }

    /// Of the contact alone.
    public override var hash: Int { contact.hash }

    /// Always `true`: it is archived with secure coding alone.
    public static var supportsSecureCoding: Bool { true }

    /// Writes contact, key, identifier and label.
    public func encode(with coder: NSCoder) {
        coder.encode(contact, forKey: "contact")
        coder.encode(key as NSString, forKey: "key")
        coder.encode(identifier as NSString?, forKey: "identifier")
        coder.encode(label as NSString?, forKey: "label")
    }

    /// Reads what `encode(with:)` wrote; `nil` where contact or key are missing.
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
