import Foundation

/// The name of a person who is related to a contact. It is immutable.
public final class CNContactRelation: NSObject, NSCopying, NSSecureCoding, ImmutableValue, Sendable {
    /// The related person’s name.
    public let name: String

    /// Creates a relation. The label of its ``CNLabeledValue`` names the kind of relation.
    public init(name: String) {
        self.name = name
    }

    /// Whether both have the same name.
    public override func isEqual(_ object: Any?) -> Bool { (object as? CNContactRelation)?.name == name }

    /// The hash of the name.
    public override var hash: Int { name.hashValue }

    /// Returns this object, which is immutable.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Always `true`: the class supports only secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the name.
    public func encode(with coder: NSCoder) {
        coder.encode(name as NSString, forKey: "name")
    }

    /// Decodes a relation that `encode(with:)` encoded; returns `nil` if the name is missing.
    public required convenience init?(coder: NSCoder) {
        guard let name = coder.decodeObject(of: NSString.self, forKey: "name") else { return nil }
        self.init(name: name as String)
    }

    /// The description contains the name, which is contact data and does not belong in a log.
    public override var description: String { "<CNContactRelation: name=\(name)>" }
}
