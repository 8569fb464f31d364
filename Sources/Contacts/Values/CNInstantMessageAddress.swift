import Foundation

/// A messenger account. It is immutable.
public final class CNInstantMessageAddress: NSObject, NSCopying, NSSecureCoding, ImmutableValue, Sendable {
    /// The user name at the service.
    public let username: String
    /// The service, one of `CNInstantMessageService…` or any other name.
    public let service: String

    /// Creates an address.
    public init(username: String, service: String) {
        self.username = username
        self.service = service
    }

    /// Returns the name of a field, such as `CNInstantMessageAddressUsernameKey`, in the person’s language.
    public class func localizedString(forKey key: String) -> String { Languages.key(key) }

    /// Returns the display name of a service.
    public class func localizedString(forService service: String) -> String { Languages.service(service) }

    /// Whether both have exactly the same user name and service.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CNInstantMessageAddress else { return false }
        return username == other.username && service == other.service
    }

    /// The hash of the user name only.
    public override var hash: Int { username.hashValue }

    /// Returns this object, which is immutable.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Always `true`: the class supports only secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the user name and the service.
    public func encode(with coder: NSCoder) {
        coder.encode(username as NSString, forKey: CNInstantMessageAddressUsernameKey)
        coder.encode(service as NSString, forKey: CNInstantMessageAddressServiceKey)
    }

    /// Decodes an address that `encode(with:)` encoded; returns `nil` if a field is missing.
    public required convenience init?(coder: NSCoder) {
        guard let username = coder.decodeObject(of: NSString.self, forKey: CNInstantMessageAddressUsernameKey),
            let service = coder.decodeObject(of: NSString.self, forKey: CNInstantMessageAddressServiceKey)
        else { return nil }
        self.init(username: username as String, service: service as String)
    }

    /// The description contains service and user name, which are contact data and do not belong in a log.
    public override var description: String { "<CNInstantMessageAddress: service=\(service), username=\(username)>" }
}
