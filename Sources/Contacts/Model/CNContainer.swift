import Foundation

/// A container of contacts. Every address book has a default container; the person’s programs may have
/// created more.
public final class CNContainer: NSObject, NSCopying, NSSecureCoding, Identifiable, Sendable {
    /// Identifies the container for this app only.
    public let identifier: String
    /// The name that the person sees.
    public let name: String
    /// The kind of source that the container's contacts come from.
    public let type: CNContainerType

    init(identifier: String, name: String, type: CNContainerType) {
        self.identifier = identifier
        self.name = name
        self.type = type
    }

    /// The identifier as a 128-bit number, for lists in user interfaces.
    public var id: UUID { UUID(contactIdentifier: identifier) }

    /// Returns this object, which is immutable.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both have the same identifier, name and type.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CNContainer else { return false }
        return identifier == other.identifier && name == other.name && type == other.type
    }

    /// The hash of the identifier only.
    public override var hash: Int { identifier.hashValue }

    /// Always `true`: the class supports only secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes identifier, name and type.
    public func encode(with coder: NSCoder) {
        coder.encode(identifier as NSString, forKey: CNContainerIdentifierKey)
        coder.encode(name as NSString, forKey: CNContainerNameKey)
        coder.encode(Int32(type.rawValue), forKey: CNContainerTypeKey)
    }

    /// Decodes a container that `encode(with:)` encoded; returns `nil` if the identifier or the name is
    /// missing, or if the type is unknown.
    public required convenience init?(coder: NSCoder) {
        guard let identifier = coder.decodeObject(of: NSString.self, forKey: CNContainerIdentifierKey) as String?,
            let name = coder.decodeObject(of: NSString.self, forKey: CNContainerNameKey) as String?,
            let type = CNContainerType(rawValue: Int(coder.decodeInt32(forKey: CNContainerTypeKey)))
        else { return nil }
        self.init(identifier: identifier, name: name, type: type)
    }

    /// The identifier and the type. The text omits the name, which does not belong in a log.
    public override var description: String { "<CNContainer: identifier=\(identifier), type=\(type)>" }
}
