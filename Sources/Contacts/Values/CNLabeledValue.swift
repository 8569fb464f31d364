import Foundation

/// A value of a contact and its label, such as a phone number and *home*. It is immutable, and safe to send
/// between threads.
public final class CNLabeledValue<ValueType>: NSObject, NSCopying, NSSecureCoding
where ValueType: NSCopying, ValueType: NSSecureCoding {
    /// Identifies the value within its contact and key for as long as the value exists, even if its label or
    /// position changes.
    public let identifier: String
    /// A predefined label, or the person’s own text.
    public let label: String?
    private let held: ValueType
    /// Whether the value is immutable and can therefore be returned without a copy.
    private let isShareable: Bool

    /// The value. A mutable value is returned as a copy.
    public var value: ValueType { isShareable ? held : (held.copy(with: nil) as? ValueType ?? held) }

    /// Creates a value that belongs to no contact yet.
    public convenience init(label: String?, value: ValueType) {
        self.init(identifier: RandomIdentifier.make(), label: label, value: value)
    }

    init(identifier: String, label: String?, value: ValueType) {
        self.identifier = identifier
        self.label = label
        let copy = value.copy(with: nil) as? ValueType
        held = copy ?? value
        isShareable =
            held is any ImmutableValue || type(of: held as Any) == NSString.self
            || (held as? CNPostalAddress)?.isImmutable ?? false
    }

    /// Returns a labeled value with this label, and the same value and identifier.
    public func settingLabel(_ label: String?) -> CNLabeledValue<ValueType> {
        CNLabeledValue(identifier: identifier, label: label, value: held)
    }

    /// Returns a labeled value with this value, and the same label and identifier.
    public func settingValue(_ value: ValueType) -> CNLabeledValue<ValueType> {
        CNLabeledValue(identifier: identifier, label: label, value: value)
    }

    /// Returns a labeled value with this label and this value, and the same identifier.
    public func settingLabel(_ label: String?, value: ValueType) -> CNLabeledValue<ValueType> {
        CNLabeledValue(identifier: identifier, label: label, value: value)
    }

    /// Returns a predefined label in the person’s language; any other text is returned unchanged.
    public class func localizedString(forLabel label: String) -> String { Languages.label(label) }

    /// Returns this object, which is immutable.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Always `true`: the class supports only secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes identifier, label and value, for an app’s own coders. `NSKeyedArchiver` on Linux traps for
    /// every generic class, because Foundation has no class name for it. Archive the contact instead, which
    /// includes its values.
    public func encode(with coder: NSCoder) {
        coder.encode(identifier as NSString, forKey: "identifier")
        coder.encode(label as NSString?, forKey: "label")
        coder.encode(held, forKey: "value")
    }

    /// Decodes a labeled value that `encode(with:)` encoded; returns `nil` if the identifier or the value is
    /// missing, or if the value is not a `ValueType`.
    public required convenience init?(coder: NSCoder) {
        let classes: [AnyClass] = [
            NSString.self, NSDateComponents.self, CNPhoneNumber.self, CNPostalAddress.self, CNContactRelation.self,
            CNSocialProfile.self, CNInstantMessageAddress.self,
        ]
        guard let identifier = coder.decodeObject(of: NSString.self, forKey: "identifier"),
            let value = coder.decodeObject(of: classes, forKey: "value") as? ValueType
        else { return nil }
        let label = coder.decodeObject(of: NSString.self, forKey: "label")
        self.init(identifier: identifier as String, label: label as String?, value: value)
    }

    /// Whether both have the same identifier, label and value. Two values that an app creates separately have
    /// different identifiers, so they are not equal.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CNLabeledValue<ValueType> else { return false }
        return identifier == other.identifier && says(the: other)
    }

    /// The hash of the identifier only, which does not change with the label or the value.
    public override var hash: Int { identifier.hashValue }

    /// The identifier and the label. The text omits the value, which does not belong in a log.
    public override var description: String { "<CNLabeledValue: identifier=\(identifier), label=\(label ?? "nil")>" }

    /// Whether the labels and values are equal; identifiers are not compared.
    func says(the other: CNLabeledValue<ValueType>) -> Bool {
        guard label == other.label else { return false }
        if let left = held as? NSObject, let right = other.held as? NSObject { return left.isEqual(right) }
        return false
    }
}

// Proof: identifier and label are constants. The value is a copy made by the initializer. If its class is
// immutable, the value is returned without a copy; otherwise each read returns a new copy. Therefore two
// threads never reach the same mutable object.
extension CNLabeledValue: @unchecked Sendable {}

/// A labeled value of any type.
protocol LabeledValue {
    var identifier: String { get }
    var anyValue: Any { get }
}

extension CNLabeledValue: LabeledValue {
    var anyValue: Any { value }
}

/// A class whose objects are immutable.
protocol ImmutableValue: AnyObject {}
