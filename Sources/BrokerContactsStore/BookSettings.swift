import BrokerModel

/// What a user prefers, for all apps alike. It says nothing about any contact.
public struct BookSettings: Hashable, Sendable {
    /// The order of a list whose app did not choose one.
    public var sortOrder = ContactOrder.familyName
    /// Which name stands in front when one is shown.
    public var displayOrder = ContactOrder.givenName
    /// ISO 3166-1 alpha-2 in small letters; empty where the user never said.
    public var countryCode = ""

    public init() {}
}
