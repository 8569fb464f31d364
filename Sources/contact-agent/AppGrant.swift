import BrokerJSON

/// What the person decided for one app, as `ListGrants` tells it.
struct AppGrant: Hashable, Sendable {
    var app: String
    var displayName: String
    var strength: IdentityStrength
    var status: String
    var contacts: Int
    var lastUsedAt: String?
    /// The terminal session or process that it ends with, in the broker's words.
    var session: String?
}

extension AppGrant {
    /// - Returns: `nil` where the object is none that the interface describes.
    init?(_ object: JSONValue) {
        guard let app = object["app"]?.string, let displayName = object["displayName"]?.string,
            let status = object["status"]?.string
        else { return nil }
        self.app = app
        self.displayName = displayName
        strength = object["strength"]?.string.flatMap(IdentityStrength.init) ?? .unverified
        self.status = status
        contacts = Int(object["contacts"]?.integer ?? 0)
        lastUsedAt = object["lastUsedAt"]?.string
        session = object["session"]?.string
    }
}
