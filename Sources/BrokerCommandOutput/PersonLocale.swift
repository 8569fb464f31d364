import BrokerFormatting
import Glibc

/// The person's language and country, from the environment.
public enum PersonLocale {
    /// Texts in the person's language, including the names of keys and labels.
    public static let names = LocalizedNames(languages: PreferredLanguages.tags(variable))

    /// The country that phone numbers belong to by default; `nil` if the environment names none.
    public static let phoneRegion = PreferredLanguages.region(ofCategory: "LC_TELEPHONE", variable)
    /// The country that postal addresses belong to by default; `nil` if the environment names none.
    public static let addressRegion = PreferredLanguages.region(ofCategory: "LC_ADDRESS", variable)

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
