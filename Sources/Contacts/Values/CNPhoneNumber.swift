import Foundation

/// A phone number as it was typed. It is immutable.
public final class CNPhoneNumber: NSObject, NSCopying, NSSecureCoding, ImmutableValue, Sendable {
    /// The number as it was typed.
    public let stringValue: String

    /// Creates a number from any text.
    public init(stringValue: String) {
        self.stringValue = stringValue
    }

    /// Whether both have the same text. To find a number in any notation, fetch with
    /// ``CNContact/predicateForContacts(matching:)``.
    public override func isEqual(_ object: Any?) -> Bool { (object as? CNPhoneNumber)?.stringValue == stringValue }

    /// The hash of the text.
    public override var hash: Int { stringValue.hashValue }

    /// Returns this object, which is immutable.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Always `true`: the class supports only secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the text.
    public func encode(with coder: NSCoder) {
        coder.encode(stringValue as NSString, forKey: "stringValue")
    }

    /// Decodes a number that `encode(with:)` encoded; returns `nil` if the text is missing.
    public required convenience init?(coder: NSCoder) {
        guard let text = coder.decodeObject(of: NSString.self, forKey: "stringValue") else { return nil }
        self.init(stringValue: text as String)
    }

    /// The description contains the number, which is contact data and does not belong in a log.
    public override var description: String { "<CNPhoneNumber: stringValue=\(stringValue)>" }

    /// Returns the text for `stringValue`, and the number without separators for `digits`; `nil` for any
    /// other key.
    public func value(forKey key: String) -> Any? {
        switch key {
        case "stringValue": stringValue
        case "digits": String(stringValue.filter { $0 == "+" || $0.isWholeNumber })
        default: nil
        }
    }
}
