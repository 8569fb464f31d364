import Foundation

/// Somebody who is related to a contact, by name. Immutable.
public final class CNContactRelation: NSObject, NSCopying, NSSecureCoding, ImmutableValue, Sendable {
    /// The related person’s name.
    public let name: String

    /// Makes a relation; what sort it is says the label of the ``CNLabeledValue``.
    public init(name: String) {
        self.name = name
    }

    /// Whether both are the same name.
    public override func isEqual(_ object: Any?) -> Bool { (object as? CNContactRelation)?.name == name }

    /// Of the name.
    public override var hash: Int { name.hashValue }

    /// Returns this object: it never changes, so that nobody needs another.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Always `true`: it is archived with secure coding alone.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the name.
    public func encode(with coder: NSCoder) {
        coder.encode(name as NSString, forKey: "name")
    }

    /// Reads what `encode(with:)` wrote; `nil` where something is missing.
    public required convenience init?(coder: NSCoder) {
        guard let name = coder.decodeObject(of: NSString.self, forKey: "name") else { return nil }
        self.init(name: name as String)
    }

    /// The name, which is a contact’s: not for a log.
    public override var description: String { "<CNContactRelation: name=\(name)>" }
}
