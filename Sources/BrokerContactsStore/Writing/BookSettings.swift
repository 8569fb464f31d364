import BrokerModel

/// A user's preferences, the same for all apps. They contain nothing about any contact.
public struct BookSettings: Hashable, Sendable {
    /// The sort order of a list if the app does not choose one.
    public var sortOrder = ContactOrder.familyName
    /// Which part of a name is displayed first.
    public var displayOrder = ContactOrder.givenName
    /// The user's country (ISO 3166-1 alpha-2, lower case); empty if the user did not set it.
    public var countryCode = ""

    /// The language whose alphabet determines the order of names (BCP 47); empty if the user did not set it.
    public var language = ""

    public init() {}
}
