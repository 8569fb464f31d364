import Foundation

/// A social network account. It is immutable.
public final class CNSocialProfile: NSObject, NSCopying, NSSecureCoding, ImmutableValue, Sendable {
    /// The profile’s web address.
    public let urlString: String
    /// The user name at the service.
    public let username: String
    /// The identifier that the service assigned to the user.
    public let userIdentifier: String
    /// The service, one of `CNSocialProfileService…` or any other name.
    public let service: String

    /// Creates a profile. Pass `nil` for unknown fields.
    public init(urlString: String?, username: String?, userIdentifier: String?, service: String?) {
        self.urlString = urlString ?? ""
        self.username = username ?? ""
        self.userIdentifier = userIdentifier ?? ""
        self.service = service ?? ""
    }

    /// Returns the name of a field, such as `CNSocialProfileUsernameKey`, in the person’s language.
    public class func localizedString(forKey key: String) -> String { Languages.key(key) }

    /// Returns the display name of a service.
    public class func localizedString(forService service: String) -> String { Languages.service(service) }

    /// Whether all four fields are exactly equal.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CNSocialProfile else { return false }
        return texts == other.texts
    }

    /// The hash of all four fields.
    public override var hash: Int { texts.hashValue }

    private var texts: [String] { [urlString, username, userIdentifier, service] }

    /// Returns this object, which is immutable.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Always `true`: the class supports only secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the four fields.
    public func encode(with coder: NSCoder) {
        coder.encode(urlString as NSString, forKey: CNSocialProfileURLStringKey)
        coder.encode(username as NSString, forKey: CNSocialProfileUsernameKey)
        coder.encode(userIdentifier as NSString, forKey: CNSocialProfileUserIdentifierKey)
        coder.encode(service as NSString, forKey: CNSocialProfileServiceKey)
    }

    /// Decodes a profile that `encode(with:)` encoded. A missing field becomes empty.
    public required convenience init?(coder: NSCoder) {
        func text(_ key: String) -> String? { coder.decodeObject(of: NSString.self, forKey: key) as String? }
        self.init(
            urlString: text(CNSocialProfileURLStringKey), username: text(CNSocialProfileUsernameKey),
            userIdentifier: text(CNSocialProfileUserIdentifierKey), service: text(CNSocialProfileServiceKey))
    }

    /// The description contains service and user name, which are contact data and do not belong in a log.
    public override var description: String { "<CNSocialProfile: service=\(service), username=\(username)>" }
}
