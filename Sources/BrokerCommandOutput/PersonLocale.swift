import BrokerFormatting
import Glibc

/// The person's language and country, from the environment.
public enum PersonLocale {
    /// Names of keys and labels, and texts, in the person's language.
    public static let names = LocalizedNames(languages: PreferredLanguages.tags(variable))

    /// The countries that the person dials from and lives in; `nil` if the environment names none.
    public static let phoneRegion = PreferredLanguages.region(ofCategory: "LC_TELEPHONE", variable)
    public static let addressRegion = PreferredLanguages.region(ofCategory: "LC_ADDRESS", variable)

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
