import Foundation

/// An account at a messenger. Immutable.
public final class CNInstantMessageAddress: NSObject, NSCopying, NSSecureCoding, ImmutableValue, Sendable {
    /// The user’s name at the service.
    public let username: String
    /// The service, one of `CNInstantMessageService…` or any other name.
    public let service: String

    /// Makes an address.
    public init(username: String, service: String) {
        self.username = username
        self.service = service
    }

    /// The name of a field, such as `CNInstantMessageAddressUsernameKey`, in the person’s language.
    public class func localizedString(forKey key: String) -> String { Languages.key(key) }

    /// The name of a service as people know it.
    public class func localizedString(forService service: String) -> String { Languages.service(service) }

    /// Whether both have the same user’s name and service, letter by letter.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CNInstantMessageAddress else { return false }
        return username == other.username && service == other.service
    }

    /// Of the user’s name alone.
    public override var hash: Int { username.hashValue }

    /// Returns this object: it never changes, so that nobody needs another.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Always `true`: it is archived with secure coding alone.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the user’s name and the service.
    public func encode(with coder: NSCoder) {
        coder.encode(username as NSString, forKey: CNInstantMessageAddressUsernameKey)
        coder.encode(service as NSString, forKey: CNInstantMessageAddressServiceKey)
    }

    /// Reads what `encode(with:)` wrote; `nil` where something is missing.
    public required convenience init?(coder: NSCoder) {
        guard let username = coder.decodeObject(of: NSString.self, forKey: CNInstantMessageAddressUsernameKey),
            let service = coder.decodeObject(of: NSString.self, forKey: CNInstantMessageAddressServiceKey)
        else { return nil }
        self.init(username: username as String, service: service as String)
    }

    /// Service and user’s name, which are a contact’s: not for a log.
    public override var description: String { "<CNInstantMessageAddress: service=\(service), username=\(username)>" }
}
