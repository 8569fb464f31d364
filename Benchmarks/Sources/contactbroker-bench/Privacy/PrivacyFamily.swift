/// A set of cases that share one book.
enum PrivacyFamily: String, CaseIterable {
    /// Identifiers of records that were deleted, revoked or given to another app.
    case identifiers
    /// Matches of keys that the app may not read.
    case keys
    /// Large values of keys that the app may not read.
    case values
    /// Photos that the app may not read.
    case photos
    /// Contacts of which the bin has former values that the app may not read.
    case bin
    /// Contacts that the app may not change, with large values that it may not read.
    case rights
    /// Contacts that are linked with contacts that the app cannot see.
    case links
    /// Groups of other apps, after the person took back the key `groups`.
    case groups
    /// Contacts that the app cannot see, in groups that it made.
    case members
    /// Matches among contacts that the app cannot see.
    case matches
    /// Matches of the access button.
    case prompts
    /// Tokens and authors of other apps.
    case tokens

    func cases(_ world: PrivacyWorld) throws -> [Case] {
        switch self {
        case .identifiers: try Self.identifiers(world)
        case .keys: try Self.keys(world)
        case .values: try Self.values(world)
        case .photos: try Self.photos(world)
        case .bin: try Self.bin(world)
        case .rights: try Self.rights(world)
        case .links: try Self.links(world)
        case .groups: try Self.groups(world)
        case .members: try Self.members(world)
        case .matches: try Self.matches(world)
        case .prompts: try Self.prompts(world)
        case .tokens: try Self.tokens(world)
        }
    }

    /// Methods without a row, and why.
    static let unmeasured = [
        "GetAuthorization, GetUserDefaults, SetUserDefaults and WatchChanges have no input that could name something hidden.",
        "RequestAccess, ManageAccess, PickContacts and ProposeContact answer from the grant alone, or raise a prompt and",
        "wait for the person. ListSaves and TakeBack name only saves of the app itself, and say that something of them stays.",
    ]
}
