import Foundation

/// A value of a contact with what it is for: a phone number and *home*. Immutable, and safe to send between threads.
public final class CNLabeledValue<ValueType>: NSObject, NSCopying, NSSecureCoding
where ValueType: NSCopying, ValueType: NSSecureCoding {
    /// Names the value within its contact and key for as long as it is there: across saves, labels and order.
    public let identifier: String
    /// One of the predefined labels, or a text of the person’s own.
    public let label: String?
    private let held: ValueType
    /// Whether nobody can change what is held, so that it may be handed out as it is.
    private let isShareable: Bool

    /// The value. One that could be changed is handed out as a copy.
    public var value: ValueType { isShareable ? held : (held.copy(with: nil) as? ValueType ?? held) }

    /// Makes a value that no contact has yet.
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

    /// The same value with another label.
    public func settingLabel(_ label: String?) -> CNLabeledValue<ValueType> {
        CNLabeledValue(identifier: identifier, label: label, value: held)
    }

    /// Another value with the same label and identifier.
    public func settingValue(_ value: ValueType) -> CNLabeledValue<ValueType> {
        CNLabeledValue(identifier: identifier, label: label, value: value)
    }

    /// Another value with another label, and the same identifier.
    public func settingLabel(_ label: String?, value: ValueType) -> CNLabeledValue<ValueType> {
        CNLabeledValue(identifier: identifier, label: label, value: value)
    }

    /// A predefined label in the person’s language; any other text as it is.
    public class func localizedString(forLabel label: String) -> String { Languages.label(label) }

    /// Returns this object: it never changes, so that nobody needs another.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Always `true`: it is archived with secure coding alone.
    public static var supportsSecureCoding: Bool { true }

    /// Writes identifier, label and value, for coders of an app’s own. `NSKeyedArchiver` cannot take it on Linux: Foundation
    /// stops the program for every generic class, which it has no name for. The contact can be archived, and has it.
    public func encode(with coder: NSCoder) {
        coder.encode(identifier as NSString, forKey: "identifier")
        coder.encode(label as NSString?, forKey: "label")
        coder.encode(held, forKey: "value")
    }

    /// Reads what `encode(with:)` wrote; `nil` where the value is of another type than this one’s, or of none that this library knows.
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

    /// Whether both have the same identifier, label and value: one that was made anew with the same label and value is another.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CNLabeledValue<ValueType> else { return false }
        return identifier == other.identifier && says(the: other)
    }

    /// Of the identifier alone, which stays when label and value change.
    public override var hash: Int { identifier.hashValue }

    /// Identifier and label. What is held is not for a log.
    public override var description: String { "<CNLabeledValue: identifier=\(identifier), label=\(label ?? "nil")>" }

    /// Whether label and value are the same, whatever the identifiers.
    func says(the other: CNLabeledValue<ValueType>) -> Bool {
        guard label == other.label else { return false }
        if let left = held as? NSObject, let right = other.held as? NSObject { return left.isEqual(right) }
        return false
    }
}

// Proof: identifier and label never change. What is held is a copy that was made here, and only what its class cannot change
// is handed out; of anything else a further copy is. So no two threads ever reach one object that can change.
extension CNLabeledValue: @unchecked Sendable {}

/// A labeled value of whatever type.
protocol LabeledValue {
    var identifier: String { get }
    var anyValue: Any { get }
}

extension CNLabeledValue: LabeledValue {
    var anyValue: Any { value }
}

/// A class of values none of whose objects ever changes.
protocol ImmutableValue: AnyObject {}
