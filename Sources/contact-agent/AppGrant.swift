import BrokerJSON

/// One app's grant, as `ListGrants` returns it.
struct AppGrant: Hashable, Sendable {
    var app: String
    var displayName: String
    var strength: IdentityStrength
    var status: String
    /// The number of contacts that the app sees; `nil` if it is not known.
    var contacts: Int?
    /// The keys that the app may read, as the interface names them.
    var keys: [String]?
    /// What the app may change, as the interface names it.
    var changes: String?
    /// When the grant ends, such as `2026-01-31T12:00:00Z`; `nil` if it has no such end.
    var expires: String?
    var lastUsedAt: String?
    /// Whether the person chose never to be asked about the app again.
    var isSilenced = false
    /// The terminal session or process that the grant is bound to, as text from the broker.
    var session: String?
}

extension AppGrant {
    /// Whether the other grant is of the same app and bound to the same session or process.
    func isSame(as other: AppGrant) -> Bool {
        app == other.app && strength == other.strength && session == other.session
    }

    /// Whether a review of this grant is still right for the other one. What the app does itself, such as adding a contact,
    /// makes no difference, because no app may close a review of it.
    func isReviewed(by other: AppGrant) -> Bool {
        isSame(as: other) && status == other.status && keys == other.keys && changes == other.changes
            && expires == other.expires
            && isSilenced == other.isSilenced
    }

    /// - Parameter total: the number of all contacts.
    /// - Returns: `nil` if the object does not match the interface.
    init?(_ object: JSONValue, total: Int?) {
        guard let app = object["app"]?.string, let displayName = object["displayName"]?.string,
            let status = object["status"]?.string
        else { return nil }
        self.app = app
        self.displayName = displayName
        strength = object["strength"]?.string.flatMap(IdentityStrength.init) ?? .unverified
        self.status = status
        contacts = status == "full" ? total : object["contacts"]?.int
        keys = object["keys"]?.strings
        changes = object["changes"]?.string
        expires = object["expires"]?.string
        lastUsedAt = object["lastUsedAt"]?.string
        isSilenced = object["silenced"]?.bool ?? false
        session = object["session"]?.string
    }
}
