import Foundation

/// An account at a social network. Immutable.
public final class CNSocialProfile: NSObject, NSCopying, NSSecureCoding, ImmutableValue, Sendable {
    /// The profile’s web address.
    public let urlString: String
    /// The user’s name at the service.
    public let username: String
    /// The service’s own identifier of the user.
    public let userIdentifier: String
    /// The service, one of `CNSocialProfileService…` or any other name.
    public let service: String

    /// Makes a profile; what is not known is `nil`.
    public init(urlString: String?, username: String?, userIdentifier: String?, service: String?) {
        self.urlString = urlString ?? ""
        self.username = username ?? ""
        self.userIdentifier = userIdentifier ?? ""
        self.service = service ?? ""
    }

    /// The name of a field, such as `CNSocialProfileUsernameKey`, in the person’s language.
    public class func localizedString(forKey key: String) -> String { Languages.key(key) }

    /// The name of a service as people know it.
    public class func localizedString(forService service: String) -> String { Languages.service(service) }

    /// Whether all four texts are the same, letter by letter.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CNSocialProfile else { return false }
        return texts == other.texts
    }

    /// Of all four texts.
    public override var hash: Int { texts.hashValue }

    private var texts: [String] { [urlString, username, userIdentifier, service] }

    /// Returns this object: it never changes, so that nobody needs another.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Always `true`: it is archived with secure coding alone.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the four texts.
    public func encode(with coder: NSCoder) {
        coder.encode(urlString as NSString, forKey: CNSocialProfileURLStringKey)
        coder.encode(username as NSString, forKey: CNSocialProfileUsernameKey)
        coder.encode(userIdentifier as NSString, forKey: CNSocialProfileUserIdentifierKey)
        coder.encode(service as NSString, forKey: CNSocialProfileServiceKey)
    }

    /// Reads what `encode(with:)` wrote; a text that is not there is empty.
    public required convenience init?(coder: NSCoder) {
        func text(_ key: String) -> String? { coder.decodeObject(of: NSString.self, forKey: key) as String? }
        self.init(
            urlString: text(CNSocialProfileURLStringKey), username: text(CNSocialProfileUsernameKey),
            userIdentifier: text(CNSocialProfileUserIdentifierKey), service: text(CNSocialProfileServiceKey))
    }

    /// Service and user’s name, which are a contact’s: not for a log.
    public override var description: String { "<CNSocialProfile: service=\(service), username=\(username)>" }
}
