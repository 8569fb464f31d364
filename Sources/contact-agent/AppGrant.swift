import BrokerJSON

/// One app's grant, as `ListGrants` returns it.
struct AppGrant: Hashable, Sendable {
    var app: String
    var displayName: String
    var strength: IdentityStrength
    var status: String
    var contacts: Int
    var lastUsedAt: String?
    /// The terminal session or process that the grant is bound to, as text from the broker.
    var session: String?
}

extension AppGrant {
    /// - Returns: `nil` if the object does not match the interface.
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
