/// A set of cases that share one book.
enum PrivacyFamily: String, CaseIterable {
    /// Identifiers of records that were deleted, revoked or given to another app.
    case identifiers
    /// Matches of keys that the app may not read.
    case keys
    /// Large values of keys that the app may not read.
    case values
    /// Contacts that are linked with contacts that the app cannot see.
    case links
    /// Groups of other apps, after the person took back the key `groups`.
    case groups

    func cases(_ world: PrivacyWorld) throws -> [Case] {
        switch self {
        case .identifiers: try Self.identifiers(world)
        case .keys: try Self.keys(world)
        case .values: try Self.values(world)
        case .links: try Self.links(world)
        case .groups: try Self.groups(world)
        }
    }
}
