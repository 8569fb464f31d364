import Foundation

/// Somebody who is related to a contact, by name. Immutable.
public final class CNContactRelation: NSObject, NSCopying, NSSecureCoding, ImmutableValue, Sendable {
    /// The related person’s name.
    public let name: String

    /// Makes a relation; what sort it is says the label of the ``CNLabeledValue``.
    public init(name: String) {
        self.name = name
    }

    public override func isEqual(_ object: Any?) -> Bool { (object as? CNContactRelation)?.name == name }

    public override var hash: Int { name.hashValue }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public static var supportsSecureCoding: Bool { true }

    public func encode(with coder: NSCoder) {
        coder.encode(name as NSString, forKey: "name")
    }

    public required convenience init?(coder: NSCoder) {
        guard let name = coder.decodeObject(of: NSString.self, forKey: "name") else { return nil }
        self.init(name: name as String)
    }

    public override var description: String { "<CNContactRelation: name=\(name)>" }
}
