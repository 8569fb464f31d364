import Foundation

/// A place where contacts are kept. Every address book has one; the person’s programs may have made others.
public final class CNContainer: NSObject, NSCopying, NSSecureCoding, Identifiable, Sendable {
    /// Names the container for this app, and for no other.
    public let identifier: String
    /// What the person calls it.
    public let name: String
    /// Where its contacts come from.
    public let type: CNContainerType

    init(identifier: String, name: String, type: CNContainerType) {
        self.identifier = identifier
        self.name = name
        self.type = type
    }

    /// The identifier as a number of 128 bits, for lists of user interfaces.
    public var id: UUID { UUID(contactIdentifier: identifier) }

    /// Returns this object: it never changes, so that nobody needs another.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both are the same container, and say the same.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CNContainer else { return false }
        return identifier == other.identifier && name == other.name && type == other.type
    }

    /// Of the identifier alone.
    public override var hash: Int { identifier.hashValue }

    /// Always `true`: it is archived with secure coding alone.
    public static var supportsSecureCoding: Bool { true }

    /// Writes identifier, name and type.
    public func encode(with coder: NSCoder) {
        coder.encode(identifier as NSString, forKey: CNContainerIdentifierKey)
        coder.encode(name as NSString, forKey: CNContainerNameKey)
        coder.encode(Int32(type.rawValue), forKey: CNContainerTypeKey)
    }

    /// Reads what `encode(with:)` wrote; `nil` where something is missing.
    public required convenience init?(coder: NSCoder) {
        guard let identifier = coder.decodeObject(of: NSString.self, forKey: CNContainerIdentifierKey) as String?,
            let name = coder.decodeObject(of: NSString.self, forKey: CNContainerNameKey) as String?,
            let type = CNContainerType(rawValue: Int(coder.decodeInt32(forKey: CNContainerTypeKey)))
        else { return nil }
        self.init(identifier: identifier, name: name, type: type)
    }

    /// Identifier and type. What a container is called is not for a log.
    public override var description: String { "<CNContainer: identifier=\(identifier), type=\(type)>" }
}
