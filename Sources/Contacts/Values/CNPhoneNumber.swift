import Foundation

/// A phone number as it was typed. Immutable.
public final class CNPhoneNumber: NSObject, NSCopying, NSSecureCoding, ImmutableValue, Sendable {
    /// The number as it was typed.
    public let stringValue: String

    /// Makes a number of any text.
    public init(stringValue: String) {
        self.stringValue = stringValue
    }

    /// Whether both are the same text. That two spellings are one number is for a contact store to say:
    /// ``CNContact/predicateForContacts(matching:)``.
    public override func isEqual(_ object: Any?) -> Bool { (object as? CNPhoneNumber)?.stringValue == stringValue }

    /// Of the text as it was typed.
    public override var hash: Int { stringValue.hashValue }

    /// Returns this object: it never changes, so that nobody needs another.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Always `true`: it is archived with secure coding alone.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the text as it was typed.
    public func encode(with coder: NSCoder) {
        coder.encode(stringValue as NSString, forKey: "stringValue")
    }

    /// Reads what `encode(with:)` wrote; `nil` where something is missing.
    public required convenience init?(coder: NSCoder) {
        guard let text = coder.decodeObject(of: NSString.self, forKey: "stringValue") else { return nil }
        self.init(stringValue: text as String)
    }

    /// The number, which is a contact’s: not for a log.
    public override var description: String { "<CNPhoneNumber: stringValue=\(stringValue)>" }

    /// `stringValue`, or `digits`: the number without what only parts it. `nil` for every other key.
    public func value(forKey key: String) -> Any? {
        switch key {
        case "stringValue": stringValue
        case "digits": String(stringValue.filter { $0 == "+" || $0.isWholeNumber })
        default: nil
        }
    }
}
