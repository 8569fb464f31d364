import BrokerFormatting

/// The person's language and country, from the environment.
public enum PersonLocale {
    /// Texts in the person's language, including the names of keys and labels.
    public static let names = LocalizedNames(languages: PreferredLanguages.tags(environmentVariable))

    /// The country that phone numbers belong to by default; `nil` if the environment names none.
    public static let phoneRegion = PreferredLanguages.region(ofCategory: "LC_TELEPHONE", environmentVariable)
    /// The country that postal addresses belong to by default; `nil` if the environment names none.
    public static let addressRegion = PreferredLanguages.region(ofCategory: "LC_ADDRESS", environmentVariable)
}
