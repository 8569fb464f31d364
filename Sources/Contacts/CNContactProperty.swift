import Foundation

/// One property of a contact, or one value of it: what a person picked.
public final class CNContactProperty: NSObject, NSCopying, Sendable {
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
        guard let identifier else { return value }
        func find<Value>(_ list: [CNLabeledValue<Value>]) -> Any? {
            list.first { $0.identifier == identifier }?.value
        }
        switch value {
        case let list as [CNLabeledValue<CNPhoneNumber>]: return find(list)
        case let list as [CNLabeledValue<NSString>]: return find(list)
        case let list as [CNLabeledValue<CNPostalAddress>]: return find(list)
        case let list as [CNLabeledValue<NSDateComponents>]: return find(list)
        case let list as [CNLabeledValue<CNContactRelation>]: return find(list)
        case let list as [CNLabeledValue<CNSocialProfile>]: return find(list)
        case let list as [CNLabeledValue<CNInstantMessageAddress>]: return find(list)
        default: return value
        }
    }

    init(contact: CNContact, key: String, identifier: String?, label: String?) {
        self.contact = contact
        self.key = key
        self.identifier = identifier
        self.label = label
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CNContactProperty else { return false }
        return contact == other.contact && key == other.key && identifier == other.identifier
    }

    public override var hash: Int { contact.hash }
}
